"""Piecewise polynomials whose piece is read off the bits of x = p q."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from reweight.kernels.compiled.arithmetic import bits, float_of_bits, fma

__all__ = ["parallel", "piece", "serial"]

BLOCK = 16_384
CELL_PLACE = np.uint64(48)  # above it: the exponent and four bits of the mantissa
WITHIN_CELL = np.uint64((1 << 48) - 1)
ONE = np.uint64(0x3FF0_0000_0000_0000)


@njit(cache=True, error_model="numpy")
def piece(table: Any, lowest: float, first: Any, x: float) -> Any:
    """The value at x = p q; constant below `lowest`, where cell `first` begins."""
    code = bits(max(x, lowest))
    row = table[(code >> CELL_PLACE) - first]
    z = fma(float_of_bits((code & WITHIN_CELL) | ONE), 32.0, -33.0)
    value = fma(fma(fma(row[7], z, row[6]), z, row[5]), z, row[4])
    return fma(fma(fma(fma(value, z, row[3]), z, row[2]), z, row[1]), z, row[0])


@njit(cache=True, error_model="numpy")
def serial(table: Any, lowest: float, first: Any, p: Any, q: Any, out: Any) -> None:
    """Fill out[i] with the value at p[i] q[i]."""
    for i in range(out.size):
        out[i] = piece(table, lowest, first, p[i] * q[i])


@njit(cache=True, error_model="numpy", parallel=True)
def parallel(table: Any, lowest: float, first: Any, p: Any, q: Any, out: Any) -> None:
    """As `serial`, with blocks spread over threads."""
    for block in prange((out.size + BLOCK - 1) // BLOCK):
        rows = slice(block * BLOCK, min((block + 1) * BLOCK, out.size))
        serial(table, lowest, first, p[rows], q[rows], out[rows])
