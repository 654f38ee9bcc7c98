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
    for event, low, high in zip(region.events, region.low, region.high, strict=True):
        exact = binomtest(int(event[c].sum()), 50).proportion_ci(1 - 0.1 / len(region.events), method="exact")
        assert (low, high) == pytest.approx((exact.low, exact.high), abs=1e-12)


def test_events_are_cells_up_to_eight_samples_and_doubling_bins_beyond() -> None:
    assert count_region(8, np.array([1]), 0.95).events.tolist() == np.eye(9, dtype=bool).tolist()
    sets = [np.flatnonzero(event).tolist() for event in count_region(17, np.array([1]), 0.95).events]
    assert sets == [[0], [1], [2, 3], [4, 5, 6, 7], [17], [16], [14, 15], [10, 11, 12, 13]]


@pytest.mark.parametrize("n", [3, 16])
def test_probabilities_are_binomial(n: int) -> None:
    from scipy.stats import binom

    region = count_region(n, np.array([1, 2]), 0.95)
    rates = np.array([0.0, 1e-9, 0.2, 0.5, 1.0])
    expected = np.array([[binom.pmf(np.flatnonzero(event), n, p).sum() for p in rates] for event in region.events])
    assert region.probabilities(rates) == pytest.approx(expected, abs=1e-13)


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
