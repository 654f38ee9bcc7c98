"""A polynomial in Bernstein form at given pass rates: which kernel evaluates it.

Few pass rates take numpy. Many take compiled loops: a sum that starts at the mode or, where p and q can be exchanged, a
polynomial in (q - p)^2 for small groups and a table in p q for large ones.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reweight.groups.binomial import binomial_probabilities
from reweight.kernels.bernstein import bernstein
from reweight.kernels.gap_polynomial import LARGEST_DEGREE, even_coefficients, even_polynomial, even_polynomial_twin
from reweight.kernels.gap_table import GapTable, gap_table, table_lookup

__all__ = ["COMPILED_FROM", "bernstein_form"]

Floats = NDArray[np.float64]
COMPILED_FROM = 20_000
"""Pass rates times coefficients from which compiled loops are worth their start."""

KEPT = 64


def bernstein_form(coefficients: Floats, p: Floats, q: Floats, *, symmetric: bool = False) -> Floats:
    """Compute E[coefficients[K]] for K ~ Bin(n, p).

    Parameters
    ----------
    coefficients : ndarray, shape (n + 1,)
    p, q : ndarray, shape (...)
        Probabilities of success and failure, p + q = 1.
    symmetric : bool
        Whether the coefficients are a palindrome without negative numbers, up to rounding.

    Returns
    -------
    ndarray, shape (...)
        To about 1e-15 of E|coefficients[K]|.

    Examples
    --------
    >>> bernstein_form(np.array([0.0, 0.5, 1.0]), np.array([0.2, 1.0]), np.array([0.8, 0.0]))
    array([0.2, 1. ])
    """
    many = p.size * len(coefficients) >= COMPILED_FROM
    if symmetric and len(coefficients) - 1 <= LARGEST_DEGREE:
        return (even_polynomial if many else even_polynomial_twin)(_even(_mirrored(coefficients)), p, q)
    if not many:
        return np.asarray(binomial_probabilities(len(coefficients) - 1, p, q) @ coefficients)
    if symmetric:
        return table_lookup(_table(_mirrored(coefficients)), p, q)
    return bernstein(coefficients, p, q)


def _mirrored(coefficients: Floats) -> bytes:
    return ((coefficients + coefficients[::-1]) / 2).tobytes()


@lru_cache(maxsize=KEPT)
def _even(coefficient_bytes: bytes) -> Floats:
    return even_coefficients(np.frombuffer(coefficient_bytes))


@lru_cache(maxsize=KEPT)
def _table(coefficient_bytes: bytes) -> GapTable:
    return gap_table(np.frombuffer(coefficient_bytes))
