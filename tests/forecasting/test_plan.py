"""The plan: counts of groups and steps, the ranking of group sizes, and its two conventions."""

from __future__ import annotations

import numpy as np
import pytest

from reweight.emitting.worlds import WORLDS
from reweight.errors import InputError
from reweight.forecasting.functional import dead_share, signal
from reweight.forecasting.plan import plan
from reweight.objectives import Advantage, Objective
from reweight.rollouts import Counts

OBJECTIVE = Objective(Advantage(), 8)


def counts(world: str, prompts: int, n: int, seed: int = 0) -> Counts:
    return Counts.of([n] * prompts, WORLDS[world].counts(np.random.default_rng(seed), prompts, n).tolist())


def test_a_budget_is_spent_whole() -> None:
    found = plan(
        counts("uniform", 100, 8), OBJECTIVE, budget=64_000, step_rollouts=256, group_sizes=[4, 8], length=50.0
    )
    four, eight = found.choices
    assert (four.groups_a_prompt, eight.groups_a_prompt) == (160.0, 80.0)
    assert (four.prompts_a_step, eight.prompts_a_step) == (64.0, 32.0)
    assert four.steps == eight.steps == 250.0
    assert found.tokens == 3_200_000
    assert eight.filtered_steps.estimate == pytest.approx(250.0 * eight.mixed_share.estimate)


@pytest.mark.parametrize("world", ["uniform", "sparse", "two-point"])
def test_limits_hold_the_truth(world: str) -> None:
    found = plan(counts(world, 400, 8), OBJECTIVE, budget=10**5, group_sizes=[4, 8, 32])
    truth = WORLDS[world]
    for each in found.choices:
        size = each.group_size
        dead = dead_share(size)
        never = truth.mean(lambda p, dead=dead, groups=each.groups_a_prompt: dead.at(p) ** groups)
        assert each.mixed_share.low <= 1 - truth.mean(dead.at) <= each.mixed_share.high
        assert each.signal.low <= truth.mean(signal(size, Advantage()).at) <= each.signal.high
        assert each.never_mixed.low - 1e-9 <= never <= each.never_mixed.high + 1e-9
    worth = {size: truth.mean(signal(size, Advantage()).at) for size in (4, 8, 32)}
    for ranking, power in zip(found.rankings, (0, 1), strict=True):
        mine = worth[ranking.best] / ranking.best**power
        for each in ranking.against:
            size, limits = each.group_size, each.difference
            assert limits.low <= mine - worth[size] / size**power <= limits.high
            assert limits.identified == (max(ranking.best, size) <= 8)


def test_json_and_tables() -> None:
    found = plan(counts("uniform", 20, 8), OBJECTIVE, budget=10**4)
    document = found.to_dict()
    assert [row["group_size"] for row in document["choices"]] == [4, 8, 16, 32]
    assert set(document["choices"][0]["signal"]) >= {"estimate", "low", "high", "identified"}
    assert all(len(row) == len(table.header) for table in found.tables() for row in table.rows)


def test_a_world_without_mixed_groups_is_redrawn_for_ever() -> None:
    found = plan(Counts.of([8] * 10, [8] * 10), OBJECTIVE, budget=10**4, group_sizes=[8])
    assert found.tables()[1].rows[0][-1].endswith("no end")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"budget": 0}, "budget is 0"),
        ({"budget": 1.5}, "budget is 1.5"),
        ({"step_rollouts": -1}, "step_rollouts is -1"),
        ({"group_sizes": [1]}, "group sizes from 2"),
        ({"group_sizes": [1024]}, "group sizes from 2 to the 512 rollouts"),
        ({"group_sizes": []}, "group sizes from 2"),
    ],
)
def test_refusals(arguments: dict, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        plan(Counts.of([8], [3]), OBJECTIVE, **({"budget": 1000} | arguments))
