"""Polynomials around a function: they enclose it off the grid too, and their intervals cover."""

from __future__ import annotations

import numpy as np
import pytest

from reweight.forecasting.flow import tilt_flow
from reweight.forecasting.functional import dead_share
from reweight.forecasting.likelihood import mean_interval
from reweight.forecasting.sandwich import sandwich, sandwich_interval
from reweight.objectives.advantage import Advantage

TILTED = tilt_flow(8, Advantage(ddof=1))
FUNCTIONS = {
    "tilted": lambda p: TILTED.pass_rate(p, 0.5),
    "root": np.sqrt,
    "dead": dead_share(32).at,
    "angle": lambda p: np.sin(np.minimum(np.arcsin(np.sqrt(p)) + 0.3, np.pi / 2)) ** 2,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("degree", [1, 4, 8, 16])
def test_polynomials_enclose_the_function_at_pass_rates_that_no_grid_holds(name: str, degree: int) -> None:
    function = FUNCTIONS[name]
    below, above = sandwich(function, (0.0, 1.0), degree)
    p = np.random.default_rng(3).beta(0.4, 0.4, 4000)
    assert (below.at(p) <= function(p) + 1e-5).all()
    assert (above.at(p) >= function(p) - 1e-5).all()


def test_more_samples_leave_less_between_the_polynomials() -> None:
    p = np.linspace(0, 1, 501)
    gaps = []
    for degree in (4, 8, 16):
        below, above = sandwich(FUNCTIONS["tilted"], (0.0, 1.0), degree)
        gaps.append(float((above.at(p) - below.at(p)).max()))
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2]


def test_a_polynomial_that_the_samples_identify_gets_the_interval_of_its_unbiased_values() -> None:
    c = np.random.default_rng(1).binomial(8, 0.3, 200)
    low, high = sandwich_interval(np.square, (0.0, 1.0), 8, c, 0.95)
    assert (low, high) == pytest.approx(mean_interval(c * (c - 1) / 56, 0, 1, 0.95), abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 8, 64])
def test_intervals_cover_in_simulated_worlds(world, acceptable, n: int) -> None:
    for name, function in FUNCTIONS.items():
        below, above = sandwich(function, (0.0, 1.0), min(n, 16))
        possible = [f.unbiased(n, np.arange(n + 1)) for f in (below, above)]
        truth, covered, repeats = world.mean(function), 0, 400
        rng = np.random.default_rng([n, len(name)])
        for _ in range(repeats):
            c = world.counts(rng, 60, n)
            low = mean_interval(possible[0][c], possible[0].min(), possible[0].max(), 0.95)[0]
            high = mean_interval(possible[1][c], possible[1].min(), possible[1].max(), 0.95)[1]
            covered += low <= truth + 1e-5 and truth - 1e-5 <= high
        assert acceptable(covered, repeats, 0.95), (name, covered / repeats)
