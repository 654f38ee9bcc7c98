"""All paths of sampled policy gradient on a small flat problem: exact logits, probabilities as balls.

Written apart from `reweight.updates`, from the group's exact advantages only, so that it can contradict them. One step
with the group y_1..y_G moves the logit of y by (eta/G) [sum_{i: y_i = y} A_i - pi(y) sum_i A_i]; the second sum is 0
for advantages centred in their group (R05 of docs/theory.md). That is a sum of square roots, kept exactly in units of
eta. Probabilities need exponentials and are therefore balls that contain the true value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import factorial
from typing import Any

from proofs_check.checkers.rational import Undecided
from proofs_check.enumeration import exact_advantages
from reweight.groups.radicals import RadicalSum
from reweight.objectives.advantage import Advantage

__all__ = [
    "BITS",
    "Node",
    "ball",
    "change_of_logits",
    "layers",
    "masses",
    "multisets",
    "surely_less",
]

BITS = 128

Changes = tuple[RadicalSum, ...]


@dataclass(frozen=True)
class Node:
    """Where a run can be after some steps.

    Attributes
    ----------
    changes : tuple of RadicalSum, length N
        Change of each logit since the start, in units of eta.
    sampled : frozenset of int
        The answers that have been drawn so far.
    groups : tuple of tuple
        One sequence of groups that leads here (the first found).
    """

    changes: Changes
    sampled: frozenset[int]
    groups: tuple[tuple[int, ...], ...] = ()

    @property
    def state(self) -> tuple[Changes, frozenset[int]]:
        """What the future depends on, and what has been seen."""
        return self.changes, self.sampled


def multisets(answers: int, size: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every group up to order, as a sorted tuple, with the number of its orders.

    >>> list(multisets(2, 2))
    [((0, 0), 1), ((0, 1), 2), ((1, 1), 1)]
    """
    for group in combinations_with_replacement(range(answers), size):
        orders = factorial(size)
        for answer in set(group):
            orders //= factorial(group.count(answer))
        yield group, orders


def change_of_logits(
    group: tuple[int, ...],
    rewards: tuple[Fraction, ...],
    advantage: Advantage,
    policy: Sequence[Fraction] | None = None,
) -> Changes:
    """Change of each logit after one group, in units of eta, exactly.

    Parameters
    ----------
    group : tuple of int
        The answers drawn.
    rewards : tuple of Fraction, length N
    advantage : Advantage
    policy : sequence of Fraction, length N, optional
        The policy that drew the group; needed only where the advantages do not sum to zero.

    Raises
    ------
    ValueError
        If the advantages do not sum to zero and the policy is not known exactly.

    Examples
    --------
    >>> one = change_of_logits((0, 1), (Fraction(1), Fraction(0)), Advantage())
    >>> [str(change) for change in one]
    ['1/2', '-1/2']
    """
    values = exact_advantages(tuple(rewards[answer] for answer in group), advantage)
    changes = [RadicalSum()] * len(rewards)
    for answer, value in zip(group, values, strict=True):
        changes[answer] = changes[answer] + value * Fraction(1, len(group))
    pull = sum(values, RadicalSum()) * Fraction(1, len(group))
    if pull and policy is None:
        raise ValueError("advantages that do not sum to zero move every logit: give the policy exactly")
    return (
        tuple(change - pull * mass for change, mass in zip(changes, policy, strict=True))
        if pull and policy
        else tuple(changes)
    )


def ball(value: Fraction | RadicalSum | int) -> Any:
    """The value as a ball at the working precision of this module."""
    return RadicalSum.of(value).ball(BITS)


def surely_less(small: Any, large: Any) -> bool:
    """Whether one ball lies below another.

    Raises
    ------
    Undecided
        If the balls overlap.
    """
    if small < large:
        return True
    if small > large:
        return False
    raise Undecided(f"the balls {small.str(15)} and {large.str(15)} overlap")


def masses(start: Sequence[Fraction], changes: Changes, eta: Fraction) -> list[Any]:
    """pi_0(y) e^{eta change(y)} as balls, not yet normalised.

    An answer whose logit has not changed keeps its rational mass exactly (to the working precision).
    """
    from flint import ctx

    with ctx.workprec(BITS):
        moved = [(ball(change) * ball(eta)).exp() if change else ball(1) for change in changes]
        return [ball(mass) * factor for mass, factor in zip(start, moved, strict=True)]


def layers(
    start: Sequence[Fraction],
    rewards: tuple[Fraction, ...],
    group_size: int,
    advantage: Advantage,
    eta: Fraction,
    steps: int,
) -> Iterator[dict[Node, Any]]:
    """The reachable nodes after 0, 1, ..., `steps` updates with their probabilities; equal states are merged.

    More than one step needs advantages that sum to zero in each group (`change_of_logits` raises otherwise).
    """
    from flint import arb, ctx

    layer: dict[Node, Any] = {Node(tuple(RadicalSum() for _ in start), frozenset()): arb(1)}
    yield layer
    for step in range(steps):
        policy = start if step == 0 else None
        moves = [
            (group, orders, change_of_logits(group, rewards, advantage, policy))
            for group, orders in multisets(len(start), group_size)
        ]
        with ctx.workprec(BITS):
            layer = _next_layer(layer, start, eta, moves)
        yield layer


def _next_layer(
    layer: dict[Node, Any],
    start: Sequence[Fraction],
    eta: Fraction,
    moves: Sequence[tuple[tuple[int, ...], int, Changes]],
) -> dict[Node, Any]:
    found: dict[tuple[Changes, frozenset[int]], tuple[Node, Any]] = {}
    for node, probability in layer.items():
        weights = masses(start, node.changes, eta)
        total = sum(weights)
        for group, orders, moved in moves:
            chance = probability * orders
            for answer in group:
                chance = chance * weights[answer] / total
            changes = tuple(a + b for a, b in zip(node.changes, moved, strict=True))
            child = Node(changes, node.sampled | set(group), (*node.groups, group))
            first, so_far = found.get(child.state, (child, 0))
            found[child.state] = (first, so_far + chance)
    return dict(found.values())
