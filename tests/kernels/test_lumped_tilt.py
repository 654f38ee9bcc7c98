"""Many tilts: short steps by the addition rule, long ones by exponentials, both against the step-by-step twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reweight.kernels.lumped_tilt import SHORT, lumped_tilt, lumped_tilt_twin

EXTREMES = np.array([-745.0, -690.0, -100.0, -36.0, -1.0, -1e-300, 0.0, 1e-9, 1.0, 36.0, 700.0])


def symmetric(size):
    j = np.arange(size - 1)
    return (size - 1) / np.sqrt((j + 1) * (size - 1 - j))


@pytest.mark.parametrize("size", [2, 3, 8, 12, 31, 64])
@pytest.mark.parametrize("share_of_short", [0.1, 1.0, 1.01, 30.0])
def test_short_and_long_steps_from_anywhere(size, share_of_short):
    coefficients = symmetric(size)
    step = share_of_short * SHORT / coefficients.max()
    found = lumped_tilt(EXTREMES, 300, step, coefficients)
    wanted = lumped_tilt_twin(EXTREMES, 300, step, coefficients)
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-12)


@settings(max_examples=30)
@given(st.integers(2, 40), st.floats(-40, 40), st.floats(0.001, 1.0), st.integers(0, 70))
def test_one_prompt_for_any_number_of_steps(size, start, step, steps):
    found = lumped_tilt(np.array([start]), steps, step, symmetric(size))
    wanted = lumped_tilt_twin(np.array([start]), steps, step, symmetric(size))
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize(("size", "step"), [(8, 0.05), (8, 0.5), (64, 0.05)])
def test_threads_and_blocks_change_no_more_than_rounding(size, step):
    start = np.random.default_rng(0).normal(-2, 2, (3, 7001))
    together = lumped_tilt(start, 20, step, symmetric(size))
    assert together.shape == start.shape
    np.testing.assert_allclose(together[1, :50], lumped_tilt(start[1, :50], 20, step, symmetric(size)), atol=1e-13)
    assert start.max() < together.max()


def test_a_tilt_keeps_the_order_of_prompts():
    start = np.sort(np.random.default_rng(1).normal(0, 3, 500))
    assert (np.diff(lumped_tilt(start, 400, 0.05, symmetric(16))) >= 0).all()
