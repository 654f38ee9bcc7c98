"""Horner's rule in (q - p)^2 over long arrays; the coefficients are a tuple, so that the compiler unrolls it."""

from __future__ import annotations

from typing import Any

from numba import njit, prange

from reweight.kernels.compiled.arithmetic import fma

__all__ = ["even_horner", "parallel", "serial"]

BLOCK = 16_384


@njit(cache=True, error_model="numpy")
def even_horner(highest_first: Any, u: float) -> Any:
    """The even polynomial with these coefficients at u."""
    y = u * u
    value = highest_first[0]
    for coefficient in highest_first[1:]:
        value = fma(value, y, coefficient)
    return value


@njit(cache=True, error_model="numpy")
def serial(highest_first: Any, p: Any, q: Any, out: Any) -> None:
    """Fill out[i] with the polynomial at q[i] - p[i]."""
    for i in range(out.size):
        out[i] = even_horner(highest_first, q[i] - p[i])


@njit(cache=True, error_model="numpy", parallel=True)
def parallel(highest_first: Any, p: Any, q: Any, out: Any) -> None:
    """As `serial`, with blocks spread over threads."""
    for block in prange((out.size + BLOCK - 1) // BLOCK):
        rows = slice(block * BLOCK, min((block + 1) * BLOCK, out.size))
        serial(highest_first, p[rows], q[rows], out[rows])
