"""Expected weights by quadrature: 1/s as a mixture of Gaussians, under which the members of a group are independent.

With S the sum of squared deviations of a group from its mean,

    1/(sqrt(S) + e) = integral over u > 0 of h(u) exp(-u^2 S),
    exp(-u^2 S)     = u sqrt(G/pi) * integral over c of the product over members of exp(-u^2 (r_i - c)^2),

and h is positive. At a node (u, c) the group factorises, so its cost does not grow with G. In the pair form (R28) a
node gives level a the weight F E_a sum_b pi_b (l_a - l_b) E_b, with E = exp(-u^2 (l - c)^2) and F = (pi . E)^(G-2).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx

from reweight.objectives.advantage import Advantage

__all__ = ["quadrature_weights"]

Floats = NDArray[np.float64]
DIGITS = 40.0
"""What is left out is exp(-DIGITS) of what is kept."""
SINH_STEP, DOUBLE_EXPONENTIAL_STEP = 0.12, 0.1
BLOCK, MOST_PAIRED_LEVELS = 4_000_000, 16


def quadrature_weights(levels: Floats, masses: Floats, group_size: int, advantage: Advantage) -> Floats:
    """Return E[A_1 | level] for baselines "mean" and "leave_one_out" with scale "std".

    Parameters
    ----------
    levels : ndarray, shape (L,)
        Distinct rewards in increasing order, at least two.
    masses : ndarray, shape (P, L)
        Their probabilities, one row a policy.
    group_size : int
    advantage : Advantage
        With eps rule "added" or "inside_root", or eps = 0.

    Returns
    -------
    ndarray, shape (P, L)
    """
    unit = levels[-1] - levels[0]
    share = 1.0 if advantage.baseline == "leave_one_out" else (group_size - 1) / group_size
    scale = share * np.sqrt(group_size - advantage.ddof)
    add = _by_pairs if len(levels) <= MOST_PAIRED_LEVELS else _by_gaps
    result = np.zeros((len(masses), len(levels)))
    for u, weight in zip(*_scales(levels, group_size, advantage), strict=True):
        step = np.pi / (u * np.sqrt(group_size * DIGITS))
        for origin, offsets in _windows(levels, u, step, group_size):
            places = (levels - levels[origin]) / unit
            size = max(1, BLOCK // (len(levels) * len(masses)))
            for start in range(0, len(offsets), size):
                with np.errstate(over="ignore"):
                    kernel = np.exp(-((u * (places[:, None] - offsets[start : start + size])) ** 2))
                factor = weight * _power(masses @ kernel, group_size - 2)
                add(result, masses, levels, kernel, factor)
    return np.asarray(result * scale / unit)


def _by_pairs(result: Floats, masses: Floats, levels: Floats, kernel: Floats, factor: Floats) -> None:
    """Add what nodes give each level, pair by pair: one matrix product for any number of policies."""
    low, high = np.triu_indices(len(levels), 1)
    spread = factor @ (kernel[low] * kernel[high]).T
    push = spread * (levels[high] - levels[low])
    for pair, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        result[:, b] += masses[:, a] * push[:, pair]
        result[:, a] -= masses[:, b] * push[:, pair]


def _by_gaps(result: Floats, masses: Floats, levels: Floats, kernel: Floats, factor: Floats) -> None:
    """The same along the sorted levels, whose differences are sums of gaps: linear in the number of levels."""
    gaps = np.diff(levels)[:, None]
    for row in range(len(masses)):
        weighted = masses[row][:, None] * kernel
        below = np.cumsum(np.cumsum(weighted, axis=0)[:-1] * gaps, axis=0)
        above = np.cumsum((np.cumsum(weighted[::-1], axis=0)[:-1] * gaps[::-1]), axis=0)[::-1]
        push = np.zeros_like(kernel)
        push[1:] += below
        push[:-1] -= above
        result[row] += (push * kernel) @ factor[row]


def _scales(levels: Floats, size: int, advantage: Advantage) -> tuple[Floats, Floats]:
    """Return the nodes u, in units of the range, and their weights, those of the c-integral included."""
    unit = levels[-1] - levels[0]
    eps = float(advantage.eps)
    largest = np.sqrt(2 * DIGITS) * unit / np.diff(levels).min()  # beyond, exp(-u^2 S) is nothing for the closest two
    smallest = 1 / np.sqrt(size)  # S is at most G/4
    if eps == 0 or advantage.eps_rule == "inside_root":
        t = np.arange(
            SINH_STEP / 2, np.arcsinh(largest / smallest) + SINH_STEP, SINH_STEP
        )  # the integrand is even in t
        u = smallest * np.sinh(t)
        weight = SINH_STEP * smallest * np.cosh(t) * 2 / np.sqrt(np.pi)
        if eps > 0:
            with np.errstate(over="ignore"):
                weight = weight * np.exp(-((u / unit) ** 2) * (size - advantage.ddof) * eps)
    else:
        t = np.arange(-4.0, np.log(largest / smallest) + 3.0, DOUBLE_EXPONENTIAL_STEP)
        u = smallest * np.exp(t - 2.0 - np.exp(-t))
        mixing = _mixing(u / unit * eps * np.sqrt(size - advantage.ddof))
        weight = DOUBLE_EXPONENTIAL_STEP * u * (1 + np.exp(-t)) * mixing
    return u, weight * np.sqrt(np.pi / DIGITS)  # the step in c times u sqrt(G/pi)


def _windows(levels: Floats, u: float, step: float, size: int) -> Iterator[tuple[int, Floats]]:
    """Yield where the c-integral needs nodes: near levels that are close enough, at this u, for two members to share.

    Each window is the index of its lowest level and the nodes as distances from that level, in units of the range: so
    levels that nearly tie are told apart wherever they are.
    """
    unit = levels[-1] - levels[0]
    reach, close = np.sqrt(DIGITS / size) / u, np.sqrt(2 * DIGITS) / u
    ends = np.flatnonzero(np.diff(levels) / unit > close) + 1
    for run in np.split(np.arange(len(levels)), ends):
        if len(run) > 1:
            width = (levels[run[-1]] - levels[run[0]]) / unit
            yield int(run[0]), np.arange(-np.ceil(reach / step), np.ceil((width + reach) / step) + 1) * step


def _power(base: Floats, exponent: int) -> Floats:
    """Return base ** exponent by squaring, several times faster than a general power."""
    result = np.ones_like(base)
    while exponent:
        if exponent & 1:
            result *= base
        exponent >>= 1
        if exponent:
            base = base * base
    return result


def _mixing(x: Floats) -> Floats:
    """Return 2/sqrt(pi) - 2 x erfcx(x), the density of u in 1/(sqrt(S) + e) at x = e u, without cancellation."""
    near = np.minimum(x, 20.0)
    with np.errstate(over="ignore"):
        inverse = 1 / np.maximum(x, 20.0) ** 2
    far = inverse * (1 - inverse * 3 / 2 * (1 - inverse * 5 / 2 * (1 - inverse * 7 / 2 * (1 - inverse * 9 / 2))))
    return np.asarray(np.where(x < 20, 2 / np.sqrt(np.pi) - 2 * near * erfcx(near), far / np.sqrt(np.pi)))
