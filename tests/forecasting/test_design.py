"""Designs: the promised width, in files that are drawn anew."""

from __future__ import annotations

import numpy as np
import pytest

from reweight.emitting.worlds import WORLDS
from reweight.errors import InputError
from reweight.forecasting.design import design
from reweight.forecasting.functional import dead_share, pass_at, signal
from reweight.forecasting.quantity import Estimator
from reweight.forecasting.start import GridDistribution
from reweight.objectives import Advantage
from reweight.rollouts import Counts


def world(name: str) -> GridDistribution:
    return GridDistribution(WORLDS[name].nodes, WORLDS[name].weights)


def widths(functional, n: int, prompts: int, name: str, files: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    found = []
    for _ in range(files):
        c = WORLDS[name].counts(rng, prompts, n)
        quantity = Estimator(Counts.of([n] * prompts, c.tolist()), 0.95).mean(functional)
        found.append(quantity.high - quantity.low)
    return np.array(found)


@pytest.mark.parametrize("name", ["uniform", "sparse"])
@pytest.mark.parametrize(
    "functional", [pass_at(1), dead_share(8), signal(8, Advantage())], ids=["pass", "dead", "signal"]
)
def test_nine_in_ten_files_have_the_width(functional, name: str) -> None:
    found = design(functional, "it", world(name), width=0.08, rng=np.random.default_rng(1), samples=[8, 16])
    for row in found.rows:
        assert row.left == 0.0
        assert row.share_narrower >= 0.9
        again = widths(functional, row.samples, row.prompts, name, 300)
        # Both shares are of binomial draws: .9 - 3 sqrt(.09 (1/100 + 1/300)).
        assert (again <= 0.08).mean() >= 0.9 - 0.104
        assert again.mean() == pytest.approx(row.mean_width, rel=0.02)
        fewer = max(1, int(0.8 * row.prompts))
        assert (widths(functional, row.samples, fewer, name, 100) <= 0.08).mean() < 0.9


def test_what_is_not_identified_leaves_a_width() -> None:
    found = design(
        dead_share(16), "dead share", world("uniform"), width=0.25, rng=np.random.default_rng(0), samples=[4, 8, 16]
    )
    four, eight, sixteen = found.rows
    assert four.left > eight.left > sixteen.left == 0.0
    assert sixteen.prompts is not None
    assert found.cheapest is not None
    for row in (four, eight):
        assert (row.prompts is None) == (row.left >= 0.25)
        if row.prompts is not None:
            again = widths(dead_share(16), row.samples, row.prompts, "uniform", 20)
            # 20 and 30 files: .9 - 3 sqrt(.09 (1/20 + 1/30)).
            assert (again <= 0.25).mean() >= 0.9 - 0.26
            assert again.mean() == pytest.approx(row.mean_width, rel=0.02)


@pytest.mark.parametrize(
    ("functional", "left"), [(dead_share(2), 0.5), (pass_at(2), 0.25)], ids=["dead share", "pass@2"]
)
def test_one_sample_leaves_what_the_mean_leaves(functional, left: float) -> None:
    """One sample tells the mean m = 1/2 alone: E q^2 lies between (1 - m)^2 and 1 - m, E pq between 0 and m (1 - m)."""
    found = design(functional, "it", world("uniform"), width=0.1, rng=np.random.default_rng(0), samples=[1])
    (row,) = found.rows
    assert row.left == pytest.approx(left, abs=1e-5)
    assert row.prompts is None


def test_the_same_seed_gives_the_same_design() -> None:
    first, second = (
        design(dead_share(4), "it", world("sparse"), width=0.2, rng=np.random.default_rng(5), samples=[2, 4])
        for _ in range(2)
    )
    assert first == second


def test_no_design_does_it() -> None:
    found = design(
        dead_share(64), "dead share", world("uniform"), width=0.001, rng=np.random.default_rng(0), samples=[2]
    )
    assert found.cheapest is None
    assert "none of these does it" in found.tables()[0].title
    assert found.to_dict()["cheapest"] is None


@pytest.mark.parametrize("bad", [{"width": 0.0}, {"width": float("nan")}, {"samples": []}, {"samples": [0]}])
def test_refusals(bad: dict) -> None:
    with pytest.raises(InputError):
        design(pass_at(1), "it", world("uniform"), **({"width": 0.1, "rng": np.random.default_rng(0)} | bad))
