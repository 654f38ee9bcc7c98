"""Sums over a binomial law, started at its mode and cut where the rest can no longer be seen."""

from __future__ import annotations

from typing import Any

from numba import njit, prange

__all__ = ["parallel", "serial"]

BLOCK = 256
INVISIBLE = 2.0**-60


@njit(cache=True, error_model="numpy")
def _one(coefficients: Any, rising: Any, falling: Any, largest: float, p: float, q: float) -> float:
    """Self-normalised sum for one pass rate; `largest` bounds the coefficients, rising[k] is (n - k)/(k + 1)."""
    n = coefficients.size - 1
    mode = min(int((n + 1) * (p / (p + q))), n)
    value = coefficients[mode]
    weight, size = 1.0, abs(value)
    term, odds = 1.0, p / q
    for k in range(mode, n):
        ratio = rising[k] * odds
        term *= ratio
        value += term * coefficients[k + 1]
        weight += term
        size += term * abs(coefficients[k + 1])
        # later ratios are smaller, so the rest is below a geometric series
        if term * largest <= INVISIBLE * (1.0 - ratio) * size or term == 0.0:
            break
    term, odds = 1.0, q / p
    for k in range(mode - 1, -1, -1):
        ratio = falling[k] * odds
        term *= ratio
        value += term * coefficients[k]
        weight += term
        size += term * abs(coefficients[k])
        if term * largest <= INVISIBLE * (1.0 - ratio) * size or term == 0.0:
            break
    return value / weight


@njit(cache=True, error_model="numpy")
def serial(coefficients: Any, rising: Any, falling: Any, largest: float, p: Any, q: Any, out: Any) -> None:
    """Fill out[i] with the sum at p[i], q[i]."""
    for i in range(out.size):
        out[i] = _one(coefficients, rising, falling, largest, p[i], q[i])


@njit(cache=True, error_model="numpy", parallel=True)
def parallel(coefficients: Any, rising: Any, falling: Any, largest: float, p: Any, q: Any, out: Any) -> None:
    """As `serial`, with blocks of pass rates spread over threads."""
    for block in prange((out.size + BLOCK - 1) // BLOCK):
        rows = slice(block * BLOCK, min((block + 1) * BLOCK, out.size))
        serial(coefficients, rising, falling, largest, p[rows], q[rows], out[rows])
