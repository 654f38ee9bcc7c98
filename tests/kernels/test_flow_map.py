"""The flow map against the steps that it stands for, and what it says of its own error."""

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.kernels.bernstein import PARALLEL_FROM
from reweight.kernels.flow_map import flow_map, flow_map_twin
from reweight.kernels.lumped_tilt import lumped_tilt


def symmetric(size):
    j = np.arange(size - 1)
    return (size - 1) / np.sqrt((j + 1) * (size - 1 - j))


@pytest.mark.parametrize("size", [2, 8, 64, 1024])
@pytest.mark.parametrize("step", [0.05, 0.5])
def test_a_thousand_steps_within_the_reported_bound(size, step):
    coefficients = symmetric(size)
    moved = flow_map(-12.0, 12.0, 1000, step, coefficients, tolerance=1e-9)
    start = np.random.default_rng(0).uniform(-12, 12, 2000)
    error = np.abs(moved(start) - lumped_tilt(start, 1000, step, coefficients)).max()
    assert error <= moved.error_bound <= 5e-9


def test_large_groups_get_narrower_cells():
    widths = [flow_map(-8.0, 8.0, 300, 0.05, symmetric(size)).width for size in (8, 1024)]
    assert widths[1] < widths[0]


def test_the_numpy_twin_and_the_ends_of_the_range():
    moved = flow_map(-5.0, 5.0, 200, 0.1, symmetric(8))
    start = np.concatenate([[-5.0, 5.0], np.random.default_rng(0).uniform(-5, 5, PARALLEL_FROM)])
    np.testing.assert_allclose(moved(start), flow_map_twin(moved, start), rtol=1e-13)
    np.testing.assert_array_equal(moved(start[:100].reshape(4, 25)).ravel(), moved(start)[:100])
    assert moved(np.empty(0)).shape == (0,)


@pytest.mark.parametrize("outside", [-5.1, 5.3, np.nan, np.inf])
def test_what_lies_outside_is_refused(outside):
    with pytest.raises(InputError, match="outside"):
        flow_map(-5.0, 5.0, 10, 0.1, symmetric(4))(np.array([0.0, outside]))


def test_a_tolerance_below_rounding_is_refused():
    with pytest.raises(InputError, match="does not reach"):
        flow_map(-5.0, 5.0, 1000, 0.5, symmetric(64), tolerance=1e-18)
    with pytest.raises(InputError, match="empty"):
        flow_map(1.0, 1.0, 10, 0.1, symmetric(4))
