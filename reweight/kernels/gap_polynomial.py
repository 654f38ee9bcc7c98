"""The gap of a small group as an even polynomial in q - p.

A symmetric Bernstein polynomial is a polynomial in y = (q - p)^2. For b_j = 1/(s_{j+1} + eps) its coefficients are all
positive: 1/(s + eps) is a power series in t^2, t the group's own difference of shares, with positive coefficients, and
every moment of t is a polynomial in q - p with positive coefficients. So Horner's rule loses no digit, unlike in p q.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np

from reweight.checks import Floats
from reweight.kernels.bernstein import PARALLEL_FROM

__all__ = ["LARGEST_DEGREE", "even_coefficients", "even_polynomial", "even_polynomial_twin"]

LARGEST_DEGREE = 30
"""Largest degree n of the Bernstein form: beyond it a table is as fast."""


def even_coefficients(coefficients: Floats) -> Floats:
    """Return the coefficients, lowest first, in y = (q - p)^2 of a symmetric polynomial in Bernstein form.

    Parameters
    ----------
    coefficients : ndarray, shape (n + 1,)
        A palindrome; n is the degree.

    Returns
    -------
    ndarray, shape (n // 2 + 1,)
        Computed in exact arithmetic and rounded once.

    Notes
    -----
    The sum over j of C(n, j) b_j p^j q^(n-j), with p = (1 - u)/2 and q = (1 + u)/2. Source: H1, R01.

    Examples
    --------
    >>> even_coefficients(np.array([3.0, 1.0, 3.0]))  # 3 (p^2 + q^2) + 2 p q = 2 + (q - p)^2
    array([2., 1.])
    """
    n = len(coefficients) - 1
    total = [Fraction(0)] * (n + 1)
    row = [comb(n, k) for k in range(n + 1)]  # (1 + u)^(n-j) (1 - u)^j, for j = 0
    for j, coefficient in enumerate(coefficients.tolist()):
        scale = comb(n, j) * Fraction(coefficient) / 2**n
        total = [each + scale * power for each, power in zip(total, row, strict=True)]
        row = _next_row(row)
    return np.array([float(each) for each in total[::2]])


def even_polynomial(even: Floats, p: Floats, q: Floats, *, out: Floats | None = None) -> Floats:
    """Evaluate a polynomial in (q - p)^2 at p + q = 1, compiled; error about n 1e-16 for a degree n in p.

    Parameters
    ----------
    even : ndarray, shape (m,)
        Coefficients, lowest first.
    p, q : ndarray, shape (...)
    out : ndarray, shape (...), optional
        Where the result goes, contiguous; a new array by default.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> even_polynomial(np.array([2.0, 1.0]), np.array([0.0, 0.5]), np.array([1.0, 0.5]))
    array([3., 2.])
    """
    from reweight.kernels.compiled import gap_polynomial as compiled

    result = np.empty(p.shape) if out is None else out
    loop = compiled.parallel if p.size >= PARALLEL_FROM else compiled.serial
    loop(padded(even), np.ravel(p), np.ravel(q), result.reshape(-1))
    return result


def even_polynomial_twin(even: Floats, p: Floats, q: Floats) -> Floats:
    """Evaluate what :func:`even_polynomial` does, in numpy."""
    y = (q - p) ** 2
    value = np.full(np.shape(y), even[-1])
    for coefficient in even[-2::-1]:
        value *= y
        value += coefficient
    return value


def padded(even: Floats) -> tuple[float, ...]:
    """Coefficients highest first, filled up with zeros to 4, 8 or 16, the lengths that are ever compiled."""
    length = max(4, 1 << (len(even) - 1).bit_length())
    return tuple([0.0] * (length - len(even)) + even[::-1].tolist())


def _next_row(row: list[int]) -> list[int]:
    """Multiply by (1 - u)/(1 + u); the division leaves no rest but in the row after the last."""
    quotient: list[int] = []
    for power in row[:-1]:
        quotient.append(power - (quotient[-1] if quotient else 0))
    return [low - high for low, high in zip([*quotient, 0], [0, *quotient], strict=True)]
