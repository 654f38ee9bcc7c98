"""Convex certificates: a solver proposes multipliers, they are rounded to rationals, and exact arithmetic decides."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["is_positive_semidefinite", "lp_upper_bound", "round_to_fractions", "semidefinite_multiplier"]

Matrix = Sequence[Sequence[Fraction]]


def round_to_fractions(values: Any, denominator: int = 10**6) -> list[Fraction]:
    """Nearest fractions with a bounded denominator.

    >>> round_to_fractions([0.33333333, 2.0])
    [Fraction(1, 3), Fraction(2, 1)]
    """
    return [Fraction(float(value)).limit_denominator(denominator) for value in np.ravel(values)]


def is_positive_semidefinite(matrix: Matrix) -> tuple[bool, list[Fraction] | None]:
    """Decide it exactly, by symmetric elimination; where it is not, a vector x with x'Mx < 0.

    Parameters
    ----------
    matrix : (n, n) symmetric table of Fractions

    Returns
    -------
    bool
    list of Fraction or None
        The direction of negative curvature.

    Examples
    --------
    >>> one, two = Fraction(1), Fraction(2)
    >>> is_positive_semidefinite([[one, one], [one, one]])
    (True, None)
    >>> is_positive_semidefinite([[one, two], [two, one]])
    (False, [Fraction(-2, 1), Fraction(1, 1)])
    """
    n = len(matrix)
    work = [[Fraction(entry) for entry in row] for row in matrix]
    # Rows of `basis` turn coordinates of the eliminated form back into those of the matrix.
    basis = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
    for k in range(n):
        if work[k][k] < 0:
            return False, basis[k]
        if work[k][k] == 0:
            coupled = next((j for j in range(k + 1, n) if work[k][j] != 0), None)
            if coupled is None:
                continue
            # (t e_k + e_j)' M (t e_k + e_j) = 2 t M_kj + M_jj is negative for this t.
            t = -(work[coupled][coupled] + 1) / (2 * work[k][coupled])
            return False, [t * a + b for a, b in zip(basis[k], basis[coupled], strict=True)]
        for j in range(k + 1, n):
            ratio = work[j][k] / work[k][k]
            work[j] = [a - ratio * b for a, b in zip(work[j], work[k], strict=True)]
            basis[j] = [a - ratio * b for a, b in zip(basis[j], basis[k], strict=True)]
        for j in range(k + 1, n):
            work[k][j] = Fraction(0)
    return True, None


def semidefinite_multiplier(base: Any, directions: Sequence[Any], denominator: int = 10**6) -> list[Fraction]:
    """Multipliers t with base + sum t_i directions_i as positive as it can be, proposed by Clarabel and rounded.

    Nothing is certified here: pass the exact matrix to `is_positive_semidefinite`.
    """
    cvxpy = _solver()
    t = cvxpy.Variable(len(directions))
    floor = cvxpy.Variable()
    arrays = [np.array(direction, dtype=float) for direction in directions]
    total = np.array(base, dtype=float) + sum(t[i] * array for i, array in enumerate(arrays))
    limits = [total - floor * np.eye(len(arrays[0])) >> 0, floor <= 1, t <= 10**3, t >= -(10**3)]
    cvxpy.Problem(cvxpy.Maximize(floor), limits).solve(solver=cvxpy.CLARABEL)
    return round_to_fractions(t.value, denominator)


def lp_upper_bound(
    objective: Sequence[Fraction], matrix: Matrix, limits: Sequence[Fraction], denominator: int = 10**6
) -> Fraction:
    """An exact upper bound on max c'x subject to A x <= b, x >= 0, from the solver's dual.

    The dual values y are rounded and cut at 0. By weak duality c'x <= b'y wherever A'y >= c, which is checked in
    exact arithmetic.

    Raises
    ------
    ArithmeticError
        If the rounded dual is not feasible: it certifies nothing.

    Examples
    --------
    >>> one = Fraction(1)
    >>> lp_upper_bound([one, one], [[one, 2 * one], [3 * one, one]], [4 * one, 6 * one])
    Fraction(14, 5)
    """
    cvxpy = _solver()
    x = cvxpy.Variable(len(objective), nonneg=True)
    rows = np.array(matrix, dtype=float) @ x <= np.array(limits, dtype=float)
    cvxpy.Problem(cvxpy.Maximize(np.array(objective, dtype=float) @ x), [rows]).solve(solver=cvxpy.CLARABEL)
    dual = [max(Fraction(0), y) for y in round_to_fractions(rows.dual_value, denominator)]
    for j, gain in enumerate(objective):
        if sum((y * row[j] for y, row in zip(dual, matrix, strict=True)), Fraction(0)) < gain:
            raise ArithmeticError(f"the rounded dual is infeasible in column {j}")
    return sum((y * Fraction(limit) for y, limit in zip(dual, limits, strict=True)), Fraction(0))


def _solver() -> Any:
    """The module cvxpy, whose own annotations are too partial to be checked against."""
    import cvxpy

    return cvxpy
