"""With right and wrong answers only, one number, the gap, says all about the expected advantages.

Statement: w(1) = q Delta, w(0) = -p Delta and Delta = E[s^2/(s_d + eps)]/(p q), with q = 1 - p, s the biased standard
    deviation of the group's rewards (ddof 0) and s_d + eps the divisor in use.
Map: none; it is about the weights that every map uses.
Hypotheses: rewards 0 and 1, baseline the group's mean, one divisor for the group that depends on its rewards only (std
    with any ddof, eps and eps rule, mean, or none).
Verdict and domain: PROVED for all G, all pass rates and all divisors.
Source: C02, R01 (docs/theory.md).
Why it matters: the learning signal of a prompt is one curve Delta_G(p), which can be computed before the run. The
    numerator is the biased variance also where the divisor is not (ddof 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from proofs_check.checkers import property as property_search
from proofs_check.checkers import rational, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome, conjunction, unknown
from proofs_check.rules import named
from reweight import Advantage
from reweight.groups.radicals import RadicalSum, square_root

ZERO, ONE = Fraction(0), Fraction(1)
RULES = (
    Advantage(),
    Advantage(ddof=1, eps=Fraction(1, 10)),
    Advantage(eps=Fraction(1, 10), eps_rule="inside_root"),
    Advantage(ddof=1, eps=Fraction(1, 5), eps_rule="clamp"),
    Advantage(scale="none"),
    Advantage(scale="mean"),
)
LEAVE_ONE_OUT = (Advantage(baseline="leave_one_out", scale="none"),)
ROUNDING = 1e-12


@dataclass(frozen=True)
class BinaryWeights:
    """w(1) = correct(p, q) Delta, w(0) = -wrong(p, q) Delta, Delta = E[spread(K, G, ddof)/divisor]/(p q)."""

    correct: Callable[[Any, Any], Any]
    wrong: Callable[[Any, Any], Any]
    spread: Callable[[Any, Any, int], Any]
    rules: tuple[Advantage, ...] = RULES


def biased_variance(successes: Any, size: Any, _ddof: int) -> Any:
    """s^2 of K successes among G, ddof 0."""
    return successes * (size - successes) / size**2


def wrong_share(_p: Any, q: Any) -> Any:
    """q, the share of wrong answers."""
    return q


def correct_share(p: Any, _q: Any) -> Any:
    """p, the share of correct answers."""
    return p


def check_symbolic(claim: BinaryWeights) -> Outcome:
    """All G: the groups with K successes contribute equally to both sides, whatever divisor D_K they have.

    A correct member's group has K successes with probability P(Bin(G-1, p) = K-1), a wrong one's with
    P(Bin(G-1, p) = K); their advantages are (1 - K/G)/D_K and -(K/G)/D_K. Relative to P(Bin(G, p) = K)/D_K the terms of
    p w(1), q w(0) and Delta are rational functions of G, K, p and q.
    """
    import sympy

    if any(rule.baseline != "mean" or rule.scale == "leave_one_out_std" for rule in claim.rules):
        return unknown("the argument is about the group's mean as baseline and a common divisor")
    size, successes, p, q = sympy.symbols("G K p q", positive=True)
    domain = "all G, all p, all divisors"
    grid = {size: [3, 4], successes: [1, 2], p: [Fraction(1, 3)], q: [Fraction(2, 3)]}
    groups = sympy.binomial(size, successes)
    of_correct = sympy.combsimp(sympy.binomial(size - 1, successes - 1) / groups)
    of_wrong = sympy.combsimp(sympy.binomial(size - 1, successes) / groups)

    def parts() -> Iterator[Outcome]:
        for ddof in (0, 1):
            gap = claim.spread(successes, size, ddof) / (p * q)
            terms = {
                "p w(1)": of_correct * (1 - successes / size) - p * claim.correct(p, q) * gap,
                "q w(0)": -of_wrong * successes / size + q * claim.wrong(p, q) * gap,
            }
            for name, difference in terms.items():
                method = f"{name}: terms of the groups with K successes, for symbolic G and K"
                yield symbolic.identity(difference, domain, method, points=grid, also={"ddof": ddof})
        total = claim.correct(p, 1 - p) + claim.wrong(p, 1 - p)
        yield symbolic.identity(total - 1, domain, "w(1) - w(0) is Delta, as q + p = 1", points=grid)

    return conjunction(parts(), domain)


def check_rational(claim: BinaryWeights) -> Outcome:
    """The library's exact gap and weights against the two formulas, and Delta against the sum over all 2^G groups."""
    return rational.check_all(
        _cases(claim),
        lambda **case: _violation(claim, **case),
        domain="N = 2, G <= 6, p in 1/7, 3/7, 6/7, listed rules",
        method="gap and group_weights of the library, E[s^2/D] over all 2^G groups",
    )


def _cases(claim: BinaryWeights) -> Iterator[dict[str, Any]]:
    for size, rule, sevenths in product(range(2, 7), named(claim.rules), (1, 3, 6)):
        yield {"N": 2, "G": size, "rule": rule, "p": Fraction(sevenths, 7)}


