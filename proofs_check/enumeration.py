"""Expected weights by plain enumeration over all ordered groups: slow, obvious, and apart from the library's engine."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from proofs_check.sampled_tree import exact_advantages
from reweight.groups.radicals import RadicalSum
from reweight.objectives.advantage import Advantage

__all__ = ["weights"]


def weights(
    rewards: Sequence[Fraction], policy: Sequence[Fraction], group_size: int, advantage: Advantage
) -> tuple[RadicalSum, ...]:
    """w(y) = E[A_1 | y_1 = y], summed over the N^(G-1) possible other members, exactly.

    >>> third = Fraction(1, 3)
    >>> [str(w) for w in weights((Fraction(1), Fraction(0)), (third, 2 * third), 3, Advantage())]
    ['2/3*sqrt(2)', '-1/3*sqrt(2)']
    """
    answers = range(len(rewards))
    sums = []
    for first in answers:
        total = RadicalSum()
        for others in product(answers, repeat=group_size - 1):
            chance = Fraction(1)
            for other in others:
                chance *= policy[other]
            group = tuple(rewards[answer] for answer in (first, *others))
            total = total + exact_advantages(group, advantage)[0] * chance
        sums.append(total)
    return tuple(sums)
