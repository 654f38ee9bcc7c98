"""The largest group standard deviation of 0/1 rewards is 1/2.

Statement: std(r_1..r_G) <= 1/2 for every group of rewards in {0, 1} (ddof 0), with equality exactly at
    K = G/2 successes.
Map: none; a statement about one group of rewards.
Hypotheses: binary rewards, G >= 1.
Verdict and domain: PROVED for all G and all K.
Source: elementary; written for this template.
Why it matters: it shows the form that a claim file has, and each of its parts at work.
"""

# Copy this file, say to my_bound.py, and run:  reweight verify my_bound.py

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofs_check.checkers import property as search
from proofs_check.checkers import rational, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome

# 1. The statement: an object with exactly the parts that a false sibling would change.


@dataclass(frozen=True)
class LargestVariance:
    """variance <= bound(G), with equality iff K = at(G)."""

    bound: Callable[[Any], Any]
    at: Callable[[Any], Any]
    largest_reward: Fraction = Fraction(1)


# 2. The roads: each takes ANY statement of that form and says what it found. It must be able to fail.


def violation(bound: LargestVariance, G: int, K: int) -> dict[str, Any] | None:
    """None where the statement holds for K successes among G, otherwise what was seen."""
    rewards = [bound.largest_reward] * K + [Fraction(0)] * (G - K)
    mean = sum(rewards) / G
    variance = sum(((reward - mean) ** 2 for reward in rewards), Fraction(0)) / G
    limit = bound.bound(Fraction(G))
    holds = variance <= limit and (variance == limit) == (bound.at(Fraction(G)) == K)
    return None if holds else {"variance": variance, "bound": limit}


def check_rational(bound: LargestVariance) -> Outcome:
    """Every K for every G up to 12."""
    cases = ({"G": size, "K": k} for size in range(1, 13) for k in range(size + 1))
    return rational.check_all(
        cases, lambda **case: violation(bound, **case), domain="G <= 12, K <= G", method="variance from its definition"
    )


def check_symbolic(bound: LargestVariance) -> Outcome:
    """Complete the square, with G and K as symbols."""
    import sympy

    size, successes = sympy.symbols("G K", positive=True)
    reward = sympy.Rational(bound.largest_reward.numerator, bound.largest_reward.denominator)
    slack = bound.bound(size) - reward**2 * successes * (size - successes) / size**2
    square = reward**2 * (successes - bound.at(size)) ** 2 / size**2
    method = "bound - variance is a square that vanishes at the claimed K alone"
    return symbolic.identity(slack - square, "all G, all K", method, points={size: [1, 2], successes: [0, 1]})


def check_property(bound: LargestVariance) -> Outcome:
    """Larger groups, sampled."""
    from hypothesis import strategies as st

    cases = st.integers(1, 300).flatmap(
        lambda size: st.fixed_dictionaries({"G": st.just(size), "K": st.integers(0, size)})
    )
    return search.search(
        cases, lambda **case: violation(bound, **case), domain="G <= 300, K <= G", method="variance from its definition"
    )


# 3. The claim: what each road is expected to find, and near misses that the same roads must refute.


def quarter(size: Any) -> Any:
    """1/4, in the arithmetic of `size`."""
    return Fraction(1, 4) if isinstance(size, Fraction) else size / size / 4


def half(size: Any) -> Any:
    """Half of the group."""
    return size / 2


CLAIM = Claim(
    id="template",
    document=__doc__,
    statement=LargestVariance(quarter, half),
    hypotheses=(
        # A hypothesis that comes with the statement without it becomes a claim of its own, "template-unit-rewards",
        # declared refuted: the smallest counterexample shows that the hypothesis is needed.
        Hypothesis(
            "unit rewards",
            "the two rewards are 0 and 1.",
            without=LargestVariance(quarter, half, largest_reward=Fraction(2)),
            refuted_by=("rational",),
        ),
    ),
    roads=(
        Road("rational", check_rational, expected="verified"),
        Road("symbolic", check_symbolic, expected="proved"),
        Road("property", check_property, expected="tested"),
    ),
    mutants=(
        Mutant("smaller by 1/(10 G^2)", LargestVariance(lambda size: quarter(size) - 1 / (10 * size**2), half)),
        Mutant("attained one success later", LargestVariance(quarter, lambda size: (size + 1) / 2)),
    ),
)
