"""Whether the expected direction of an objective is the gradient of anything; the curl as a certificate that not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.errors import InputError
from reweight.groups.exact_advantages import as_fraction, exact_advantages
from reweight.groups.expectation import compositions, exact_multinomial
from reweight.groups.inputs import check_needs_rewards_alone, exact_probabilities
from reweight.groups.radicals import RadicalSum
from reweight.objectives.advantage import Advantage

__all__ = ["Potential", "is_gradient"]

MOST_TERMS = 20_000


@dataclass(frozen=True, eq=False)
class Potential:
    """Whether sum over answers of w(y) d pi(y) is the differential of a function on the simplex.

    Attributes
    ----------
    is_gradient : bool
        True is proved: the curl is the zero polynomial. False comes with a point where it is not zero.
    point : tuple of Fraction
        Masses of the distinct rewards, in increasing order, at which the curl is given.
    curl : ndarray of RadicalSum, shape (L - 1, L - 1)
        d(w_b - w_last)/d pi_a - d(w_a - w_last)/d pi_b there, exactly, with the last mass as the dependent one.
    why : str
        The same in a sentence.
    """

    is_gradient: bool
    point: tuple[Fraction, ...]
    curl: NDArray[np.object_]
    why: str

    def __bool__(self) -> bool:
        return self.is_gradient

    def __str__(self) -> str:
        return self.why

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values; exact numbers as text."""
        return {
            "is_gradient": self.is_gradient,
            "point": [str(mass) for mass in self.point],
            "curl": [[str(value) for value in row] for row in self.curl],
            "why": self.why,
        }


def is_gradient(
    rewards: ArrayLike, group_size: int, advantage: Advantage, probabilities: ArrayLike | None = None
) -> Potential:
    """Decide whether expected on-policy GRPO climbs a function of the policy, for these rewards.

    Parameters
    ----------
    rewards : array_like
        Their distinct values matter; a float means the decimal that it prints as.
    group_size : int
        Number of draws G in a group.
    advantage : Advantage
        A prompt-local advantage that needs no lengths.
    probabilities : array_like, optional
        Masses of the distinct rewards in increasing order, where the curl is wanted; by default a point at which it is
        not zero, if there is one.

    Raises
    ------
    InputError
        If the advantage needs more than rewards, the masses do not fit, or there are more than 2e4 exact terms.

    Notes
    -----
    w_b is a polynomial in the masses with d w_b / d pi_a = (G - 1) E[A_1 | r_1 = b, r_2 = a]. So the curl is (G - 1)
    times the mean, over the other G - 2 members, of [A_b - A_a](a, b) + [A_a - A_last](a, last) + [A_last - A_b](b,
    last), the arguments being the two members that complete the group; it is the zero polynomial exactly when this sum
    is zero for every composition of the others. Source: R15, H7, C39.

    Examples
    --------
    >>> print(is_gradient([0, 0.5, 1], 2, Advantage()))
    not a gradient: at masses 1/3, 1/3, 1/3 the curl of levels 0 and 1/2 is 2
    >>> bool(is_gradient([0, 0.5, 1], 4, Advantage(scale="none")))
    True
    """
    check_needs_rewards_alone(group_size, advantage)
    if group_size < 2:
        raise InputError("a group of one compares nothing: give a group size of at least 2")
    levels = sorted({_decimal(reward) for reward in np.ravel(np.asarray(rewards, dtype=object)).tolist()})
    size = len(levels)
    if size < 3:
        point = (Fraction(1, size),) * size
        empty = np.full((size - 1, size - 1), RadicalSum(), dtype=object)
        return Potential(True, point, empty, f"a gradient: with {size} reward levels there is nothing to turn around")
    terms = comb(group_size - 2 + size - 1, size - 1) * comb(size - 1, 2)
    if terms > MOST_TERMS:
        raise InputError(f"{size} levels in groups of {group_size} are {terms:.0e} exact terms: take a smaller group")
    brackets = _brackets(levels, group_size, advantage)
    closed = not any(value for row in brackets.values() for value in row)
    points = _candidates(size, probabilities)
    rows = compositions(group_size - 2, size).tolist()
    point, curl = points[0], _curl(brackets, rows, points[0], group_size)
    for candidate in points:
        found = _curl(brackets, rows, candidate, group_size)
        if any(found.ravel()):
            point, curl = candidate, found
            break
    return Potential(closed, point, curl, _sentence(closed, levels, point, curl))


def _decimal(reward: Any) -> Fraction:
    return Fraction(repr(float(reward))) if isinstance(reward, float | np.floating) else as_fraction(reward)


def _candidates(size: int, probabilities: ArrayLike | None) -> list[tuple[Fraction, ...]]:
    if probabilities is not None:
        masses = exact_probabilities(np.asarray(probabilities, dtype=object))
        if len(masses) != size:
            raise InputError(f"{len(masses)} masses for {size} distinct rewards: give one each, in increasing order")
        return [tuple(masses)]
    shares = [[1] * size, *([1 + 2 * (i == j) + (i > j) for i in range(size)] for j in range(size))]
    return [tuple(Fraction(part, sum(row)) for part in row) for row in shares]


def _brackets(levels: list[Fraction], group_size: int, advantage: Advantage) -> dict[tuple[int, int], list[RadicalSum]]:
    """Return for each pair a < b of levels below the last the bracket of every composition of the other members."""
    last = len(levels) - 1
    rows = compositions(group_size - 2, len(levels)).tolist()
    cache: dict[tuple[int, ...], dict[int, RadicalSum]] = {}

    def difference(row: list[int], up: int, down: int) -> RadicalSum:
        counts = [count + (k == up) + (k == down) for k, count in enumerate(row)]
        key = tuple(counts)
        if key not in cache:
            members = [k for k, count in enumerate(counts) for _ in range(count)]
            values = exact_advantages(np.array([levels[k] for k in members], dtype=object), advantage)
            cache[key] = dict(zip(members, values, strict=True))
        return cache[key][up] - cache[key][down]

    return {
        (a, b): [difference(row, b, a) + difference(row, a, last) + difference(row, last, b) for row in rows]
        for a, b in combinations(range(last), 2)
    }


def _curl(
    brackets: dict[tuple[int, int], list[RadicalSum]],
    rows: list[list[int]],
    point: Sequence[Fraction],
    group_size: int,
) -> NDArray[np.object_]:
    size = len(point)
    curl = np.full((size - 1, size - 1), RadicalSum(), dtype=object)
    masses = [exact_multinomial(row, point) for row in rows]
    for (a, b), values in brackets.items():
        total = RadicalSum.total(value * mass for value, mass in zip(values, masses, strict=True)) * (group_size - 1)
        curl[a, b], curl[b, a] = total, -total
    return curl


def _sentence(closed: bool, levels: list[Fraction], point: Sequence[Fraction], curl: NDArray[np.object_]) -> str:
    if closed:
        return "a gradient: the curl is zero for every policy"
    at = ", ".join(str(mass) for mass in point)
    for a, b in combinations(range(len(curl)), 2):
        if curl[a, b]:
            return f"not a gradient: at masses {at} the curl of levels {levels[a]} and {levels[b]} is {curl[a, b]}"
    return f"not a gradient, though the curl is zero at masses {at}"
