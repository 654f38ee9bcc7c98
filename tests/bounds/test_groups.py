"""Bounds on one group against every group there is."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reweight.bounds import advantage_bound, gap_bounds
from reweight.errors import InputError

SETTINGS = [(0, "std", 0.0), (1, "std", 0.0), (0, "std", 0.1), (1, "std", 0.5), (0, "none", 0.0)]


def group_advantages(rewards: NDArray[np.float64], ddof: int, scale: str, eps: float) -> NDArray[np.float64]:
    """Definition of the group advantage, by its own short road."""
    centred = rewards - rewards.mean()
    if np.ptp(rewards) == 0:
        return np.zeros_like(centred)
    return centred / (rewards.std(ddof=ddof) + eps) if scale == "std" else centred


def exact_gap(p: float, size: int, ddof: int, scale: str, eps: float) -> float:
    """Gap E[A_1 | r_1 = 1] - E[A_1 | r_1 = 0] by listing the other members' rewards."""
    means = []
    for first in (1.0, 0.0):
        terms = []
        for others in product((0.0, 1.0), repeat=size - 1):
            chance = math.prod(p if reward else 1 - p for reward in others)
            terms.append(chance * group_advantages(np.array([first, *others]), ddof, scale, eps)[0])
        means.append(math.fsum(terms))
    return means[0] - means[1]


@pytest.mark.parametrize("size", [2, 3, 4, 7])
@pytest.mark.parametrize(("ddof", "scale", "eps"), SETTINGS)
def test_gap_lies_between_its_bounds(size: int, ddof: int, scale: str, eps: float) -> None:
    for p in (0.0, 1e-9, 0.01, 0.2, 0.5, 0.77, 1 - 1e-9, 1.0):
        gap = exact_gap(p, size, ddof, scale, eps)
        low, high = gap_bounds(p, size, ddof=ddof, scale=scale, eps=eps)
        assert float(low) * (1 - 1e-12) <= gap <= float(high) * (1 + 1e-12)
        if size <= 3 or scale == "none":
            assert gap == pytest.approx(float(low), rel=1e-12)
        if p in (0.0, 1.0):
            assert gap == pytest.approx(float(high), rel=1e-12)


@pytest.mark.parametrize("size", [2, 3, 5, 8, 64, 1024])
def test_gap_bounds_imply_the_published_ones(size: int) -> None:
    p = np.linspace(0.001, 0.999, 99)
    low, high = gap_bounds(p, size)
    assert (low >= 2 * (size - 1) / size * (1 - 1e-15)).all()
    published = np.minimum(np.sqrt(size - 1), np.sqrt((size - 1) / (size * p * (1 - p))))
    np.testing.assert_allclose(high, published, rtol=1e-14)
    low1, high1 = gap_bounds(p, size, ddof=1)
    np.testing.assert_allclose([low1, high1], np.sqrt((size - 1) / size) * np.array([low, high]), rtol=1e-14)


def test_gap_bounds_meet_for_large_groups() -> None:
    for eps in (0.0, 0.3):
        low, high = gap_bounds([0.05, 0.5], 10**6, eps=eps)
        limit = 1 / (np.sqrt([0.05 * 0.95, 0.25]) + eps)
        np.testing.assert_allclose(low, limit, rtol=1e-4)
        np.testing.assert_allclose(high, limit, rtol=1e-4)


def test_gap_bounds_shapes_and_corners() -> None:
    low, high = gap_bounds(np.zeros((3, 1)), [2, 8])
    assert low.shape == high.shape == (3, 2)
    low, high = gap_bounds([1e-300, 1 - 2**-53], 8)
    np.testing.assert_allclose([low, high], math.sqrt(7), rtol=1e-14)


@pytest.mark.parametrize(("ddof", "scale", "eps"), SETTINGS)
@given(data=st.data())
def test_no_advantage_exceeds_the_bound(ddof: int, scale: str, eps: float, data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 9))
    width = data.draw(st.sampled_from([1.0, 2.0, 0.01]))
    # rewards as grid points: a spread of 1e-300 would test the float std, not the bound
    rewards = np.array(data.draw(st.lists(st.integers(0, 64), min_size=size, max_size=size))) / 64 * width
    largest = np.abs(group_advantages(rewards, ddof, scale, eps)).max()
    assert largest <= float(advantage_bound(size, ddof=ddof, scale=scale, eps=eps, reward_range=width)) * (1 + 1e-12)


@pytest.mark.parametrize(("ddof", "scale", "eps"), SETTINGS)
@pytest.mark.parametrize("width", [1.0, 2.0, 1e-3])
def test_advantage_bound_is_attained(ddof: int, scale: str, eps: float, width: float) -> None:
    for size in (2, 3, 8, 31):
        rewards = np.array([width] + [0.0] * (size - 1))
        reached = group_advantages(rewards, ddof, scale, eps)[0]
        bound = float(advantage_bound(size, ddof=ddof, scale=scale, eps=eps, reward_range=width))
        assert reached == pytest.approx(bound, rel=1e-12)


def test_advantage_bound_is_the_published_one() -> None:
    sizes = np.array([2, 4, 8, 64])
    np.testing.assert_allclose(advantage_bound(sizes), np.sqrt(sizes - 1), rtol=1e-15)
    np.testing.assert_allclose(advantage_bound(sizes, ddof=1), (sizes - 1) / np.sqrt(sizes), rtol=1e-15)
    np.testing.assert_allclose(advantage_bound(sizes, scale="none"), (sizes - 1) / sizes, rtol=1e-15)
    assert float(advantage_bound(8, reward_range=1e-200)) == pytest.approx(math.sqrt(7), rel=1e-15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"group_size": 1}, "group_size must be at least 2"),
        ({"group_size": 2.5}, "group_size must be a whole number"),
        ({"group_size": 8, "ddof": 2}, "ddof must be one of 0, 1"),
        ({"group_size": 8, "scale": "leave_one_out_std"}, "scale must be one of 'std', 'none'"),
        ({"group_size": 8, "eps": -1e-6}, "eps must be at least 0"),
        ({"group_size": 8, "reward_range": 0.0}, "reward_range must be above 0"),
    ],
)
def test_what_is_no_group_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        advantage_bound(**arguments)  # type: ignore[arg-type]


def test_gap_bounds_refuse_what_is_no_pass_rate() -> None:
    with pytest.raises(InputError, match="pass_rate"):
        gap_bounds(1.2, 8)
