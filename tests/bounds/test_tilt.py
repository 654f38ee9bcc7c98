"""The tilt optimum: against many-digit arithmetic at the corners, and against numerical maximisation."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reweight.bounds import (
    tilt_gain,
    tilt_gain_argmax,
    tilt_gain_bounds,
    tilt_gain_max,
    tilt_kl,
    tilt_log_odds,
    tilt_optimum,
)
from reweight.errors import InputError
from reweight.measures import kl

RATES = [1e-300, 1e-16, 1e-4, 0.1, 0.5, 0.9, 1 - 1e-9, 1 - 2**-53]
BETAS = [1e-3, 1.4e-3, 0.04, 0.3, 1.0, 50.0, 1e6]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("beta", BETAS)
def test_optimum_gain_and_cost_to_1e12_over_the_corners(rate: float, beta: float) -> None:
    with mpmath.workdps(800):
        base, grow = mpmath.mpf(rate), mpmath.exp(1 / mpmath.mpf(beta))
        total = 1 - base + base * grow
        best = base * grow / total
        cost = best / beta - mpmath.log(total)
        assert abs(mpmath.mpf(float(tilt_optimum(rate, beta))) / best - 1) < 1e-12
        assert abs(mpmath.mpf(float(tilt_gain(rate, beta))) / (best - base) - 1) < 1e-12
        assert abs(mpmath.mpf(float(tilt_kl(rate, beta))) / cost - 1) < 1e-12
        logit = mpmath.log(base / (1 - base)) + 1 / mpmath.mpf(beta)
        assert abs(float(tilt_log_odds(rate, beta)) - logit) < 1e-12 * max(1, abs(mpmath.log(base)), 1 / beta)


def test_edges() -> None:
    betas = np.array([1e-310, 1e-3, 1.0, np.inf])
    for answer in (tilt_optimum, tilt_gain, tilt_kl):
        assert answer(0.0, betas).tolist() == [0.0] * 4
    assert tilt_optimum(1.0, betas).tolist() == [1.0] * 4
    assert tilt_gain(1.0, betas).tolist() == tilt_kl(1.0, betas).tolist() == [0.0] * 4
    assert tilt_log_odds(0.0, betas).tolist() == [-np.inf] * 4
    assert tilt_log_odds(1.0, betas).tolist() == [np.inf] * 4
    assert tilt_optimum(1e-300, 1e-310) == 1.0
    assert tilt_optimum(0.3, np.inf) == 0.3
    assert tilt_gain(0.3, np.inf) == 0.0
    assert float(tilt_kl(0.25, 1e-310)) == pytest.approx(math.log(4), rel=1e-15)
    assert tilt_gain_max(1e-310) == 1.0
    assert tilt_gain_argmax(1e-310) == 0.0


@pytest.mark.parametrize(("rate", "beta"), [(0.3, 0.5), (0.05, 0.4), (0.8, 2.0)])
def test_optimum_by_a_convex_solver(rate: float, beta: float) -> None:
    import cvxpy as cp

    base = np.array([0.75 * rate, 0.25 * rate, 0.6 * (1 - rate), 0.4 * (1 - rate)])
    policy, rewards = cp.Variable(4), np.array([1.0, 1.0, 0.0, 0.0])
    objective = cp.Maximize(rewards @ policy - beta * cp.sum(cp.rel_entr(policy, base)))
    cp.Problem(objective, [cp.sum(policy) == 1]).solve(solver=cp.CLARABEL)
    best = np.asarray(policy.value) / np.sum(policy.value)
    rate_best, cost = float(tilt_optimum(rate, beta)), float(tilt_kl(rate, beta))
    assert objective.value == pytest.approx(rate_best - beta * cost, abs=1e-7)
    # What a policy falls short of the optimum is beta times its divergence from it; Pinsker turns that into mass.
    optimum = np.where(rewards == 1, base * rate_best / rate, base * (1 - rate_best) / (1 - rate))
    short = rate_best - beta * cost - (rewards @ best - beta * float(kl(best, base)))
    assert short == pytest.approx(beta * float(kl(best, optimum)), abs=1e-14)
    assert short < 1e-7
    assert abs(best[:2].sum() - rate_best) <= np.sqrt(short / beta / 2)


@pytest.mark.parametrize("beta", [0.05, 0.2, 0.5, 2.0])
def test_largest_gain_by_numerical_maximisation(beta: float) -> None:
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda logit: -tilt_gain(1 / (1 + math.exp(-logit)), beta), bracket=(-12.0, 0.0), tol=1e-10)
    assert -found.fun == pytest.approx(float(tilt_gain_max(beta)), rel=1e-12)
    assert 1 / (1 + math.exp(-found.x)) == pytest.approx(float(tilt_gain_argmax(beta)), rel=1e-4)
    assert float(tilt_gain(tilt_gain_argmax(beta), beta)) == pytest.approx(float(tilt_gain_max(beta)), rel=1e-14)


@given(st.floats(1e-300, 1.0), st.floats(1e-4, 1e4))
def test_gain_stays_below_its_bounds(rate: float, beta: float) -> None:
    gain, bounds = float(tilt_gain(rate, beta)), tilt_gain_bounds(rate, beta)
    for bound in (bounds.low_mass, bounds.saturation, tilt_gain_max(beta)):
        assert gain <= float(bound) * (1 + 1e-12)


@given(st.floats(1e-300, 1e-9), st.floats(0.1, 1e3))
def test_low_mass_bound_is_sharp_for_little_mass(rate: float, beta: float) -> None:
    low = float(tilt_gain_bounds(rate, beta).low_mass)
    assert float(tilt_gain(rate, beta)) == pytest.approx(low, rel=2 * rate * math.exp(1 / beta) + 1e-12)


def test_low_mass_bound_without_overflow() -> None:
    with mpmath.workdps(60):
        exact = mpmath.mpf(1e-300) * mpmath.expm1(mpmath.mpf(1) / mpmath.mpf(0.0014))
        assert abs(float(tilt_gain_bounds(1e-300, 0.0014).low_mass) / exact - 1) < 1e-12
    assert tilt_gain_bounds(0.5, 1e-3).low_mass == np.inf
    assert tilt_gain_bounds(0.0, 1e-310).low_mass == 0.0
    assert tilt_gain_bounds(1.0, 1e-310) == (np.inf, 0.0)


def test_cost_is_the_least_of_all_policies_with_that_pass_rate() -> None:
    base = np.array([0.2, 0.1, 0.4, 0.3])
    best = float(tilt_optimum(0.3, 0.7))
    cost = float(tilt_kl(0.3, 0.7))
    rng = np.random.default_rng(0)
    for _ in range(200):
        right, wrong = rng.dirichlet([1, 1]), rng.dirichlet([1, 1])
        assert float(kl(np.concatenate([best * right, (1 - best) * wrong]), base)) >= cost - 1e-15


def test_broadcasting() -> None:
    assert tilt_gain(np.full((3, 1), 0.1), [0.5, 1.0]).shape == (3, 2)
    assert tilt_gain_bounds(np.full((3, 1), 0.1), [0.5, 1.0]).saturation.shape == (3, 2)
    with pytest.raises(InputError, match="do not fit"):
        tilt_optimum([0.1, 0.2], [1.0, 2.0, 3.0])


@pytest.mark.parametrize("answer", [tilt_optimum, tilt_log_odds, tilt_gain, tilt_gain_bounds, tilt_kl])
def test_bad_input_is_refused(answer) -> None:  # type: ignore[no-untyped-def]
    for rate in (1.2, -0.1, float("nan")):
        with pytest.raises(InputError, match="pass_rate must be at least 0 and at most 1"):
            answer(rate, 1.0)
    for beta in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="beta must be above 0"):
            answer(0.5, beta)
