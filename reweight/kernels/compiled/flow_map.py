"""Clenshaw's recurrence in the cell that a log-odds falls in."""

from __future__ import annotations

from typing import Any

from numba import njit, prange

__all__ = ["parallel", "serial"]

BLOCK = 16_384


@njit(cache=True, error_model="numpy")
def serial(low: float, width: float, coefficients: Any, theta: Any, out: Any) -> None:
    """Fill out[i] with theta[i] plus the displacement there; theta lies in the cells."""
    cells, terms = coefficients.shape
    for i in range(out.size):
        place = (theta[i] - low) / width
        cell = min(int(place), cells - 1)
        row = coefficients[cell]
        twice = 4.0 * (place - cell) - 2.0
        later, last = 0.0, row[terms - 1]
        for k in range(terms - 2, 0, -1):
            later, last = last, twice * last - later + row[k]
        out[i] = theta[i] + (0.5 * twice * last - later + row[0])


@njit(cache=True, error_model="numpy", parallel=True)
def parallel(low: float, width: float, coefficients: Any, theta: Any, out: Any) -> None:
    """As `serial`, with blocks spread over threads."""
    for block in prange((out.size + BLOCK - 1) // BLOCK):
        rows = slice(block * BLOCK, min((block + 1) * BLOCK, out.size))
        serial(low, width, coefficients, theta[rows], out[rows])