def _violation(claim: BinaryWeights, G: int, rule: str, p: Fraction, **_: Any) -> Mapping[str, Any] | None:
    import numpy as np

    from reweight import gap, group_weights

    advantage, q = named(claim.rules)[rule], 1 - p
    delta: RadicalSum = gap(p, G, advantage)
    weights = group_weights(np.array([ONE, ZERO]), np.array([p, q]), G, advantage, precision="rational")
    expected = [delta * claim.correct(p, q), delta * -claim.wrong(p, q)]
    by_groups = _expected_spread(claim, p, G, advantage) / (p * q)
    if list(weights) == expected and delta == by_groups:
        return None
    seen = {"w(1)": weights[0], "w(0)": weights[1], "gap": delta, "claimed gap": by_groups}
    return {name: str(value) for name, value in seen.items()}


def _expected_spread(claim: BinaryWeights, p: Fraction, size: int, rule: Advantage) -> RadicalSum:
    """E[spread/D] over all ordered groups, with the divisor from its definition."""
    total = RadicalSum()
    for group in product((ONE, ZERO), repeat=size):
        successes = sum(group, ZERO)
        if 0 < successes < size:
            chance = p ** int(successes) * (1 - p) ** (size - int(successes))
            numerator = RadicalSum.of(chance * claim.spread(successes, Fraction(size), rule.ddof))
            total = total + numerator / _exact_divisor(successes, size, rule)
    return total


def _exact_divisor(successes: Fraction, size: int, rule: Advantage) -> RadicalSum:
    share, eps = successes / size, rule.exact_eps
    if rule.scale in ("none", "mean"):
        return RadicalSum.of(share + eps if rule.scale == "mean" else ONE)
    variance = share * (1 - share) * Fraction(size, size - rule.ddof)
    if rule.eps_rule == "added":
        return square_root(variance) + eps
    return square_root(variance + eps if rule.eps_rule == "inside_root" else max(variance, eps))


def check_property(claim: BinaryWeights) -> Outcome:
    """float64 for groups of up to 64, and several answers of each kind."""
    from hypothesis import strategies as st

    draws = st.fixed_dictionaries(
        {
            "N": st.integers(2, 5),
            "G": st.integers(2, 64),
            "rule": st.sampled_from(list(named(claim.rules))),
            "odds": st.integers(1, 10**6),
        }
    )
    return property_search.search(
        draws,
        lambda **case: _float_violation(claim, **case),
        domain="N <= 5, G <= 64, p from 1e-6 to 1/2",
        method="group_weights, gap and the binomial sum of s^2/D to 1e-12 of the gap, in float64",
        examples=60,
    )


def _float_violation(claim: BinaryWeights, N: int, G: int, rule: str, odds: int) -> Mapping[str, Any] | None:
    import numpy as np
    from scipy.stats import binom

    from reweight import gap, group_weights

    advantage, p, q = named(claim.rules)[rule], 1 / (1 + odds), odds / (1 + odds)
    rewards = [1.0, 1.0, *[0.0] * (N - 1)]
    weights = group_weights(rewards, [p / 2, p / 2, *[q / (N - 1)] * (N - 1)], G, advantage)
    successes = [Fraction(k) for k in range(1, G)]
    spread = [float(claim.spread(k, Fraction(G), advantage.ddof)) for k in successes]
    divisor = [float(_exact_divisor(k, G, advantage)) for k in successes]
    delta = (binom.pmf(np.arange(1, G), G, p) * spread / divisor).sum() / (p * q)
    seen = np.array([weights[0], weights[-1], gap(p, G, advantage)]) / delta
    claimed = np.array([claim.correct(p, q), -claim.wrong(p, q), 1.0])
    return {"relative to the gap": seen.tolist()} if (np.abs(seen - claimed) > ROUNDING).any() else None


CLAIM = Claim(
    id="C02",
    document=__doc__,
    statement=BinaryWeights(wrong_share, correct_share, biased_variance),
    hypotheses=(
        Hypothesis("binary rewards", "the rewards are 0 and 1."),
        Hypothesis(
            "mean baseline",
            "the baseline is the group's mean (with the mean of the others the gap is larger by G/(G-1)).",
            without=BinaryWeights(wrong_share, correct_share, biased_variance, rules=LEAVE_ONE_OUT),
            refuted_by=("rational",),
        ),
    ),
    roads=(
        Road("symbolic", check_symbolic, expected="proved"),
        Road("rational", check_rational, expected="verified"),
        Road("property", check_property, expected="tested"),
    ),
    mutants=(
        Mutant(
            "the numerator is the variance of the divisor's own ddof",
            BinaryWeights(wrong_share, correct_share, lambda k, size, ddof: k * (size - k) / (size * (size - ddof))),
        ),
        Mutant("w(1) = p Delta and w(0) = -q Delta", BinaryWeights(correct_share, wrong_share, biased_variance)),
        Mutant(
            "the variance of G - 1 members",
            BinaryWeights(wrong_share, correct_share, lambda k, n, _: k * (n - k) / (n - 1) ** 2),
        ),
        Mutant("w(1) = q^2 Delta", BinaryWeights(lambda p, q: q * q, correct_share, biased_variance)),
    ),
)
