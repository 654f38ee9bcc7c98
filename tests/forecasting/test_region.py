"""Clopper-Pearson regions: the limits are scipy's, and together they hold at the level."""

from __future__ import annotations

import numpy as np
import pytest

from reweight.forecasting.region import count_region


@pytest.mark.parametrize("n", [1, 4, 8, 9, 64])
def test_limits_are_those_of_the_binomial_test(n: int) -> None:
    from scipy.stats import binomtest

    c = np.random.default_rng(n).binomial(n, 0.3, size=50)
    region = count_region(n, c, 0.9)
    for first, last, low, high in zip(region.first, region.last, region.low, region.high, strict=True):
        hits = int(((first <= c) & (c <= last)).sum())
        exact = binomtest(hits, 50).proportion_ci(1 - 0.1 / len(region.first), method="exact")
        assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-12)


def events(n: int) -> list[tuple[int, int]]:
    region = count_region(n, np.array([1]), 0.95)
    return list(zip(region.first.tolist(), region.last.tolist(), strict=True))


def test_events_are_cells_up_to_eight_samples_and_doubling_bins_beyond() -> None:
    assert events(8) == [(c, c) for c in range(9)]
    assert events(17) == [(0, 0), (1, 1), (2, 3), (4, 7), (17, 17), (16, 16), (14, 15), (10, 13)]


@pytest.mark.parametrize("n", [3, 16, 2000])
def test_probabilities_are_binomial(n: int) -> None:
    from scipy.stats import binom

    region = count_region(n, np.array([1, 2]), 0.95)
    rates = np.array([0.0, 1e-9, 0.2, 0.5, 0.999, 1.0])
    expected = np.array([[binom.pmf(np.arange(i, j + 1), n, p).sum() for p in rates] for i, j in events(n)])
    assert region.probabilities(rates) == pytest.approx(expected, abs=1e-13)


def test_each_pass_rate_gives_a_law_however_many_samples() -> None:
    region = count_region(100_001, np.array([1, 2]), 0.95)
    law = region.probabilities(np.array([0.0, 1e-7, 0.3, 0.7, 1.0]))
    assert law.min() >= 0
    inside = np.array([first <= c <= last for c in (30_000, 70_000) for first, last in events(100_001)])
    assert inside.sum() == 2
    assert law.sum(axis=0) == pytest.approx([1, 1, 1, 1, 1], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 8, 64])
def test_all_limits_hold_together(world, acceptable, n: int) -> None:
    rng = np.random.default_rng([n, int(1e6 * world.nodes.sum())])
    truth = None
    held, repeats = 0, 400
    for _ in range(repeats):
        region = count_region(n, world.counts(rng, 60, n), 0.95)
        if truth is None:
            truth = region.probabilities(world.nodes) @ world.weights
        held += bool(((region.low <= truth + 1e-12) & (truth <= region.high + 1e-12)).all())
    assert acceptable(held, repeats, 0.95), held
