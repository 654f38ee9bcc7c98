"""Building blocks that loops over long arrays can be vectorised with: fused multiply-add, float bits, exp(-x)."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

__all__ = ["bits", "exp_of_minus", "float_of_bits", "fma", "use_wide_vectors"]


@intrinsic
def fma(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """A * b + c, rounded once."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.fma(*values)

    return types.float64(types.float64, types.float64, types.float64), generate


@intrinsic
def bits(typing_context: Any, x: Any) -> Any:
    """The 64 bits of a float as an unsigned integer."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], context.get_value_type(types.uint64))

    return types.uint64(types.float64), generate


@intrinsic
def float_of_bits(typing_context: Any, x: Any) -> Any:
    """The float that has these 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], context.get_value_type(types.float64))

    return types.float64(types.uint64), generate


@intrinsic
def use_wide_vectors(typing_context: Any) -> Any:
    """Let the function that calls this use 512-bit vectors where the processor has them.

    LLVM keeps to 256 bits on most of these processors, for code that mixes in little arithmetic; loops of nothing but
    arithmetic run twice as fast with 512. llvmlite's own `add` knows no attribute that has a value.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), generate


LARGEST = 708.0  # exp(-708) is the last that is a normal number
PER_OCTAVE = 1 / np.log(2)
OCTAVE = float.fromhex("0x1.62e42feep-1")  # log 2 to 32 bits, so that its product with a whole number is exact
OCTAVE_REST = float.fromhex("0x1.a39ef35793c76p-33")  # log 2 - OCTAVE
ROUNDER = 1.5 * 2.0**52  # adding it leaves the nearest whole number in the low bits
EXPONENT_PLACE = np.uint64(52)
# 1/k! for k = 2 to 13; |r| <= log(2) / 2 makes the next term 4e-18
F2, F3, F4, F5, F6, F7, F8, F9, F_10, F_11, F_12, F_13 = (1 / factorial(k) for k in range(2, 14))


@njit(cache=True, error_model="numpy")
def exp_of_minus(x: float) -> Any:
    """exp(-x) for x >= 0 to 2.3e-16, and exp(-708) beyond: exp(r) 2^k with |r| <= log(2) / 2, without a branch."""
    x = min(x, LARGEST)
    shifted = fma(-x, PER_OCTAVE, ROUNDER)
    k = shifted - ROUNDER
    r = fma(-k, OCTAVE_REST, fma(-k, OCTAVE, -x))
    s = fma(F_13, r, F_12)
    s = fma(fma(fma(fma(s, r, F_11), r, F_10), r, F9), r, F8)
    s = fma(fma(fma(fma(s, r, F7), r, F6), r, F5), r, F4)
    s = fma(fma(fma(fma(s, r, F3), r, F2), r, 1.0), r, 1.0)
    return float_of_bits(bits(s) + (bits(shifted) << EXPONENT_PLACE))
