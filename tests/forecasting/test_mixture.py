"""Bounds over mixtures: closed forms where there are some, the truth in simulated worlds, and the certificate."""

from __future__ import annotations

import numpy as np
import pytest

from reweight.forecasting.functional import dead_share, pass_at, signal
from reweight.forecasting.mixture import MixtureBounds
from reweight.forecasting.region import Region, count_region
from reweight.objectives.advantage import Advantage

ONE_SAMPLE = np.arange(2)


def known_pass_rate(rate: float) -> MixtureBounds:
    """One sample a prompt and no sampling noise: only the mean pass rate is known."""
    law = np.array([1 - rate, rate])
    return MixtureBounds.of(Region(1, ONE_SAMPLE, ONE_SAMPLE, law, law))


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("size", [2, 8, 64])
def test_a_mean_alone_bounds_a_convex_functional_by_jensen_and_the_chord(rate: float, size: int) -> None:
    low, high = known_pass_rate(rate).mean(dead_share(size).at, (0, 1))
    assert low == pytest.approx(rate**size + (1 - rate) ** size, abs=1e-5)
    assert high == pytest.approx(1, abs=1e-9)
    low, high = known_pass_rate(rate).mean(pass_at(size).at, (0, 1))
    assert low == pytest.approx(rate, abs=1e-9)
    assert high == pytest.approx(1 - (1 - rate) ** size, abs=1e-5)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
def test_a_mean_alone_bounds_the_next_sample_of_a_prompt_that_failed_once(rate: float) -> None:
    """E[p q] / E[q] lies between 0 (all prompts sure or impossible) and the mean (all alike)."""
    low, high = known_pass_rate(rate).ratio(lambda p: p * (1 - p), lambda p: 1 - p)
    assert low == pytest.approx(0, abs=1e-9)
    assert high == pytest.approx(rate, abs=1e-5)


def test_bounds_hold_for_any_multipliers_and_not_only_for_the_solvers(worlds, monkeypatch: pytest.MonkeyPatch) -> None:
    """With wrong multipliers the certificate pays for them: bounds get wider, never wrong."""
    world = worlds["two-point"]
    counts = world.counts(np.random.default_rng(1), 500, 8)
    bounds = MixtureBounds.of(count_region(8, counts, 0.9999))
    truth = world.mean(dead_share(32).at)
    best = bounds.mean(dead_share(32).at, (0, 1))
    rng = np.random.default_rng(2)
    solve = MixtureBounds._multipliers

    def disturbed(self: MixtureBounds, values: np.ndarray) -> np.ndarray:
        return solve(self, values) + rng.normal(scale=0.05, size=9)

    monkeypatch.setattr(MixtureBounds, "_multipliers", disturbed)
    for _ in range(20):
        low, high = bounds.mean(dead_share(32).at, (0, 1))
        assert low <= truth <= high
        assert low <= best[0] + 1e-9
        assert best[1] - 1e-9 <= high


@pytest.mark.parametrize("n", [4, 8, 16, 64])
def test_the_finer_grid_costs_little_and_no_distribution_on_a_third_grid_escapes(worlds, n: int) -> None:
    from scipy.optimize import linprog

    counts = worlds["u-shaped"].counts(np.random.default_rng(n), 200, n)
    region = count_region(n, counts, 0.95)
    bounds = MixtureBounds.of(region)
    grid = np.sort(np.random.default_rng(7).beta(0.5, 0.5, 1500))
    law = region.probabilities(grid)
    for functional in (dead_share(2 * n), pass_at(8 * n), signal(2 * n, Advantage())):
        low, high = bounds.mean(functional.at, functional.range)
        for sign, bound in ((1, low), (-1, -high)):
            other = linprog(
                sign * functional.at(grid),
                A_ub=np.concatenate([law, -law]),
                b_ub=np.concatenate([region.high, -region.low]),
                A_eq=np.ones((1, grid.size)),
                b_eq=[1.0],
                method="highs",
            )
            assert other.success
            assert bound <= other.fun + 1e-7
            assert other.fun - bound < 2e-3


@pytest.mark.parametrize("n", [4, 8, 64])
def test_bounds_contain_the_truth_of_simulated_worlds(world, n: int) -> None:
    """At a level of 1 - 1e-6 a single miss in these few files would be an error of the method."""
    rng = np.random.default_rng([n, int(1e6 * world.nodes.sum())])
    for prompts in (60, 2000):
        bounds = MixtureBounds.of(count_region(n, world.counts(rng, prompts, n), 1 - 1e-6))
        for functional in (dead_share(128), pass_at(128), signal(16, Advantage(ddof=1, eps=1e-4))):
            low, high = bounds.mean(functional.at, functional.range)
            assert low <= world.mean(functional.at) <= high
        later = world.mean(lambda p: (1 - p) ** n * (1 - (1 - p) ** 128)) / world.mean(lambda p: (1 - p) ** n)
        low, high = bounds.ratio(lambda p: (1 - p) ** n * (1 - (1 - p) ** 128), lambda p: (1 - p) ** n)
        assert low <= later <= high


def test_more_prompts_narrow_the_bounds_down_to_what_is_not_identified(worlds) -> None:
    world = worlds["uniform"]
    widths = []
    for prompts in (100, 10_000, 1_000_000):
        counts = np.repeat(np.arange(9), prompts // 9 + 1)
        low, high = MixtureBounds.of(count_region(8, counts, 0.95)).mean(dead_share(64).at, (0, 1))
        assert low <= world.mean(dead_share(64).at) <= high
        widths.append(high - low)
    assert widths[0] > widths[1] > widths[2] > 0.05


@pytest.mark.parametrize("n", [2_000, 100_000])
def test_the_grid_keeps_pace_with_the_number_of_samples(n: int) -> None:
    """A single pass rate at which no success is just likely enough is one distribution that the region allows."""
    region = count_region(n, np.array([0]), 0.95)
    rate = -np.expm1(np.log(region.low[0]) / n)
    law = region.probabilities(np.array([rate]))[:, 0]
    assert (law[1:] <= region.high[1:]).all()
    reached = -np.expm1(8 * np.log1p(-rate))
    low, high = MixtureBounds.of(region).ratio(lambda p: (1 - p) ** n * (1 - (1 - p) ** 8), lambda p: (1 - p) ** n)
    assert low < reached <= high < 1.02 * reached


def test_counts_that_no_mixture_explains_fall_back_to_the_whole_range() -> None:
    bounds = MixtureBounds.of(count_region(8, np.full(500, 4), 0.95))
    assert not bounds.compatible
    low, high = bounds.mean(dead_share(16).at, (0, 1))
    assert low == pytest.approx(2 * 0.5**16, abs=1e-6)
    assert high == 1
    assert MixtureBounds.of(count_region(8, np.array([0, 4, 8]), 0.95)).compatible


def test_no_failure_seen_leaves_the_ratio_open() -> None:
    bounds = MixtureBounds.of(count_region(8, np.full(50, 8), 0.95))
    assert bounds.ratio(lambda p: p * (1 - p) ** 8, lambda p: (1 - p) ** 8) == (0, 1)
