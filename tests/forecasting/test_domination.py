"""Intervals with a finite-sample guarantee."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reweight.forecasting.domination import guaranteed_interval
from reweight.forecasting.likelihood import mean_interval


@pytest.mark.parametrize("prompts", [1, 2, 7, 60])
@pytest.mark.parametrize("mean", [0.01, 0.3, 0.5, 0.97])
def test_coverage_of_a_proportion_summed_over_all_outcomes(prompts: int, mean: float) -> None:
    law = stats.binom.pmf(np.arange(prompts + 1), prompts, mean)
    missed = [0.0, 0.0]
    for k, chance in enumerate(law):
        low, high = guaranteed_interval(np.repeat([1.0, 0.0], [k, prompts - k]), 0.0, 1.0, 0.95)
        missed[0] += chance * (mean < low)
        missed[1] += chance * (mean > high)
    assert max(missed) <= 0.025


def test_coverage_where_values_are_no_proportion() -> None:
    """Three values with sums between whole numbers: all 5,151 outcomes of 100 prompts."""
    prompts, law = 100, np.array([0.9, 0.07, 0.03])
    mean = float(law @ [0.0, 0.37, 1.0])
    missed = [0.0, 0.0]
    for a in range(prompts + 1):
        for b in range(prompts + 1 - a):
            row = [prompts - a - b, a, b]
            chance = math.exp(stats.multinomial.logpmf(row, prompts, law))
            if chance < 1e-12:
                continue
            low, high = guaranteed_interval(np.repeat([0.0, 0.37, 1.0], row), 0.0, 1.0, 0.95)
            missed[0] += chance * (mean < low)
            missed[1] += chance * (mean > high)
    assert max(missed) <= 0.025


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.floats(0.01, 0.999))
def test_limits_are_ordered_and_mirror(values: list[float], level: float) -> None:
    array = np.array(values)
    low, high = guaranteed_interval(array, 0.0, 1.0, level)
    assert -1e-12 <= low <= array.mean() + 1e-9
    assert array.mean() - 1e-9 <= high <= 1.0 + 1e-12
    other = guaranteed_interval(1.0 - array, 0.0, 1.0, level)
    assert other == pytest.approx((1.0 - high, 1.0 - low), abs=1e-9)
    scaled = guaranteed_interval(3.0 * array - 1.0, -1.0, 2.0, level)
    assert scaled == pytest.approx((3.0 * low - 1.0, 3.0 * high - 1.0), abs=1e-9)


def test_the_guarantee_costs_width() -> None:
    values = np.random.default_rng(0).beta(2.0, 2.0, 200)
    low, high = guaranteed_interval(values, 0.0, 1.0, 0.95)
    narrow_low, narrow_high = mean_interval(values, 0.0, 1.0, 0.95)
    assert low < narrow_low < narrow_high < high


def test_a_constant_has_no_width() -> None:
    assert guaranteed_interval(np.full(5, 0.5), 0.5, 0.5, 0.95) == (0.5, 0.5)
