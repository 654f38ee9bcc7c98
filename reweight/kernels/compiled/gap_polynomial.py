"""Horner's rule in (q - p)^2 over long arrays, for 4, 8 or 16 coefficients in a tuple."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit, prange
from numba.extending import overload

from reweight.kernels.compiled.arithmetic import fma

__all__ = ["even_horner", "parallel", "serial"]

BLOCK = 16_384


def even_horner(highest_first: tuple[float, ...], u: float) -> float:
    """The even polynomial with these coefficients at u; compiled, it's written out for SIMD by the tuple's length."""
    value = 0.0
    for coefficient in highest_first:
        value = value * u * u + coefficient
    return value


@overload(even_horner, inline="always")
def _written_out(highest_first: Any, u: Any) -> Callable[[Any, Any], Any]:
    return {4: _four, 8: _eight, 16: _sixteen}[len(highest_first)]


def _four(highest_first: Any, u: Any) -> Any:
    c, y = highest_first, u * u
    return fma(fma(fma(c[0], y, c[1]), y, c[2]), y, c[3])


def _eight(highest_first: Any, u: Any) -> Any:
    c, y = highest_first, u * u
    value = fma(fma(fma(c[0], y, c[1]), y, c[2]), y, c[3])
    return fma(fma(fma(fma(value, y, c[4]), y, c[5]), y, c[6]), y, c[7])


def _sixteen(highest_first: Any, u: Any) -> Any:
    c, y = highest_first, u * u
    value = fma(fma(fma(c[0], y, c[1]), y, c[2]), y, c[3])
    value = fma(fma(fma(fma(value, y, c[4]), y, c[5]), y, c[6]), y, c[7])
    value = fma(fma(fma(fma(value, y, c[8]), y, c[9]), y, c[10]), y, c[11])
    return fma(fma(fma(fma(value, y, c[12]), y, c[13]), y, c[14]), y, c[15])


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
