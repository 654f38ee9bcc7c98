"""Certified numbers: intervals of python-flint that hold the true value, as narrow as the caller asks.

Rational parts stay rational; only masses, square roots and sums are intervals, and the working precision is doubled
until the radius is met.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweight.checks import number
from reweight.errors import InputError
from reweight.groups.exact_advantages import as_fraction, member_parts, zero_when_constant
from reweight.groups.expectation import compositions
from reweight.groups.inputs import check_needs_rewards_alone, exact_probabilities
from reweight.groups.lattice import sums_suffice
from reweight.objectives.advantage import Advantage

__all__ = ["Ball", "Term", "as_ball", "ball_gap", "ball_weights", "mass_of", "refined", "terms_of", "value_of"]

FIRST_BITS, MOST_BITS, MOST_TERMS = 128, 16_384, 100_000
Ball = Any
"""A python-flint `arb`: a midpoint and a radius."""


def refined(compute: Callable[[], tuple[list[Ball], Ball]], radius: float) -> list[Ball]:
    """Return balls whose radius is at most `radius` times a scale, doubling the working precision until they are.

    `compute` returns the balls and the scale at the working precision of the moment.

    Raises
    ------
    InputError
        If the radius is not positive, or 16384 bits do not reach it.
    """
    from flint import arb, ctx

    number(radius, "radius", above=0.0)
    allowed, bits = arb(radius), FIRST_BITS
    before = ctx.prec
    try:
        while bits <= MOST_BITS:
            ctx.prec = bits
            balls, scale = compute()
            if all(ball.rad() <= allowed * scale.abs_lower() for ball in balls):
                return balls
            bits *= 2
    finally:
        ctx.prec = before
    raise InputError(f"a radius of {radius:g} is not reached with {MOST_BITS} bits: ask for a wider one")


@dataclass(frozen=True)
class Term:
    """A composition of the other members: how often each level occurs, in how many orders, the advantage's parts."""

    own: int
    counts: tuple[int, ...]
    ways: int
    numerator: Fraction
    variance: Fraction | None


def terms_of(
    levels: Sequence[Fraction],
    group_size: int,
    advantage: Advantage,
    lengths: Sequence[Fraction] | None = None,
) -> list[list[Term]]:
    """Return the terms of E[A_1 | type] for every type, given their rewards and, where they matter, lengths."""
    size = comb(group_size - 1 + len(levels) - 1, len(levels) - 1) * len(levels)
    if size > MOST_TERMS:
        raise InputError(
            f"{len(levels)} reward levels in groups of {group_size} are {size:.1e} terms, above {MOST_TERMS:.0e}: "
            "use a smaller group or fewer levels"
        )
    rows = compositions(group_size - 1, len(levels)).tolist()
    return [[_term(own, row, levels, advantage, lengths) for row in rows] for own in range(len(levels))]


def _term(
    own: int,
    row: list[int],
    levels: Sequence[Fraction],
    advantage: Advantage,
    lengths: Sequence[Fraction] | None,
) -> Term:
    ways, left = 1, sum(row)
    for count in row:
        ways *= comb(left, count)
        left -= count
    constant = all(level == levels[own] for level, count in zip(levels, row, strict=True) if count)
    if constant and zero_when_constant(advantage):
        return Term(own, tuple(row), ways, Fraction(0), None)
    if sums_suffice(advantage):
        total = sum((count * level for count, level in zip(row, levels, strict=True)), Fraction(0))
        squares = sum((count * level**2 for count, level in zip(row, levels, strict=True)), Fraction(0))
        return Term(own, tuple(row), ways, *parts_of_sums(levels[own], sum(row), total, squares, advantage))
    members = [own, *(k for k, count in enumerate(row) for _ in range(count))]
    group = [levels[k] for k in members]
    weights = None if lengths is None else [lengths[k] for k in members]
    return Term(own, tuple(row), ways, *member_parts(0, group, group, advantage, weights))


def parts_of_sums(
    own: Fraction, others: int, total: Fraction, squares: Fraction, advantage: Advantage
) -> tuple[Fraction, Fraction | None]:
    """Return an advantage's parts from the sums of the rewards and of the squared rewards of the other members.

    The group is not constant if a statistic of the group enters, and the advantage is one that `sums_suffice`.
    """
    size, ddof = others + 1, advantage.ddof
    baseline = {"mean": (total + own) / size, "leave_one_out": total / max(others, 1), "none": Fraction(0)}
    centred = own - baseline[advantage.baseline]
    if advantage.scale == "none":
        return centred, None
    if advantage.scale == "mean":
        divisor = (total + own) / size + advantage.exact_eps
        return (centred / divisor if divisor else Fraction(0)), None
    if advantage.scale == "std":
        return centred, (squares + own**2 - (total + own) ** 2 / size) / max(size - ddof, 1)
    spread = squares - total**2 / others
    return (centred, None) if spread == 0 or others <= ddof else (centred, spread / (others - ddof))


