"""C54: the threshold is met from both sides, and the closed forms of the theory are stationary for the library."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from proofs_check.claims.regularised import c54_support_of_optimum as c54
from reweight import Advantage, FlatPolicy, InputError, KLPenalty, Objective, Problem, expected_coefficients, gap

CLAIMED = c54.SupportOfOptimum(c54.gap_at_zero_squared)
ROADS = (c54.check_symbolic, c54.check_rational, c54.check_property)


@pytest.mark.parametrize("factor", [Fraction(9, 10), Fraction(11, 10)])
def test_a_threshold_that_is_off_is_seen_by_every_road(factor: Fraction) -> None:
    off = replace(
        CLAIMED,
        threshold_square=lambda n, ddof: c54.gap_at_zero_squared(n, ddof) * factor.numerator / factor.denominator,
    )
    assert {road(off).kind for road in ROADS} == {"refuted"}


def test_a_mean_only_root_that_is_off() -> None:
    off = replace(CLAIMED, root=lambda share: 1 - share**2)
    assert [road(off).kind for road in ROADS[:2]] == ["refuted", "refuted"]


def test_mean_only_optimum_is_stationary_for_the_library() -> None:
    """Weights c = 3/4 at G = 4, beta = 1/4: p = 1 - beta/c = 2/3, and it is the largest c p - beta KL(pi_0 || pi)."""
    base = np.array([0.0, 0.3, 0.7])
    policy = np.array([2 / 3, 0.1, 0.7 / 3])
    problem = Problem([1, 0, 0])
    objective = Objective(Advantage(scale="none"), 4, kl=KLPenalty("k3", 0.25))
    coefficients = expected_coefficients(
        problem, FlatPolicy.from_probabilities(policy), objective, reference=FlatPolicy.from_probabilities(base)
    )
    assert coefficients == pytest.approx(np.zeros(3), abs=1e-12)
    grid = np.linspace(0, 0.999, 1000)
    assert grid[np.argmax(0.75 * grid + 0.25 * np.log1p(-grid))] == pytest.approx(2 / 3, abs=1e-3)


def test_pairs_have_the_stationary_pass_rate_one_minus_beta() -> None:
    assert [float((1 - p) * gap(p, 2)) for p in (0.25, 0.9)] == pytest.approx([0.75, 0.1])


def test_the_other_kl_is_infinite_outside_the_base() -> None:
    problem = Problem([1, 0])
    policy, base = FlatPolicy.from_probabilities([0.5, 0.5]), FlatPolicy.from_probabilities([0.0, 1.0])
    with pytest.raises(InputError, match="infinite"):
        expected_coefficients(problem, policy, Objective(Advantage(), 2, kl=KLPenalty("k2", 0.1)), reference=base)
