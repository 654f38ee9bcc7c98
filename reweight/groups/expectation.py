"""Expectations over groups of independent draws, by enumeration of how many members have each type.

A type is what the group statistic can see of an answer: its reward, and its length where aggregation looks at lengths.
Given that member 1 has type a, the other G - 1 members enter only through their counts, which are multinomial; so an
expectation is a finite sum over compositions of G - 1. All probabilities are products of positive binomial terms.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.groups.binomial import binomial_probabilities
from reweight.groups.radicals import RadicalSum

__all__ = [
    "MOST_ENTRIES",
    "composition_entries",
    "compositions",
    "distinct_types",
    "exact_multinomial",
    "expect_given_type",
    "expect_given_type_exactly",
    "monomials",
    "multinomial_coefficients",
    "multinomial_probabilities",
    "tabulate_by_type",
    "type_masses",
]

Floats = NDArray[np.float64]
MOST_ENTRIES = 50_000_000
MOST_EXACT = 20_000
LARGEST_MONOMIAL = 256


@lru_cache(maxsize=64)
def compositions(total: int, parts: int) -> NDArray[np.int64]:
    """Return all ways to write `total` as an ordered sum of `parts` non-negative integers, shape (M, parts), read-only.

    Examples
    --------
    >>> compositions(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    rows = np.zeros((1, 0), dtype=np.int64)
    for _ in range(parts - 1):  # append each value that the row still allows, in increasing order
        room = total - rows.sum(axis=1) + 1
        value = np.arange(room.sum()) - np.repeat(np.cumsum(room) - room, room)
        rows = np.column_stack([np.repeat(rows, room, axis=0), value])
    rows = np.column_stack([rows, total - rows.sum(axis=1)])
    rows.setflags(write=False)
    return rows


def composition_entries(levels: int, group_size: int) -> int:
    """Return how many entries the enumeration of :func:`expect_given_type` holds at a time."""
    return comb(group_size + levels - 2, levels - 1) * group_size


def multinomial_coefficients(counts: NDArray[np.int64]) -> Floats:
    """Return the multinomial coefficient of each row as a product of binomials, these from Pascal's triangle."""
    total = int(counts[0].sum())
    triangle = np.zeros((total + 1, total + 1))
    triangle[:, 0] = 1.0
    for row in range(1, total + 1):
        triangle[row, 1:] = triangle[row - 1, 1:] + triangle[row - 1, :-1]
    ways, left = np.ones(len(counts)), np.full(len(counts), total)
    for column in counts.T:
        ways *= triangle[left, column]
        left = left - column
    return ways


def monomials(masses: Floats, counts: NDArray[np.int64]) -> Floats:
    """Return the product of masses, (L, P), to the power of each row of counts, (M, L); shape (M, P)."""
    most = int(counts.max(initial=0))
    powers = np.ones((most + 1, *masses.shape))
    for power in range(1, most + 1):
        powers[power] = powers[power - 1] * masses
    result = powers[counts[:, 0], 0]
    for level in range(1, len(masses)):
        result = result * powers[counts[:, level], level]
    return np.asarray(result)


def multinomial_probabilities(counts: NDArray[np.int64], masses: Floats) -> Floats:
    """Return the multinomial probability of each row of `counts`, shape (M,), given masses of shape (L,).

    In large groups coefficients leave float64; there the rows are split into conditional binomials, each with the mass
    of one type against the mass of all later ones.
    """
    if counts[0].sum() <= LARGEST_MONOMIAL:
        return multinomial_coefficients(counts) * monomials(masses[:, None], counts)[:, 0]
    later = np.append(np.cumsum(masses[::-1])[::-1][1:], 0.0)
    remaining = counts.sum(axis=1)
    result = np.ones(len(counts))
    for position in range(len(masses) - 1):
        if masses[position] > 0 or later[position] > 0:
            for total in np.unique(remaining):
                rows = remaining == total
                table = binomial_probabilities(int(total), masses[position], later[position])
                result[rows] *= table[counts[rows, position]]
        remaining = remaining - counts[:, position]
    return result


def expect_given_type(masses: Floats, group_size: int, statistic: Callable[[NDArray[np.int64]], Floats]) -> Floats:
    """Return E[statistic | member 1 has type a] for every type a.

    Parameters
    ----------
    masses : ndarray, shape (P, L)
        Probabilities of the types, one row a policy.
    group_size : int
        Number of members G, the first included.
    statistic : callable
        Takes groups of type indices, shape (M, G), and returns the values that belong to the first member, shape (M,
        S).

    Returns
    -------
    ndarray, shape (P, L, S)

    Raises
    ------
    InputError
        If the enumeration would hold more than 5e7 entries.
    """
    others, values = tabulate_by_type(masses.shape[1], group_size, statistic)
    weights = np.stack([multinomial_probabilities(others, row) for row in masses])
    return np.stack([weights @ by_level for by_level in values], axis=1)


def tabulate_by_type(
    levels: int, group_size: int, statistic: Callable[[NDArray[np.int64]], Floats]
) -> tuple[NDArray[np.int64], list[Floats]]:
    """Return the compositions of the other members, shape (M, L), and the statistic of member 1 for each of its types.

    The second is a list of L arrays of shape (M, S); it does not depend on the policy. Parameters and errors are those
    of :func:`expect_given_type`.
    """
    entries = composition_entries(levels, group_size)
    if entries > MOST_ENTRIES:
        raise InputError(
            f"{levels} reward levels in groups of {group_size} need {entries:.1e} entries, above the limit of "
            f"{MOST_ENTRIES:.0e}: use a smaller group or fewer levels"
        )
    others = compositions(group_size - 1, levels)
    position = np.tile(np.arange(levels), len(others))
    members = np.repeat(position, others.ravel()).reshape(len(others), group_size - 1)
    first = np.empty((len(others), 1), dtype=np.int64)
    values = []
    for level in range(levels):
        first[:] = level
        values.append(statistic(np.hstack([first, members])))
    return others, values


def expect_given_type_exactly(
    masses: Sequence[Fraction], group_size: int, statistic: Callable[[tuple[int, ...]], Any]
) -> list[RadicalSum]:
    """Return E[statistic | member 1 has type a] for every type a, exactly; the twin of :func:`expect_given_type`."""
    levels = len(masses)
    count = comb(group_size + levels - 2, levels - 1) * levels
    if count > MOST_EXACT:
        raise InputError(
            f"{levels} reward levels in groups of {group_size} are {count:.1e} exact terms, above {MOST_EXACT:.0e}: "
            "use a smaller group, fewer levels, or float64"
        )
    rows = [(row, exact_multinomial(row, masses)) for row in compositions(group_size - 1, levels).tolist()]

    def expectation(level: int) -> RadicalSum:
        def terms() -> Iterator[RadicalSum]:
            for row, mass in rows:
                group = (level, *(index for index, count in enumerate(row) for _ in range(count)))
                yield RadicalSum.of(statistic(group)) * mass

        return RadicalSum.total(terms())

    return [expectation(level) for level in range(levels)]


def exact_multinomial(row: Sequence[int], masses: Sequence[Fraction]) -> Fraction:
    """Return the multinomial probability of counts, exactly."""
    ways, left = 1, sum(row)
    for count in row:
        ways *= comb(left, count)
        left -= count
    return ways * prod((mass**count for mass, count in zip(masses, row, strict=True)), start=Fraction(1))


def distinct_types(columns: Sequence[NDArray[Any]]) -> tuple[list[tuple[Any, ...]], NDArray[np.intp]]:
    """Return the distinct rows of some columns in increasing order, and the index of each answer's row."""
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    types = sorted(set(rows))
    position = {row: index for index, row in enumerate(types)}
    return types, np.array([position[row] for row in rows], dtype=np.intp)


def type_masses(probabilities: Floats, index: NDArray[np.intp], count: int) -> Floats:
    """Add the probabilities, shape (P, N), of the answers of each type, by pairwise summation; shape (P, L)."""
    order = np.argsort(index, kind="stable")
    starts = np.searchsorted(index[order], np.arange(count + 1))
    sorted_rows = np.ascontiguousarray(probabilities[:, order])
    return np.stack([sorted_rows[:, a:b].sum(axis=1) for a, b in itertools.pairwise(starts)], axis=1)
