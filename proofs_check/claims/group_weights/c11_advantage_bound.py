"""No advantage exceeds sqrt(G-1) standard deviations.

Statement: |A_i| <= sqrt(G-1) (ddof 0) and |A_i| <= (G-1)/sqrt(G) (ddof 1), with equality exactly when the other G-1
    rewards are equal to each other and differ from r_i.
Map: none; a statement about one group of rewards.
Hypotheses: A_i = (r_i - mean)/std with the group's own mean and standard deviation, eps = 0, rewards not all equal.
Verdict and domain: PROVED for all G and all real rewards.
Source: C11, R03 (docs/theory.md); P. A. Samuelson, "How deviant can you be?", JASA 63 (1968).
Why it matters: it caps the gradient norm of every sample, and with it how fast a rare success can be amplified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from proofs_check.checkers import rational, smt, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome, conjunction

Pairs = list[tuple[int, int]]


@dataclass(frozen=True)
class Bound:
    """|A_1| <= sqrt(square(G, ddof)), with equality iff the members of each pair in ties(G) have equal rewards."""

    square: Callable[[Any, int], Any]
    ties: Callable[[int], Pairs]


def samuelson(size: Any, ddof: int) -> Any:
    """The square of the bound."""
    return (size - 1) ** 2 / size if ddof else size - 1


def all_others(size: int) -> Pairs:
    """All pairs of members other than the first."""
    return list(combinations(range(1, size), 2))


def check_rational(bound: Bound) -> Outcome:
    """Every reward table with levels 0..3 and G <= 5: the library's exact advantage against the bound."""
    import numpy as np

    from reweight.groups.advantages import advantages
    from reweight.objectives.advantage import Advantage

    def violation(G: int, ddof: Any, rewards: tuple[Fraction, ...]) -> dict[str, Any] | None:
        first = advantages(np.array(rewards), Advantage(ddof=ddof))[0]
        square = (first * first).rational
        limit = bound.square(Fraction(G), ddof)
        tied = all(rewards[i] == rewards[j] for i, j in bound.ties(G))
        holds = square is not None and square <= limit and (square == limit) == tied
        return None if holds else {"squared_advantage": square, "squared_bound": limit, "others_tie": tied}

    def cases() -> Iterator[dict[str, Any]]:
        for size, ddof in product(range(2, 6), (0, 1)):
            for levels in product(range(4), repeat=size):
                if min(levels) == 0 and max(levels) > 0:
                    yield {"G": size, "ddof": ddof, "rewards": tuple(map(Fraction, levels))}

    return rational.check_all(
        cases(), violation, domain="G <= 5, rewards in 0..3", method="A_1^2 from the library against the bound"
    )


def check_symbolic(bound: Bound) -> Outcome:
    """All G: bound^2 s^2 - a^2 vanishes when the others tie and grows with their spread; `ties` is not read."""
    import sympy

    size = sympy.Symbol("G", integer=True, positive=True)
    first, spread = sympy.symbols("a_1 d", nonnegative=True)

    def parts() -> Iterator[Outcome]:
        yield _variance_of_the_others()
        for ddof in (0, 1):
            square = bound.square(size, ddof)
            # The others sum to -a_1, so their squares sum to d + a_1^2/(G-1), d = sum (a_i - mean of the others)^2.
            variance = (first**2 + first**2 / (size - 1) + spread) / (size - ddof)
            excess = sympy.expand(square * variance - first**2)
            grid = {size: [2, 3, 4], first: [1]}
            yield symbolic.identity(
                excess.subs(spread, 0),
                "all G",
                f"ddof {ddof}: bound^2 s^2 - a_1^2 is 0 when the others tie",
                points=grid,
            )
            growth = [("weight of d", sympy.diff(excess, spread))]
            yield symbolic.nonnegative_terms(
                growth, "all G", f"ddof {ddof}: it grows with the others' spread", least={size: 2}, strict=True
            )

    return conjunction(parts(), "all G >= 2, all real rewards")


def _variance_of_the_others() -> Outcome:
    import sympy

    count, total, squares, mean = sympy.symbols("n S1 S2 m")
    spread = squares - 2 * mean * total + count * mean**2
    return symbolic.identity(
        spread.subs(mean, total / count) - (squares - total**2 / count),
        "all G",
        "sum (x - m)^2 = S2 - S1^2/n at m = S1/n, by linearity of sums",
    )


def check_smt(bound: Bound) -> Outcome:
    """G <= 4: z3 finds no real rewards, centred and not all equal, that break the bound or its equality case."""
    import z3

    def parts() -> Iterator[Outcome]:
        for size, ddof in product((2, 3, 4), (0, 1)):
            a = [z3.Real(f"a_{i + 1}") for i in range(size)]
            variance = sum(x * x for x in a) / (size - ddof)
            square, limit = a[0] * a[0], smt.fraction(bound.square(Fraction(size), ddof)) * variance
            tied = z3.And(True, *(a[i] == a[j] for i, j in bound.ties(size)))
            holds = z3.And(square <= limit, (square == limit) == tied)
            yield smt.prove(
                [sum(a) == 0, variance > 0],
                holds,
                domain=f"G = {size}, all real rewards",
                method="each G and ddof, centred rewards as real variables",
                also={"G": size, "ddof": ddof},
            )

    return conjunction(parts(), "G <= 4, all real rewards")


CLAIM = Claim(
    id="C11",
    document=__doc__,
    statement=Bound(samuelson, all_others),
    hypotheses=(
        Hypothesis("group statistics", "mean and standard deviation are those of the group that holds the sample."),
    ),
    roads=(
        Road("rational", check_rational, expected="verified"),
        Road("symbolic", check_symbolic, expected="proved", covers=("square",)),
        Road("smt", check_smt, expected="proved"),
    ),
    mutants=(
        Mutant("the bound of ddof 0 claimed to be attained for ddof 1", Bound(lambda size, _: size - 1, all_others)),
        Mutant(
            "the square of the bound smaller by 1/G^3",
            Bound(lambda size, ddof: samuelson(size, ddof) - 1 / size**3, all_others),
        ),
        Mutant(
            "equality as soon as all others but one tie",
            Bound(samuelson, lambda size: list(combinations(range(1, max(2, size - 1)), 2))),
        ),
    ),
)
