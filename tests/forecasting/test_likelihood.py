"""ELP intervals: published figures, symmetry, behaviour at the ends, and coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reweight.forecasting.functional import Functional, dead_share, pass_at, signal
from reweight.forecasting.likelihood import mean_interval
from reweight.objectives.advantage import Advantage

shares = st.lists(st.floats(0, 1), min_size=1, max_size=30).map(np.array)


@pytest.mark.parametrize(
    ("ones", "interval"),
    [(124, (0.548935, 0.687289)), (24, (0.078622, 0.173263)), (164, (0.759638, 0.870294))],
)
def test_worked_figures(ones: int, interval: tuple[float, float]) -> None:
    values = np.repeat([1.0, 0.0], [ones, 200 - ones])
    assert mean_interval(values, 0, 1, 0.95) == pytest.approx(interval, abs=5e-7)


def test_no_event_gives_the_divergence_of_log_forty() -> None:
    low, high = mean_interval(np.zeros(200), 0, 1, 0.95)
    assert low == 0
    assert -200 * math.log1p(-high) == pytest.approx(math.log(40))


def test_limits_solve_the_binomial_likelihood_where_values_are_zero_or_one() -> None:
    """For 0/1 values the divergence is P times the binomial relative entropy, whatever root finder is used."""
    ones, prompts = 100, 200
    low, high = mean_interval(np.repeat([1.0, 0.0], [ones, ones]), 0, 1, 0.95)
    for mu in (low, high):
        share = ones / prompts
        entropy = share * math.log(share / mu) + (1 - share) * math.log((1 - share) / (1 - mu))
        assert prompts * entropy == pytest.approx(_threshold(ones), rel=1e-9)


def _threshold(m: float) -> float:
    from scipy.stats import chi2

    upper, lower = chi2.ppf(0.975, 2 * m + 2) / 2, chi2.ppf(0.025, 2 * m) / 2
    above, below = (x - m + m * math.log(m / x) for x in (upper, lower))
    return max(chi2.ppf(0.95, 1) / 2, above, min(below, math.log(40)))


@given(shares, st.floats(0.5, 0.999))
def test_mirror_image(values: np.ndarray, level: float) -> None:
    low, high = mean_interval(values, 0, 1, level)
    mirrored = mean_interval(1 - values, 0, 1, level)
    assert (1 - high, 1 - low) == pytest.approx(mirrored, abs=1e-9)


@given(shares, st.floats(-5, 5), st.floats(0.01, 10))
def test_a_change_of_unit_changes_nothing_else(values: np.ndarray, shift: float, unit: float) -> None:
    low, high = mean_interval(values, 0, 1, 0.95)
    moved = mean_interval(shift + unit * values, shift, shift + unit, 0.95)
    assert moved == pytest.approx((shift + unit * low, shift + unit * high), abs=1e-6 * (1 + unit))


@given(shares, st.floats(0.5, 0.99))
def test_limits_are_ordered_inside_the_range_and_wider_at_a_higher_level(values: np.ndarray, level: float) -> None:
    low, high = mean_interval(values, 0, 1, level)
    wider = mean_interval(values, 0, 1, level + 0.009)
    assert 0 <= wider[0] <= low + 1e-9
    assert low <= values.mean() + 1e-9
    assert values.mean() <= high + 1e-9
    assert high <= wider[1] + 1e-9 <= 1 + 1e-9


@pytest.mark.parametrize("values", [[1.0], [0.0], [1 - 1e-16, 1.0], [1e-300, 0.0], [0.5], [1.0] * 1000])
def test_ends_of_the_range(values: list[float]) -> None:
    low, high = mean_interval(np.array(values), 0, 1, 0.95)
    assert 0 <= low <= high <= 1


def test_a_constant_has_no_width() -> None:
    assert mean_interval(np.array([0.3, 0.3]), 0.3, 0.3, 0.95) == (0.3, 0.3)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "prompts"), [(4, 60), (8, 60), (8, 200)])
def test_coverage(world, acceptable, n: int, prompts: int) -> None:
    rng = np.random.default_rng([n, prompts, int(1e6 * world.nodes.sum())])
    functionals: dict[str, Functional] = {
        "dead": dead_share(n),
        "pass rate": pass_at(1),
        "signal": signal(n, Advantage(ddof=1, eps=1e-4)),
    }
    repeats = 400
    covered = dict.fromkeys(functionals, 0)
    for _ in range(repeats):
        c = world.counts(rng, prompts, n)
        for name, functional in functionals.items():
            possible = functional.unbiased(n, np.arange(n + 1))
            low, high = mean_interval(possible[c], possible.min(), possible.max(), 0.95)
            covered[name] += low <= world.mean(functional.at) <= high
    assert all(acceptable(number, repeats, 0.95) for number in covered.values()), covered
