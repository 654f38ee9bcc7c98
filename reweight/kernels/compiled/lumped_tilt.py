"""Many prompts, many tilts: a block of prompts goes through all of its steps without leaving the first cache."""

from __future__ import annotations

from typing import Any

from numba import njit, prange

from reweight.kernels.compiled.arithmetic import exp_of_minus, fma, use_wide_vectors
from reweight.kernels.compiled.gap_polynomial import even_horner
from reweight.kernels.compiled.gap_table import piece

__all__ = [
    "short_steps",
    "short_steps_parallel",
    "steps_of_any_size",
    "steps_of_any_size_parallel",
    "table_steps",
    "table_steps_parallel",
]

BLOCK = 256
RENEWED_AFTER = 16  # steps; in them the rounding of u grows no more than 15-fold
T3, T5, T7, T9, T11 = -1 / 3, 2 / 15, -17 / 315, 62 / 2835, -1382 / 155_925  # tanh(z) = z + T3 z^3 + ...


@njit(cache=True, error_model="numpy")
def _tanh_half(theta: Any, u: Any) -> None:
    use_wide_vectors()
    for i in range(theta.size):
        e = exp_of_minus(abs(theta[i]))
        away = (1.0 - e) / (1.0 + e)
        u[i] = away if theta[i] > 0.0 else -away


@njit(cache=True, error_model="numpy")
def _short_step(theta: Any, u: Any, half_eta: float, highest_first: Any) -> None:
    """Move theta by 2 z and u = tanh(theta / 2) by the addition rule, for z <= 1/12: no exponential, no division."""
    use_wide_vectors()
    for i in range(theta.size):
        z = half_eta * even_horner(highest_first, u[i])
        theta[i] = fma(2.0, z, theta[i])
        w = z * z
        t = z * fma(fma(fma(fma(fma(T11, w, T9), w, T7), w, T5), w, T3), w, 1.0)
        x = u[i] * t
        x2 = x * x
        x4 = x2 * x2
        inverse = (1.0 - x) * (1.0 + x2)  # 1 / (1 + x) = (1 - x)(1 + x^2)(1 + x^4)(1 + x^8) / (1 - x^16)
        inverse = fma(inverse, x4, inverse)
        inverse = fma(inverse, x4 * x4, inverse)
        u[i] = fma(t * (1.0 - u[i] * u[i]), inverse, u[i])


@njit(cache=True, error_model="numpy")
def short_steps(theta: Any, u: Any, steps: int, eta: float, highest_first: Any) -> None:
    """Move every log-odds `steps` times, in place, by eta times a polynomial in (q - p)^2: 1/6 at most."""
    use_wide_vectors()
    for start in range(0, steps, RENEWED_AFTER):
        _tanh_half(theta, u)
        for _ in range(min(RENEWED_AFTER, steps - start)):
            _short_step(theta, u, 0.5 * eta, highest_first)


@njit(cache=True, error_model="numpy")
def steps_of_any_size(theta: Any, u: Any, steps: int, eta: float, highest_first: Any) -> None:
    """The same without a limit to the polynomial; `u` is scratch of the size of theta."""
    use_wide_vectors()
    for _ in range(steps):
        _tanh_half(theta, u)
        for i in range(theta.size):
            theta[i] = fma(eta, even_horner(highest_first, u[i]), theta[i])


@njit(cache=True, error_model="numpy")
def table_steps(theta: Any, x: Any, steps: int, eta: float, table: Any, lowest: float, first: Any) -> None:
    """The same with the gap off its table."""
    for _ in range(steps):
        for i in range(theta.size):
            e = exp_of_minus(abs(theta[i]))
            x[i] = e / ((1.0 + e) * (1.0 + e))
        for i in range(theta.size):
            theta[i] = fma(eta, piece(table, lowest, first, x[i]), theta[i])


@njit(cache=True, error_model="numpy", parallel=True)
def short_steps_parallel(theta: Any, scratch: Any, steps: int, eta: float, highest_first: Any) -> None:
    """As `short_steps`, with blocks of prompts spread over threads."""
    for block in prange((theta.size + BLOCK - 1) // BLOCK):
        use_wide_vectors()
        rows = slice(block * BLOCK, min((block + 1) * BLOCK, theta.size))
        short_steps(theta[rows], scratch[rows], steps, eta, highest_first)


@njit(cache=True, error_model="numpy", parallel=True)
def steps_of_any_size_parallel(theta: Any, scratch: Any, steps: int, eta: float, highest_first: Any) -> None:
    """As `steps_of_any_size`, with blocks of prompts spread over threads."""
    for block in prange((theta.size + BLOCK - 1) // BLOCK):
        use_wide_vectors()
        rows = slice(block * BLOCK, min((block + 1) * BLOCK, theta.size))
        steps_of_any_size(theta[rows], scratch[rows], steps, eta, highest_first)


@njit(cache=True, error_model="numpy", parallel=True)
def table_steps_parallel(
    theta: Any, scratch: Any, steps: int, eta: float, table: Any, lowest: float, first: Any
) -> None:
    """As `table_steps`, with blocks of prompts spread over threads."""
    for block in prange((theta.size + BLOCK - 1) // BLOCK):
        use_wide_vectors()
        rows = slice(block * BLOCK, min((block + 1) * BLOCK, theta.size))
        table_steps(theta[rows], scratch[rows], steps, eta, table, lowest, first)
