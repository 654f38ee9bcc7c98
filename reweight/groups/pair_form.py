"""Expected weights in the pair form: one all-positive table, independent of the policy, times monomials of the masses.

For levels l_a with masses pi_a, w_a = ((G-1)/G) sum_b pi_b (l_a - l_b) S_ab, where S_ab = E[1/(s + eps) | members 1 and
2 have the levels a and b] is linear in the law of the other G - 2 members (R28). So a batch of policies costs one
matrix product, and nothing cancels but the differences of levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from reweight.groups.advantages import regularised
from reweight.groups.expectation import compositions, monomials, multinomial_coefficients
from reweight.objectives.advantage import Advantage

__all__ = ["pair_rows", "pair_weights"]

Floats = NDArray[np.float64]
BLOCK = 512
KEPT_TABLES = 32


def pair_rows(levels: int, group_size: int) -> int:
    """Return the number of compositions that the table of this many levels has a column for.

    Examples
    --------
    >>> pair_rows(3, 8), pair_rows(5, 8)
    (28, 210)
    """
    return comb(group_size - 2 + levels - 1, levels - 1)


def pair_weights(levels: Floats, masses: Floats, group_size: int, advantage: Advantage) -> Floats:
    """Return E[A_1 | level] for baselines "mean" and "leave_one_out" with scale "std", any rule for eps.

    Parameters
    ----------
    levels : ndarray, shape (L,)
        Distinct rewards in increasing order, at least two.
    masses : ndarray, shape (P, L)
        Their probabilities, one row a policy.

    Returns
    -------
    ndarray, shape (P, L)
    """
    table = _pair_table(levels.tobytes(), group_size, advantage)
    result = np.empty_like(masses)
    for start in range(0, len(masses), BLOCK):
        block = np.ascontiguousarray(masses[start : start + BLOCK].T)
        spread = table.values @ monomials(block, table.counts)
        weights = np.zeros_like(block)
        for row, (a, b) in enumerate(table.pairs):
            push = (levels[b] - levels[a]) * spread[row]
            weights[b] += block[a] * push
            weights[a] -= block[b] * push
        result[start : start + BLOCK] = weights.T
    return result


@dataclass(frozen=True, eq=False)
class PairTable:
    """The pairs a < b of levels, the compositions of G - 2, shape (M, L), and the table, shape (pairs, M)."""

    pairs: list[tuple[int, int]]
    counts: NDArray[np.int64]
    values: Floats


@lru_cache(maxsize=KEPT_TABLES)
def _pair_table(level_bytes: bytes, group_size: int, advantage: Advantage) -> PairTable:
    levels = np.frombuffer(level_bytes)
    size = len(levels)
    counts = compositions(group_size - 2, size)
    pairs = [(a, b) for a in range(size) for b in range(a + 1, size)]
    ways = multinomial_coefficients(counts)
    share = 1.0 if advantage.baseline == "leave_one_out" else (group_size - 1) / group_size
    values = np.empty((len(pairs), len(counts)))
    for row, (a, b) in enumerate(pairs):
        whole = counts.astype(np.float64)
        whole[:, [a, b]] += 1
        values[row] = share * ways / regularised(_std(levels, whole, group_size, advantage.ddof), advantage)
    return PairTable(pairs, counts, values)


def _std(levels: Floats, counts: Floats, group_size: int, ddof: int) -> Floats:
    """Return the standard deviation of groups given by counts, (M, L), each measured in units of its own range."""
    present = counts > 0
    low = np.where(present, levels, np.inf).min(axis=1, keepdims=True)
    unit = np.where(present, levels, -np.inf).max(axis=1, keepdims=True) - low
    places = np.where(present, (levels - low) / unit, 0.0)
    centred = places - (counts * places).sum(axis=1, keepdims=True) / group_size
    return np.asarray(unit[:, 0] * np.sqrt((counts * centred**2).sum(axis=1) / (group_size - ddof)))
