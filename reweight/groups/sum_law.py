"""The exact law of sums of independent vectors of whole numbers, by convolution.

All terms are positive, and equal sums are added up; that two sums are equal is decided on whole numbers, so no order of
addition and no rounding keeps apart what belongs together.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError

__all__ = ["SumLaw"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
MOST_STATES, MOST_CELLS = 2_000_000, 400_000_000
BLOCK_CELLS, DENSE_CELLS = 4_000_000, 8_000_000


@dataclass(frozen=True, eq=False)
class SumLaw:
    """A distribution over vectors of whole numbers.

    Attributes
    ----------
    states : ndarray of int64, shape (M, C)
        The distinct vectors, in lexicographic order from the last column.
    masses : ndarray, shape (M,)
        Their probabilities.

    Examples
    --------
    >>> coin = SumLaw.of(np.array([[0], [1]]), np.array([0.5, 0.5]))
    >>> coin.power(2).masses
    array([0.25, 0.5 , 0.25])
    """

    states: Whole
    masses: Floats

    @classmethod
    def of(cls, states: Whole, masses: Floats) -> SumLaw:
        """Return the law in which each of these states, (M, C), has its mass, (M,), equal states added up."""
        order = np.lexsort(_keys(states))
        ordered = states[order]
        starts = np.flatnonzero(np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1)))
        return cls(ordered[starts], np.add.reduceat(masses[order], starts))

    @classmethod
    def zero(cls, columns: int) -> SumLaw:
        """Return the law of an empty sum."""
        return cls(np.zeros((1, columns), dtype=np.int64), np.ones(1))

    def plus(self, other: SumLaw) -> SumLaw:
        """Return the law of the sum of two independent vectors.

        Raises
        ------
        InputError
            If it takes more than 4e8 products or has more than 2e6 distinct states.
        """
        few, many = sorted((self, other), key=lambda law: len(law.masses))
        cells = len(few.masses) * len(many.masses)
        if cells > MOST_CELLS:
            raise _too_large(f"takes {cells:.1e} products, above the limit of {MOST_CELLS:.0e}")
        low = few.states.min(axis=0) + many.states.min(axis=0)
        spans = (few.states.max(axis=0) + many.states.max(axis=0) - low + 1).tolist()
        if prod(spans) <= min(DENSE_CELLS, 4 * cells):
            return _dense(few, many, low, spans)
        block, parts = max(1, BLOCK_CELLS // len(few.masses)), []
        for start in range(0, len(many.masses), block):
            states = many.states[start : start + block, None, :] + few.states
            masses = many.masses[start : start + block, None] * few.masses
            parts.append(SumLaw.of(states.reshape(-1, len(low)), masses.ravel()))
            if sum(len(part.masses) for part in parts) > BLOCK_CELLS:
                parts = [_joined(parts)]
        return _joined(parts)

    def power(self, count: int) -> SumLaw:
        """Return the law of the sum of `count` independent vectors; errors are those of :meth:`plus`."""
        result = SumLaw.zero(self.states.shape[1])
        for _ in range(count):
            result = result.plus(self)
        return result


def _joined(parts: list[SumLaw]) -> SumLaw:
    law = SumLaw.of(np.concatenate([part.states for part in parts]), np.concatenate([part.masses for part in parts]))
    if len(law.masses) > MOST_STATES:
        raise _too_large(f"has more than {MOST_STATES:.0e} distinct states")
    return law


def _dense(few: SumLaw, many: SumLaw, low: Whole, spans: list[int]) -> SumLaw:
    """Add up in a box: a state's place in it is linear, so the place of a sum is the sum of the places."""
    strides = np.array([prod(spans[:column]) for column in range(len(spans))], dtype=np.int64)
    table = np.zeros(prod(spans))
    places = (many.states - many.states.min(axis=0)) @ strides
    shifts = (few.states - few.states.min(axis=0)) @ strides
    for shift, mass in zip(shifts.tolist(), few.masses.tolist(), strict=True):
        table[places + shift] += mass * many.masses  # the places of one law are distinct
    found = np.flatnonzero(table)
    digits = np.stack([found // stride % span for stride, span in zip(strides.tolist(), spans, strict=True)], axis=1)
    return SumLaw(digits + low, table[found])


def _keys(states: Whole) -> list[Whole]:
    """Return columns by which to sort, the last first: packed into one number where that fits."""
    low = states.min(axis=0)
    spans = (states.max(axis=0) - low + 1).tolist()
    if prod(spans) < 2**62:
        strides = np.array([prod(spans[:column]) for column in range(len(spans))], dtype=np.int64)
        return [(states - low) @ strides]
    return list(states.T)


def _too_large(what: str) -> InputError:
    return InputError(
        f"the law of the sums {what}: use fewer prompts, smaller groups, or fewer reward levels and lengths"
    )