def value_of(term: Term, advantage: Advantage) -> Ball:
    """Return the advantage of a term as a ball at the working precision."""
    numerator = as_ball(term.numerator)
    if term.variance is None:
        return numerator
    eps = advantage.exact_eps
    if advantage.eps_rule == "added":
        divisor = as_ball(term.variance).sqrt() + as_ball(eps)
    else:
        inside = term.variance + eps if advantage.eps_rule == "inside_root" else max(term.variance, eps)
        divisor = as_ball(inside).sqrt()
    return as_ball(Fraction(0)) if term.variance == 0 and eps == 0 else numerator / divisor


def as_ball(value: Fraction) -> Ball:
    """Return a rational number as a ball at the working precision."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


def mass_of(term: Term, masses: Sequence[Ball]) -> Ball:
    """Return the multinomial probability of a term."""
    result = as_ball(Fraction(term.ways))
    for count, mass in zip(term.counts, masses, strict=True):
        if count:
            result *= mass**count
    return result


def ball_weights(
    rewards: NDArray[Any], probabilities: NDArray[Any], group_size: int, advantage: Advantage, radius: float
) -> NDArray[np.object_]:
    """Enclose E[A_1 | y_1 = y] in balls of radius at most `radius` times E|A_1|.

    Parameters
    ----------
    rewards, probabilities : ndarray, shape (N,)
        Floats are the binary fractions that they are; Fractions are exact. The probabilities are divided by their sum.
    group_size : int
    advantage : Advantage
        A prompt-local advantage that needs no lengths.
    radius : float

    Returns
    -------
    ndarray of arb, shape (N,)

    Raises
    ------
    InputError
        If the parts do not fit together, there are more than 1e5 terms, or the radius is not reached.

    Examples
    --------
    >>> found = ball_weights(np.array([1.0, 0.0]), np.array([0.25, 0.75]), 2, Advantage(), 1e-30)
    >>> found[0].mid().str(5), bool(found[0].rad() < 1e-30)
    ('0.75000', True)
    """
    check_needs_rewards_alone(group_size, advantage)
    values = [as_fraction(reward) for reward in rewards.tolist()]
    if probabilities.ndim != 1 or len(probabilities) != len(values):
        raise InputError(f"{probabilities.size} probabilities for {len(values)} rewards: give one distribution")
    levels = sorted(set(values))
    place = {level: k for k, level in enumerate(levels)}
    exact = [Fraction(0)] * len(levels)
    for mass, value in zip(exact_probabilities(probabilities), values, strict=True):
        exact[place[value]] += mass
    terms = terms_of(levels, group_size, advantage)

    def compute() -> tuple[list[Ball], Ball]:
        masses = [as_ball(mass) for mass in exact]
        means, sizes = [], as_ball(Fraction(0))
        for mass, row in zip(masses, terms, strict=True):
            products = [mass_of(term, masses) * value_of(term, advantage) for term in row]
            means.append(sum(products, as_ball(Fraction(0))))
            sizes += mass * sum((abs(product) for product in products), as_ball(Fraction(0)))
        return means, sizes if sizes != 0 else as_ball(Fraction(1))

    found = refined(compute, radius)
    result = np.empty(len(values), dtype=object)
    result[:] = [found[place[value]] for value in values]
    return result


def ball_gap(
    rates: Callable[[], tuple[Ball, Ball]],
    group_size: int,
    advantage: Advantage,
    radius: float,
    *,
    tpr: Fraction = Fraction(1),
    fpr: Fraction = Fraction(0),
    mixed_only: bool = False,
) -> Ball:
    """Enclose w(correct) - w(wrong) for binary rewards in a ball of radius at most `radius` times its value.

    Parameters
    ----------
    rates : callable
        Returns p and 1 - p as balls at the working precision.
    group_size : int
    advantage : Advantage
        A prompt-local advantage that needs no lengths.
    radius : float
    tpr, fpr, mixed_only
        As in :func:`reweight.gap`.

    Raises
    ------
    InputError
        If the group is too small for the advantage, or the radius is not reached, as where the gap is zero.
    """
    check_needs_rewards_alone(group_size, advantage)
    wrong, correct = terms_of([Fraction(0), Fraction(1)], group_size, advantage)

    def compute() -> tuple[list[Ball], Ball]:
        p, q = rates()
        seen = [as_ball(1 - tpr) * p + as_ball(1 - fpr) * q, as_ball(tpr) * p + as_ball(fpr) * q]
        total = as_ball(Fraction(0))
        for down, up in zip(wrong, correct, strict=True):
            ends = (up.counts[0] == 0, down.counts[1] == 0) if mixed_only else (False, False)
            above = as_ball(Fraction(0)) if ends[0] else value_of(up, advantage)
            below = as_ball(Fraction(0)) if ends[1] else value_of(down, advantage)
            total += mass_of(up, seen) * (above - below)
        total *= as_ball(tpr - fpr)
        if mixed_only:
            rows = compositions(group_size, 2).tolist()[1:-1]
            share = sum((as_ball(Fraction(comb(group_size, k))) * seen[0] ** j * seen[1] ** k for j, k in rows), p * 0)
            total /= share
        return [total], abs(total) if tpr != fpr else as_ball(Fraction(1))

    return refined(compute, radius)[0]
