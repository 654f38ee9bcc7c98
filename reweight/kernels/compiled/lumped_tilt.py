"""Many prompts, many tilts: each step needs one exponential and one polynomial, and nothing leaves the first cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from reweight.kernels.compiled.arithmetic import exp_of_minus
from reweight.kernels.compiled.gap_polynomial import even_horner
from reweight.kernels.compiled.gap_table import piece

__all__ = ["by_polynomial", "by_table"]

BLOCK = 1024


@njit(cache=True, error_model="numpy")
def _polynomial_steps(theta: Any, steps: int, eta: float, highest_first: Any) -> None:
    for _ in range(steps):
        for i in range(theta.size):
            e = exp_of_minus(abs(theta[i]))
            theta[i] += eta * even_horner(highest_first, (1.0 - e) / (1.0 + e))


@njit(cache=True, error_model="numpy")
def _table_steps(theta: Any, steps: int, eta: float, table: Any, lowest: float, first: Any, x: Any) -> None:
    for _ in range(steps):
        for i in range(theta.size):
            e = exp_of_minus(abs(theta[i]))
            x[i] = e / ((1.0 + e) * (1.0 + e))
        for i in range(theta.size):
            theta[i] += eta * piece(table, lowest, first, x[i])


@njit(cache=True, error_model="numpy", parallel=True)
def by_polynomial(theta: Any, steps: int, eta: float, highest_first: Any) -> None:
    """Move every log-odds `steps` times, in place, by eta times a polynomial in (q - p)^2."""
    for block in prange((theta.size + BLOCK - 1) // BLOCK):
        part = theta[block * BLOCK : min((block + 1) * BLOCK, theta.size)]
        _polynomial_steps(part, steps, eta, highest_first)


@njit(cache=True, error_model="numpy", parallel=True)
def by_table(theta: Any, steps: int, eta: float, table: Any, lowest: float, first: Any) -> None:
    """The same with the gap off its table."""
    for block in prange((theta.size + BLOCK - 1) // BLOCK):
        part = theta[block * BLOCK : min((block + 1) * BLOCK, theta.size)]
        _table_steps(part, steps, eta, table, lowest, first, np.empty(part.size))
