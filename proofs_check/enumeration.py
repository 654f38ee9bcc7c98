"""Expected weights by plain enumeration over all ordered groups: slow, obvious, and apart from the library's engine."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product

from reweight.groups.radicals import RadicalSum
from reweight.objectives.advantage import Advantage

__all__ = ["disagreement", "exact_advantages", "weights"]


@lru_cache(maxsize=100_000)
def exact_advantages(
    rewards: tuple[Fraction, ...], advantage: Advantage, lengths: tuple[int, ...] | None = None
) -> tuple[RadicalSum, ...]:
    """The library's exact advantages of one group; remembered, since few groups differ."""
    import numpy as np

    from reweight.groups.advantages import advantages

    return tuple(advantages(np.array(rewards, dtype=object), advantage, lengths=lengths))


def weights(
    rewards: Sequence[Fraction],
    policy: Sequence[Fraction],
    group_size: int,
    advantage: Advantage,
    lengths: Sequence[int] | None = None,
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
            group = (first, *others)
            drawn = None if lengths is None else tuple(lengths[answer] for answer in group)
            mine = exact_advantages(tuple(rewards[answer] for answer in group), advantage, drawn)[0]
            total = total + mine * chance
        sums.append(total)
    return tuple(sums)


def disagreement(
    enumerated: Sequence[RadicalSum],
    rewards: Sequence[Fraction],
    policy: Sequence[Fraction],
    group_size: int,
    advantage: Advantage,
) -> dict[str, list[str]] | None:
    """None if `reweight.group_weights` gives exactly the enumerated weights, otherwise both."""
    import numpy as np

    from reweight.groups.weights import group_weights

    library = group_weights(np.array(rewards), np.array(policy), group_size, advantage, precision="rational")
    if list(library) == list(enumerated):
        return None
    return {"group_weights": [str(w) for w in library], "enumeration": [str(w) for w in enumerated]}
