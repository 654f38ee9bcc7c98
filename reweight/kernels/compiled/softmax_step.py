"""One policy-gradient step of a softmax over many answers, on weights that stay in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

__all__ = ["parallel", "serial"]

BLOCK = 8192
SHORT = 0.01  # below this exponent six Taylor terms are exact to 1e-17
H2, H3, H4, H5, H6 = 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720
ORDER_IS_FREE = {"contract", "reassoc", "nsz"}  # sums may be regrouped; NaN and infinity keep their meaning


@njit(cache=True, error_model="numpy", fastmath=ORDER_IS_FREE)
def _block(u: Any, g: float, largest: float) -> tuple[float, float]:
    """U *= exp(g u) in place; return the new sum and an upper bound of the new maximum."""
    total = 0.0
    if abs(g) * largest < SHORT:
        for i in range(u.size):
            x = g * u[i]
            value = u[i] * (1.0 + x * (1.0 + x * (H2 + x * (H3 + x * (H4 + x * (H5 + x * H6))))))
            u[i] = value
            total += value
    else:
        for i in range(u.size):
            value = u[i] * np.exp(g * u[i])
            u[i] = value
            total += value
    # u exp(g u) rises with u where g does not press it down
    return total, largest * np.exp(max(g * largest, 0.0))


@njit(cache=True, error_model="numpy")
def serial(u: Any, g: float, sums: Any, maxima: Any) -> None:
    """Step all blocks of one reward level; `sums` and `maxima` have one entry a block and are updated."""
    for block in range(sums.size):
        part = u[block * BLOCK : min((block + 1) * BLOCK, u.size)]
        sums[block], maxima[block] = _block(part, g, maxima[block])


@njit(cache=True, error_model="numpy", parallel=True)
def parallel(u: Any, g: float, sums: Any, maxima: Any) -> None:
    """As `serial`, with blocks spread over threads; the sums are those of each block, so no thread changes a bit."""
    for block in prange(sums.size):
        part = u[block * BLOCK : min((block + 1) * BLOCK, u.size)]
        sums[block], maxima[block] = _block(part, g, maxima[block])
