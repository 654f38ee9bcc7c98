"""One policy-gradient step of a softmax over many answers, on weights that stay in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from reweight.kernels.compiled.arithmetic import bits, exp_of_minus, float_of_bits

__all__ = ["parallel", "serial"]

SHORT = 1e-4  # below this exponent four Taylor terms are exact to 1e-17
H2, H3 = 1 / 2, 1 / 6
ORDER_IS_FREE = {"contract", "reassoc", "nsz"}  # sums may be regrouped; NaN and infinity keep their meaning
NOTHING = np.uint64(0)


@njit(cache=True, error_model="numpy", fastmath=ORDER_IS_FREE)
def _block(u: Any, g: float, largest: float) -> Any:
    """U *= exp(g u) in place; return the new sum and maximum.

    The maximum is taken of the bits: positive floats are ordered as these are, and integers have no NaN that would keep
    the loop from being vectorised.
    """
    total, top = 0.0, NOTHING
    if abs(g) * largest < SHORT:
        for i in range(u.size):
            x = g * u[i]
            value = u[i] * (1.0 + x * (1.0 + x * (H2 + x * H3)))
            u[i] = value
            total += value
            top = max(top, bits(value))
    else:
        for i in range(u.size):
            value = u[i] * exp_of_minus(-g * u[i])  # |g u| is far below 708, where this holds for both signs
            u[i] = value
            total += value
            top = max(top, bits(value))
    return total, float_of_bits(top)


@njit(cache=True, error_model="numpy")
def serial(u: Any, starts: Any, ends: Any, rates: Any, sums: Any, maxima: Any) -> None:
    """Step all blocks, each with its rate; `sums` and `maxima` have one entry a block and are updated."""
    for b in range(sums.size):
        sums[b], maxima[b] = _block(u[starts[b] : ends[b]], rates[b], maxima[b])


@njit(cache=True, error_model="numpy", parallel=True)
def parallel(u: Any, starts: Any, ends: Any, rates: Any, sums: Any, maxima: Any) -> None:
    """As `serial`, with blocks spread over threads; a block is summed by one thread, so their number changes no bit."""
    for b in prange(sums.size):
        sums[b], maxima[b] = _block(u[starts[b] : ends[b]], rates[b], maxima[b])
