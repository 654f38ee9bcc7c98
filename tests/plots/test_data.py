"""The numbers behind the figures, each against a second computation."""

from __future__ import annotations

from itertools import product
from math import comb, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from reweight.plots.discovery_ceiling import BASE, REWARDS, WATCHED, discovery_ceiling_data
from reweight.plots.simplex_portrait import simplex_portrait_data
from reweight.plots.tilt_gain import tilt_gain_data
from reweight.plots.weight_curve import weight_curve_data


def test_gap_is_the_mean_deviation_over_p_q() -> None:
    """p q Delta_G(p) = E[standard deviation of a group], summed here over the number of correct members."""
    data = weight_curve_data([2, 5, 64], points=9)
    for size, gaps in zip(data.group_sizes, data.gaps, strict=True):
        for p, value in zip(data.pass_rates, gaps, strict=True):
            terms = (
                comb(size, k) * p**k * (1 - p) ** (size - k) * sqrt(k * (size - k)) / size for k in range(size + 1)
            )
            assert value == pytest.approx(sum(terms) / (p * (1 - p)), rel=1e-10)


def test_gap_stays_below_its_two_limits_and_reaches_them() -> None:
    data = weight_curve_data([2, 3, 4, 8, 64])
    assert data.rare == pytest.approx(np.sqrt(np.array(data.group_sizes) - 1))
    assert np.all(data.gaps <= data.rare[:, None] * (1 + 1e-12))
    assert np.all(data.gaps <= data.infinite * (1 + 1e-12))
    assert data.gaps[-1].max() == pytest.approx(data.rare[-1], rel=0.01)
    assert data.gaps[-1].min() == pytest.approx(data.infinite.min(), rel=0.01)


def softmax_path(groups: tuple[tuple[int, ...], ...], step: float) -> NDArray[np.float64]:
    """S-PG in a few lines that share nothing with the library: probabilities after the given groups."""
    logits, rewards = np.log(BASE), np.array(REWARDS, dtype=float)
    for group in groups:
        earned = rewards[list(group)]
        if len(set(earned)) == 1:
            continue
        probabilities = np.exp(logits) / np.exp(logits).sum()
        scores = np.eye(len(BASE))[list(group)] - probabilities  # gradient of log pi of each member
        logits = logits + step * ((earned - earned.mean()) / earned.std()) @ scores / len(group)
    final: NDArray[np.float64] = np.exp(logits) / np.exp(logits).sum()
    return final


@pytest.mark.parametrize(("group_size", "step"), [(3, 1.0), (2, 3.0)])
def test_largest_path_is_the_largest_of_all_paths(group_size: int, step: float) -> None:
    data = discovery_ceiling_data(np.random.default_rng(1), runs=0, steps=2, group_size=group_size, step=step)
    others = [answer for answer in range(len(BASE)) if answer != WATCHED]
    groups = list(product(others, repeat=group_size))
    best = max(softmax_path(pair, step)[WATCHED] for pair in product(groups, repeat=2))
    assert data.largest[2] == pytest.approx(best, rel=1e-6)


def test_no_path_passes_a_ceiling() -> None:
    data = discovery_ceiling_data(np.random.default_rng(2), runs=40, steps=8)
    assert data.ceiling == pytest.approx(0.05)
    assert data.growth == pytest.approx(0.01 * np.exp(np.arange(9) / 2))
    assert np.all(data.largest < data.ceiling)
    assert np.all(data.largest <= data.growth * (1 + 1e-9))
    assert data.largest[-1] > 0.75 * data.ceiling  # else the figure would say little
    assert 0 < sum(data.found) < 40
    for path, found in zip(data.paths, data.found, strict=True):
        assert np.all(path <= data.largest[: len(path)] * (1 + 1e-6))
        assert found or len(path) == 9


def test_gain_is_what_the_tilted_policy_gains() -> None:
    data = tilt_gain_data(points=41)
    odds = data.pass_rates / (1 - data.pass_rates) * np.exp(1 / data.betas)[:, None]
    assert data.gains == pytest.approx(odds / (1 + odds) - data.pass_rates, abs=1e-12)
    assert np.all(data.gains <= np.minimum(data.low_mass, data.saturation) * (1 + 1e-12))
    assert np.all(data.gains.max(axis=1) <= data.largest * (1 + 1e-12))
    assert data.gains.max(axis=1) == pytest.approx(
        data.largest, rel=0.1
    )  # the grid misses the ridge by at most half a cell
    assert data.largest == pytest.approx(np.tanh(1 / (4 * data.betas)))


def test_tilt_keeps_the_shares_and_gradient_goes_to_the_larger() -> None:
    data = simplex_portrait_data([0.3, 0.5, 0.6])
    assert data.tilt[:, -1, :2].sum(axis=1) == pytest.approx(1, abs=0.01)
    assert data.tilt[..., 0] / data.tilt[..., :2].sum(axis=-1) == pytest.approx(
        np.repeat([[0.3], [0.5], [0.6]], data.tilt.shape[1], axis=1)
    )
    assert data.gradient[:, -1, 0] == pytest.approx([0, 0.5, 1], abs=0.02)
    assert np.all(np.diff(data.gradient[..., 2], axis=1) <= 1e-15)
