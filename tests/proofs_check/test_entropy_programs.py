"""The solver's policy and multiplier bracket the optimum from both sides."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import pytest

from proofs_check.entropy_programs import divergence, largest_penalised_reward, smallest_divergence


def test_the_two_bounds_of_a_program_are_in_order_and_close() -> None:
    half, base = Fraction(1, 2), (Fraction(1, 10), Fraction(3, 10), Fraction(3, 5))
    best = largest_penalised_reward([Fraction(1), Fraction(0), Fraction(0)], base, half)
    assert best.value <= best.bound
    assert float(best.bound) == pytest.approx(log(0.9 + 0.1 * exp(2)) / 2, abs=1e-6)
    least = smallest_divergence(base, [True, False, False], half)
    assert least.value >= least.bound
    assert sum(least.policy) == 1
    assert least.policy[0] == half
    assert float(least.bound) == pytest.approx(0.5 * log(5) + 0.5 * log(5 / 9), abs=1e-6)


def test_divergence_of_a_point_mass() -> None:
    assert float(divergence((Fraction(1), Fraction(0)), (Fraction(1, 4), Fraction(3, 4)))) == pytest.approx(log(4))
