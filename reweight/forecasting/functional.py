"""What a forecast estimates: the mean over prompts of E g(K), K ~ Bin(G, p), for a table g(0..G)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

from reweight.errors import InputError
from reweight.groups.advantages import advantages
from reweight.objectives.advantage import Advantage

__all__ = ["Functional", "dead_share", "pass_at", "signal"]

Floats = NDArray[np.float64]

BLOCK = 2**18
"""Numbers of one block of a table that is worked off block by block, to keep the memory small."""


@dataclass(frozen=True, eq=False)
class Functional:
    """A polynomial in the pass rate of degree at most G, in Bernstein form.

    Parameters
    ----------
    table : (G + 1,) array
        g(K): what a group of G samples is worth when K of them are correct.

    Notes
    -----
    With n >= G samples of which c are correct, the mean of g over all sub-groups of G samples is a hypergeometric mean,
    and its expectation over c ~ Bin(n, p) is the polynomial at p: the estimate of one prompt is unbiased, whatever p
    is. With n < G no function of c has that expectation unless the degree is really lower.

    Examples
    --------
    >>> dead_share(2).unbiased(2, np.array([0, 1, 2])).tolist()
    [1.0, 0.0, 1.0]
    >>> dead_share(2).at(np.array([0.1])).round(12).tolist()
    [0.82]
    """

    table: Floats

    @property
    def degree(self) -> int:
        """G, the number of samples that determine one value and identify the functional."""
        return self.table.size - 1

    @property
    def range(self) -> tuple[float, float]:
        """Bounds of the polynomial over all pass rates: the smallest and the largest g."""
        return float(self.table.min()), float(self.table.max())

    def unbiased(self, n: int | NDArray[np.int64], c: NDArray[np.int64]) -> Floats:
        """Hypergeometric mean of g for prompts with c (P,) correct of n >= G samples (one n, or P); shape (P,)."""
        size = self.degree
        n = np.broadcast_to(n, c.shape)
        if c.size and n.min() < size:
            raise InputError(f"{n.min()} samples a prompt do not identify what needs {size}; ask for its bounds")
        values = np.empty(c.size)
        for part in _blocks(c.size, size + 1):
            # K right samples of the sub-group come with G - K wrong ones, hence the reversal.
            right, wrong = _log_choose(c[part], size), _log_choose(n[part] - c[part], size)[:, ::-1]
            values[part] = self._mean(np.exp(right + wrong - _log_choose(n[part], size)[:, -1:]))
        return values

    def at(self, pass_rate: Floats) -> Floats:
        """The polynomial at each pass rate (M,)."""
        size = self.degree
        k = np.arange(size + 1)
        log_ways = gammaln(size + 1) - gammaln(k + 1) - gammaln(size - k + 1)
        values = np.empty(pass_rate.size)
        for part in _blocks(pass_rate.size, size + 1):
            p = pass_rate[part, None]
            values[part] = self._mean(np.exp(log_ways + xlogy(k, p) + xlog1py(size - k, -p)))
        return values

    def _mean(self, law: Floats) -> Floats:
        """Mean of g under each law of K (M, G + 1); kept inside the range of g, which rounding can leave by a unit."""
        return np.clip(law @ self.table, *self.range)


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of rows that hold about BLOCK numbers each."""
    step = max(1, BLOCK // columns)
    return (slice(start, start + step) for start in range(0, rows, step))


def _log_choose(top: NDArray[np.int64], most: int) -> Floats:
    """Logarithm of C(top, k) for k = 0..most, -inf where k > top; shape (P, most + 1).

    Sums of log((top - i)/(i + 1)) keep the rounding at a few units per factor; a difference of log-factorials of `top`
    would lose digits in proportion to the factorial.
    """
    i = np.arange(most)
    with np.errstate(divide="ignore"):
        factors = np.log(np.maximum(top[:, None] - i, 0) / (i + 1))
    return np.concatenate([np.zeros((top.size, 1)), np.cumsum(factors, axis=1)], axis=1)


def dead_share(group_size: int) -> Functional:
    """Probability that a group is all correct or all wrong, p^G + q^G (R01: it has no advantage)."""
    table = np.zeros(group_size + 1)
    table[[0, -1]] = 1.0
    return Functional(table)


def pass_at(k: int) -> Functional:
    """Probability that at least one of k samples is correct, 1 - q^k (Yue et al. 2504.13837); k = 1: pass rate."""
    return Functional(np.concatenate([[0.0], np.ones(k)]))


def signal(group_size: int, advantage: Advantage) -> Functional:
    """Expected reward times advantage of a rollout, E[(1/G) sum r_i A_i] = p q Delta_G(p) (R01, docs/theory.md).

    Rewards are 1 for correct and 0 for wrong. Dead groups count with their zero.

    Raises
    ------
    InputError
        If the advantage of a group depends on the other groups of its batch, or on answer lengths.

    Examples
    --------
    >>> signal(4, Advantage()).table.round(4).tolist()
    [0.0, 0.433, 0.5, 0.433, 0.0]
    >>> signal(4, Advantage(scale="none")).table.round(4).tolist()  # 3/4 p q, of degree two
    [0.0, 0.375, 0.0]
    """
    if advantage.couples_prompts:
        raise InputError("the advantage uses statistics of a batch, which counts do not hold; choose another preset")
    if advantage.baseline == "length_weighted":
        raise InputError("the advantage is weighted by answer lengths, which counts do not hold; choose another preset")
    rewards = np.tri(group_size + 1, group_size, k=-1)
    # Each K is a batch of its own: (G + 1, 1, G).
    worth = rewards * advantages(rewards[:, None, :], advantage)[:, 0, :]
    return _of_lowest_degree(worth.mean(axis=1))


def _of_lowest_degree(table: Floats) -> Functional:
    """A table that is a parabola in K is a parabola in p, so that two samples a prompt identify it.

    This is so without a scale, where p q Delta_G = (G-1)/G p q, and for groups of three. With
    g = a0 + a1 K + a2 K(K-1)/2 the expectation is a0 + a1 G p + a2 G(G-1)/2 p^2, whose table for two samples is
    a0, a0 + a1 G/2, a0 + a1 G + a2 G(G-1)/2.
    """
    size = table.size - 1
    third = np.diff(table, 3)
    if size < 3 or np.abs(third).max() > 1e-13 * np.abs(table).max():
        return Functional(table)
    first, second = float(table[1] - table[0]), float(table[2] - 2 * table[1] + table[0])
    middle = table[0] + first * size / 2
    return Functional(np.array([table[0], middle, table[0] + first * size + second * size * (size - 1) / 2]))
