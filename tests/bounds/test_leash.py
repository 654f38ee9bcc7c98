"""The KL leash against many-digit root finding and a convex solver."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reweight.bounds import kl_leash, tilt_kl, tilt_optimum
from reweight.errors import InputError
from reweight.measures import binary_kl, kl

RATES = [1e-300, 1e-16, 1e-4, 0.1, 0.5, 0.9, 1 - 1e-9, 1 - 2**-53]
BUDGETS = [1e-12, 1e-6, 1e-3, 0.1, 1.0, 20.0, 600.0]


def divergence(p: mpmath.mpf, base: mpmath.mpf) -> mpmath.mpf:
    return p * mpmath.log(p / base) + (1 - p) * mpmath.log((1 - p) / (1 - base))


def root(budget: float, base: float, upper: bool) -> mpmath.mpf:
    """Bisection on the log-odds, from the base's to where the pass rate is as good as its edge."""
    mass = mpmath.mpf(base)
    if -mpmath.log(mass if upper else 1 - mass) <= budget:
        return mpmath.mpf(1 if upper else 0)
    within, beyond = mpmath.log(mass / (1 - mass)), mpmath.mpf(720 if upper else -720)
    for _ in range(60):
        middle = (within + beyond) / 2
        inside = divergence(1 / (1 + mpmath.exp(-middle)), mass) <= budget
        within, beyond = (middle, beyond) if inside else (within, middle)
    return 1 / (1 + mpmath.exp(-within))


@pytest.mark.parametrize("base", RATES)
@pytest.mark.parametrize("budget", BUDGETS)
def test_both_branches_to_1e12_over_the_corners(base: float, budget: float) -> None:
    with mpmath.workdps(340):
        for branch in ("upper", "lower"):
            exact = root(budget, base, branch == "upper")
            found = mpmath.mpf(float(kl_leash(budget, base, branch=branch)))
            assert abs(found - exact) <= 1e-12 * exact, branch


@given(st.floats(1e-6, 1 - 1e-6), st.floats(1e-9, 20))
def test_the_leash_is_taut(base: float, budget: float) -> None:
    high, low = float(kl_leash(budget, base)), float(kl_leash(budget, base, branch="lower"))
    assert low <= base <= high
    for p, edge in ((high, 1.0), (low, 0.0)):
        if p != edge and 1e-5 < p < 1 - 1e-5:
            assert float(binary_kl(p, base)) == pytest.approx(budget, rel=1e-6, abs=1e-13)
    assert float(kl_leash(budget * 1.01, base)) >= high
    mirrored = float(kl_leash(budget, 1 - base, branch="lower"))
    assert mirrored == pytest.approx(1 - high, rel=1e-8, abs=1e-15)


@given(st.floats(1e-12, 0.99), st.floats(0.05, 50))
def test_the_tilt_attains_it(base: float, beta: float) -> None:
    assert float(kl_leash(tilt_kl(base, beta), base)) == pytest.approx(float(tilt_optimum(base, beta)), rel=1e-9)


@pytest.mark.parametrize(("base", "budget"), [(0.3, 0.05), (0.05, 0.4), (0.6, 0.2)])
def test_no_policy_within_the_budget_does_better(base: float, budget: float) -> None:
    import cvxpy as cp

    prior = np.array([0.75 * base, 0.25 * base, 0.6 * (1 - base), 0.4 * (1 - base)])
    policy = cp.Variable(4)
    within = [cp.sum(policy) == 1, cp.sum(cp.rel_entr(policy, prior)) <= budget]
    for sense, branch in ((cp.Maximize, "upper"), (cp.Minimize, "lower")):
        problem = cp.Problem(sense(policy[0] + policy[1]), within)
        problem.solve(solver=cp.CLARABEL)
        assert problem.value == pytest.approx(float(kl_leash(budget, base, branch=branch)), abs=1e-6)


def test_random_policies_stay_on_the_leash() -> None:
    rng = np.random.default_rng(1)
    base, trained = rng.dirichlet(np.full(5, 0.5), (2, 500))
    far = kl(trained, base)
    before, after = base[:, :2].sum(axis=1), trained[:, :2].sum(axis=1)
    assert (after <= kl_leash(far, before) + 1e-12).all()
    assert (after >= kl_leash(far, before, branch="lower") - 1e-12).all()
    assert after.mean() <= float(kl_leash(far.mean(), before.mean()))


def test_edges_are_exact() -> None:
    assert kl_leash([0.0, 1.0, 1e300, np.inf], 0.0).tolist() == [0.0, 0.0, 0.0, 1.0]
    assert kl_leash([0.0, 1.0, np.inf], 0.0, branch="lower").tolist() == [0.0] * 3
    assert kl_leash([0.0, 1.0, np.inf], 1.0).tolist() == [1.0] * 3
    assert kl_leash([0.0, 1.0, np.inf], 1.0, branch="lower").tolist() == [1.0, 1.0, 0.0]
    assert kl_leash(0.0, [0.1, 0.25, 1e-300]).tolist() == [0.1, 0.25, 1e-300]
    assert kl_leash(-np.log(0.1), 0.1) == 1.0
    assert kl_leash(-np.log1p(-0.1), 0.1, branch="lower") == 0.0
    almost = float(kl_leash(np.nextafter(-math.log(0.1), 0), 0.1))
    assert 1 - 1e-14 < almost <= 1.0
    assert kl_leash(np.full((3, 1), 0.1), [0.2, 0.3]).shape == (3, 2)


def test_bad_input_is_refused() -> None:
    for budget in (-0.1, float("nan")):
        with pytest.raises(InputError, match="kl must be at least 0"):
            kl_leash(budget, 0.5)
    with pytest.raises(InputError, match="pass_rate"):
        kl_leash(0.1, 1.2)
    with pytest.raises(InputError, match="branch must be one of 'upper', 'lower'"):
        kl_leash(0.1, 0.5, branch="both")
