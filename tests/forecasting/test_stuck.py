"""Prompts that see no mixed group, in worlds whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from reweight.emitting.worlds import WORLDS
from reweight.errors import InputError
from reweight.forecasting.stuck import stuck
from reweight.rollouts import Counts


@pytest.mark.parametrize("name", ["uniform", "sparse", "two-point", "u-shaped"])
def test_bounds_hold_the_truth(name: str) -> None:
    world, n, size, groups = WORLDS[name], 8, 8, 20
    rng = np.random.default_rng(4)

    def never(p: np.ndarray) -> np.ndarray:
        return (p**size + (1 - p) ** size) ** groups

    for _ in range(5):
        counts = Counts.of([n] * 300, world.counts(rng, 300, n).tolist())
        found = {each.name: each.chance for each in stuck(counts, group_size=size, groups=groups).classes}
        truths = {
            "all": world.mean(never),
            "never solved": world.mean(lambda p: (1 - p) ** n * never(p)) / world.mean(lambda p: (1 - p) ** n),
            "always solved": world.mean(lambda p: p**n * never(p)) / max(world.mean(lambda p: p**n), 1e-300),
        }
        for kind, chance in found.items():
            assert chance.low - 1e-9 <= truths[kind] <= chance.high + 1e-9, kind


def test_ids_are_named() -> None:
    counts = Counts(("a", "b\x1b", "c"), np.array([4, 4, 4]), np.array([0, 0, 4]))
    found = stuck(counts, group_size=4, groups=3)
    assert [(each.name, each.prompts) for each in found.classes[1:]] == [
        ("never solved", ("a", "b\x1b")),
        ("always solved", ("c",)),
    ]
    assert found.to_dict()["never_solved"]["ids"] == ["a", "b\x1b"]
    cells = [cell for row in found.tables()[0].rows for cell in row]
    assert all(cell.isprintable() for cell in cells)


def test_right_and_wrong_change_places() -> None:
    one = stuck(Counts.of([8] * 40, [0, 3, 8, 8] * 10), group_size=4, groups=10)
    other = stuck(Counts.of([8] * 40, [8, 5, 0, 0] * 10), group_size=4, groups=10)
    assert one.classes[1].chance.high == pytest.approx(other.classes[2].chance.high, abs=1e-7)


@pytest.mark.parametrize("bad", [{"groups": 0}, {"group_size": 1}])
def test_refusals(bad: dict) -> None:
    with pytest.raises(InputError):
        stuck(Counts.of([8], [3]), **({"group_size": 8, "groups": 4} | bad))
