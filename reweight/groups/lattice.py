"""Expected weights by dynamic programming: the exact law of the sums of rewards and of their squares.

Where all reward levels are whole multiples of one number, the other members of a group enter an advantage only through
two whole numbers. Their law is a polynomial product, built up one draw at a time; every term is positive.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from reweight.groups.advantages import regularised
from reweight.objectives.advantage import Advantage

__all__ = [
    "advantages_from_sums",
    "lattice_advantages",
    "lattice_cells",
    "lattice_fits",
    "lattice_levels",
    "lattice_weights",
    "sums_suffice",
]

Floats = NDArray[np.float64]
MOST_CELLS, MOST_LEVELS = 20_000_000, 64
LARGEST_LEVEL, MATCHING_BITS = 4096, 43


def sums_suffice(advantage: Advantage) -> bool:
    """Whether a member's advantage is a function of its reward and the sums of rewards and squares of the others."""
    return (
        advantage.baseline in ("mean", "leave_one_out", "none")
        and advantage.scale in ("std", "leave_one_out_std", "mean", "none")
        and advantage.selection == "all"
    )


def lattice_levels(levels: Floats, largest: int = LARGEST_LEVEL) -> tuple[NDArray[np.int64], float] | None:
    """Return whole numbers from 0 and a unit with level = lowest + unit * whole number, or None where there are none.

    None of them may be above `largest`. A float means the decimal that it prints as, so that 0.1, 0.2 and 0.3 are
    evenly spaced, where that moves no difference by more than 2^-43 of the smallest: levels next to each other far from
    0 are not what they print as.

    Examples
    --------
    >>> lattice_levels(np.array([0.1, 0.2, 0.4]))
    (array([0, 1, 3]), 0.1)
    """
    exact = [Fraction(repr(float(level))) for level in levels]
    shifted = [level - exact[0] for level in exact]
    binary = [Fraction(float(level)) - Fraction(float(levels[0])) for level in levels]
    moved = max(abs(value - printed) for value, printed in zip(binary, shifted, strict=True))
    ordered = sorted(shifted)
    if len(ordered) > 1 and moved * 2**MATCHING_BITS > min(b - a for a, b in itertools.pairwise(ordered)):
        return None
    scale = lcm(*(value.denominator for value in shifted))
    whole = [int(value * scale) for value in shifted]
    divisor = int(np.gcd.reduce(np.array(whole, dtype=object))) or 1
    if max(whole) // divisor > largest:
        return None
    return np.array([value // divisor for value in whole], dtype=np.int64), float(Fraction(divisor, scale))


def lattice_cells(whole: NDArray[np.int64], group_size: int) -> int:
    """Return how many cells the law of the other members takes."""
    top, draws = int(whole.max()), group_size - 1
    return (draws * top + 1) * (draws * top**2 + 1)


def lattice_weights(levels: Floats, masses: Floats, group_size: int, advantage: Advantage) -> Floats:
    """Return E[A_1 | level], shape (L,), from levels and masses of shape (L,).

    The levels must have whole numbers (`lattice_levels`) and the advantage be one that `sums_suffice`.
    """
    mass, values = lattice_advantages(levels, masses, group_size, advantage)
    return np.array([mass @ row for row in values])


def lattice_advantages(
    levels: Floats, masses: Floats, group_size: int, advantage: Advantage
) -> tuple[Floats, list[Floats]]:
    """Return the probabilities of the sums of the other members, shape (M,), and the advantages beside each.

    The second is a list of L arrays of shape (M,), one a level of the first member. Conditions are those of
    :func:`lattice_weights`.
    """
    found = lattice_levels(levels)
    assert found is not None
    whole, unit = found
    law = _law(whole, masses, group_size - 1)
    first, second = np.nonzero(law)
    low = float(levels[0])
    return law[first, second], [
        advantages_from_sums(own, first, second, unit, low, group_size, advantage) for own in whole.tolist()
    ]


def lattice_fits(levels: Floats, group_size: int, advantage: Advantage) -> bool:
    """Whether the law of the sums is of a size that can be computed."""
    if not sums_suffice(advantage) or len(levels) > MOST_LEVELS:
        return False
    found = lattice_levels(levels)
    return found is not None and lattice_cells(found[0], group_size) <= MOST_CELLS


def _law(whole: NDArray[np.int64], masses: Floats, draws: int) -> Floats:
    """Return P(sum = i, sum of squares = j) of independent draws."""
    top = int(whole.max())
    law = np.zeros((draws * top + 1, draws * top**2 + 1))
    law[0, 0] = 1.0
    for draw in range(draws):
        rows, columns = draw * top + 1, draw * top**2 + 1
        before = law[:rows, :columns].copy()
        law[: rows + top, : columns + top**2] = 0.0
        for value, mass in zip(whole.tolist(), masses.tolist(), strict=True):
            law[value : value + rows, value**2 : value**2 + columns] += mass * before
    return law


def advantages_from_sums(
    own: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    unit: float,
    low: float,
    group_size: int,
    advantage: Advantage,
) -> Floats:
    """Return the advantage of a member of whole-number reward `own` beside others of the given sums."""
    total, squares, others = first + own, second + own**2, group_size - 1
    means = {"mean": total / group_size, "leave_one_out": first / max(others, 1)}
    raw = np.full(len(first), low + unit * own)
    centred = raw if advantage.baseline == "none" else unit * (own - means[advantage.baseline])
    spread = group_size * squares - total**2  # G^2 times the variance, a whole number: zero exactly where all agree
    if advantage.scale == "none":
        return np.where((spread == 0) & (advantage.baseline != "none"), 0.0, centred)
    if advantage.scale == "mean":
        mean = low + unit * total / group_size + float(advantage.eps)
        constant = (spread == 0) & (advantage.baseline != "none")
        return np.where(constant, 0.0, np.divide(centred, mean, out=np.zeros(len(first)), where=mean != 0))
    if advantage.scale == "std":
        std = unit * np.sqrt(spread / (group_size * (group_size - advantage.ddof)))
        return np.where(spread == 0, 0.0, centred / np.where(spread == 0, 1.0, regularised(std, advantage)))
    alone = others * second - first**2
    divisor = max(others - advantage.ddof, 1) * others
    std = unit * np.sqrt(alone / divisor)
    undivided = (alone == 0) | (others <= advantage.ddof)
    scaled = centred / np.where(undivided, 1.0, regularised(np.where(undivided, 1.0, std), advantage))
    return np.where(spread == 0, 0.0, scaled)
