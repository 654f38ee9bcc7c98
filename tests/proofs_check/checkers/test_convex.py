from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from proofs_check.checkers.convex import (
    is_positive_semidefinite,
    lp_upper_bound,
    round_to_fractions,
    semidefinite_multiplier,
)

ONE = Fraction(1)


def test_semidefiniteness_is_decided_exactly_with_a_direction_where_it_fails() -> None:
    for entries in product(range(-2, 3), repeat=6):
        a, b, c, d, e, f = map(Fraction, entries)
        matrix = [[a, b, c], [b, d, e], [c, e, f]]
        answer, direction = is_positive_semidefinite(matrix)
        assert answer == (np.linalg.eigvalsh(np.array(matrix, dtype=float)).min() > -1e-9), matrix
        if direction is not None:
            assert sum(direction[i] * matrix[i][j] * direction[j] for i in range(3) for j in range(3)) < 0


def test_a_linear_program_is_bounded_by_its_rounded_dual() -> None:
    rows = [[ONE, 2 * ONE], [3 * ONE, ONE]]
    assert lp_upper_bound([ONE, ONE], rows, [4 * ONE, 6 * ONE]) == Fraction(14, 5)


def test_a_dual_that_rounding_breaks_certifies_nothing() -> None:
    with pytest.raises(ArithmeticError, match="infeasible"):
        lp_upper_bound([Fraction(2, 3)], [[ONE]], [ONE], denominator=2)


def test_a_multiplier_that_makes_a_matrix_semidefinite_is_found() -> None:
    base, direction = [[0, 1], [1, 0]], [[1, 0], [0, 1]]
    (t,) = semidefinite_multiplier(base, [direction])
    exact = [[t * Fraction(direction[i][j]) + base[i][j] for j in range(2)] for i in range(2)]
    assert is_positive_semidefinite(exact)[0]


def test_rounding() -> None:
    assert round_to_fractions(np.array([0.1, 2 / 3]), 100) == [Fraction(1, 10), Fraction(2, 3)]
