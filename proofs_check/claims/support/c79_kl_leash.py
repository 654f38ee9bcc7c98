"""The divergence of the pass rates never exceeds that of the policies.

Statement: kl(p_T || p_0) <= KL(pi_T || pi_0), where p = pi(C), with equality exactly when the shares within the correct
    and within the wrong answers are those of the base. Hence p_T <= kl_leash(KL(pi_T || pi_0), p_0).
Map: none; any trainer whatever.
Hypotheses: none on the algorithm; both divergences are of one prompt and in the direction policy to base.
Verdict and domain: PROVED for all N and all pairs of policies.
Source: C79, R27 (docs/theory.md): data processing, log-sum inequality.
Why it matters: a logged KL caps the pass rate that the run can have reached, without knowing what the trainer did. On a
    log it needs the SUM over the policy's own tokens, unclamped, at the sampling temperature.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from proofs_check.checkers import property as property_search
from proofs_check.checkers import rational, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome, conjunction, refuted, unknown
from proofs_check.sampled_tree import BITS, ball

TIE = 1e-30
ROUNDING = 1e-12
DOMAIN = "all N, all pi_T, all pi_0"

Log = Callable[[Any], Any]


def binary_divergence(p: Any, start: Any, log: Log) -> Any:
    """kl(p || p_0) = p log(p/p_0) + (1 - p) log((1 - p)/(1 - p_0))."""
    return p * log(p / start) + (1 - p) * log((1 - p) / (1 - start))


@dataclass(frozen=True)
class Leash:
    """least(p_T, p_0) <= KL(pi_T || pi_0), with equality iff the conditionals are kept."""

    least: Callable[[Any, Any, Log], Any] = binary_divergence


def check_symbolic(leash: Leash) -> Outcome:
    """Any number of answers, by merging two answers of one kind at a time.

    Merging answers of masses a1, a2 (base b1, b2) lowers KL by exactly (a1 + a2) kl(a1/(a1+a2) || b1/(b1+b2)), which is
    non-negative, and 0 only if the two shares agree. N - 2 merges leave one correct and one wrong answer, whose KL is
    kl(p_T || p_0). (If all answers are of one kind, p is 1 or 0 for both and kl is 0.)
    """
    import sympy

    a1, a2, b1, b2, share, start = sympy.symbols("a_1 a_2 b_1 b_2 s t", positive=True)

    def parts() -> Iterator[Outcome]:
        apart = a1 * sympy.log(a1 / b1) + a2 * sympy.log(a2 / b2)
        merged = (a1 + a2) * sympy.log((a1 + a2) / (b1 + b2))
        within = (a1 + a2) * binary_divergence(a1 / (a1 + a2), b1 / (b1 + b2), sympy.log)
        # (1 - a1/(a1 + a2)) is a2/(a1 + a2), which the logarithm must see before it is expanded.
        step = sympy.expand_log(sympy.simplify(apart - merged) - within.replace(sympy.log, _together), force=True)
        yield symbolic.identity(
            sympy.expand(step), DOMAIN, "KL before - KL after one merge = mass times kl of the shares"
        )
        x = sympy.Symbol("x", real=True)
        yield symbolic.above_tangent(sympy.exp(x) - 1 - x, x, 0, DOMAIN, "e^x >= 1 + x, equality at 0 only")
        tangents = share * (1 - start / share) + (1 - share) * (1 - (1 - start) / (1 - share))
        yield symbolic.identity(
            tangents, DOMAIN, "kl(s || t) >= s (1 - t/s) + (1 - s)(1 - (1-t)/(1-s)) = 0, by -log(t/s) >= 1 - t/s"
        )
        yield _is_what_is_left(leash)

    return conjunction(parts(), DOMAIN)


def _together(argument: Any) -> Any:
    import sympy

    return sympy.log(sympy.factor(sympy.together(argument)))


def _is_what_is_left(leash: Leash) -> Outcome:
    """After the merges two answers are left, so the bound must be their KL: less is not attained, more is false."""
    import sympy

    p, start = sympy.symbols("p p_0", positive=True)
    excess = leash.least(p, start, sympy.log) - binary_divergence(p, start, sympy.log)
    method = "the KL of two answers is the bound"
    if sympy.simplify(sympy.expand_log(excess, force=True)) == 0:
        return symbolic.identity(sympy.Integer(0), DOMAIN, method)
    for at in ({p: sympy.Rational(a, 4), start: sympy.Rational(b, 4)} for a, b in product((1, 2, 3), repeat=2)):
        value = excess.subs(at)
        if value.is_zero is False:
            witness = {
                "N": 2,
                "p_T": Fraction(str(at[p])),
                "p_0": Fraction(str(at[start])),
                "bound - KL": f"{value} = {float(value):.6g}",
            }
            return refuted(witness, f"{method}: it differs from their KL here, so it is false or not attained")
    return unknown(f"{method}: the difference does not simplify to 0, and no point tells them apart")


def check_ball(leash: Leash) -> Outcome:
    """Every pair of policies on a grid, as balls; ties are seen exactly, as equal conditionals."""
    return rational.check_all(
        _cases(),
        lambda **case: _violation(leash, **case),
        domain="N <= 4, pi_T and pi_0 in multiples of 1/4 to 1/6, every set C",
        method="kl <= KL as balls, equal exactly where the conditionals agree; the library's kl and binary_kl agree",
        arithmetic="balls",
    )


def _cases() -> Iterator[dict[str, Any]]:
    for answers, parts in ((2, 4), (2, 5), (3, 4), (3, 6), (4, 5)):
        for policy, base in product(rational.policies(answers, parts), repeat=2):
            for correct in range(1, answers):
                yield {"N": answers, "correct": correct, "pi_T": policy, "pi_0": base}


def _violation(
    leash: Leash, N: int, correct: int, pi_T: tuple[Fraction, ...], pi_0: tuple[Fraction, ...]
) -> Mapping[str, Any] | None:
    from flint import ctx

    from proofs_check.entropy_programs import divergence
    from reweight import measures

    with ctx.workprec(BITS):
        p, start = sum(pi_T[:correct], Fraction(0)), sum(pi_0[:correct], Fraction(0))
        least, total = leash.least(ball(p), ball(start), lambda x: x.log()), divergence(pi_T, pi_0)
        kept = all(
            pi_T[y] * (start if y < correct else 1 - start) == pi_0[y] * (p if y < correct else 1 - p) for y in range(N)
        )
        slack = total - least
        seen = float(measures.kl([float(x) for x in pi_T], [float(x) for x in pi_0]))
        two = float(measures.binary_kl(float(p), float(start)))
        accurate = abs(seen - float(total)) <= ROUNDING and abs(two - float(least)) <= ROUNDING
        if accurate and (abs(slack) < TIE if kept else bool(slack > 0)):
            return None
        shown = {"claimed": least, "KL": total}
        return {
            **{name: str(value.str(12, radius=False)) for name, value in shown.items()},
            "library's KL": seen,
            "library's kl": two,
        }


def check_convex(leash: Leash) -> Outcome:
    """The smallest KL at a given pass rate, between a solver's policy and its dual bound, is what is claimed."""

    def cases() -> Iterator[dict[str, Any]]:
        for pi_0 in ((Fraction(1, 5), Fraction(4, 5)), (Fraction(1, 10), Fraction(2, 5), Fraction(1, 2))):
            for p in (Fraction(2, 5), Fraction(4, 5)):
                yield {"N": len(pi_0), "p_T": p, "pi_0": pi_0}

    return rational.check_all(
        cases(),
        lambda **case: _convex_violation(leash, **case),
        domain="N <= 3, p_T in 2/5, 4/5, listed pi_0",
        method="smallest KL at pass rate p_T between the solver's policy and its dual bound, to 1e-6",
        arithmetic="balls",
    )


def _convex_violation(leash: Leash, N: int, p_T: Fraction, pi_0: tuple[Fraction, ...]) -> Mapping[str, Any] | None:
    from flint import ctx

    from proofs_check.entropy_programs import smallest_divergence

    with ctx.workprec(BITS):
        # The last answer is wrong, all others are correct.
        found = smallest_divergence(pi_0, [True] * (N - 1) + [False], p_T)
        if not found.value - found.bound < 1e-6:
            raise ArithmeticError("the solver's policy and multiplier are too far apart to decide")
        least = leash.least(ball(p_T), ball(1 - pi_0[-1]), lambda x: x.log())
        if found.bound - 1e-12 < least < found.value + 1e-12:
            return None
        return {
            "pi_T": found.policy,
            "claimed": str(least.str(9, radius=False)),
            "KL": str(found.value.str(9, radius=False)),
        }


def check_property(leash: Leash) -> Outcome:
    """The library's kl, binary_kl and kl_leash in float64 on drawn policies of up to eight answers."""
    from hypothesis import strategies as st

    def masses(n: int) -> Any:
        return st.lists(st.integers(1, 1000), min_size=n, max_size=n)

    draws = st.integers(2, 8).flatmap(
        lambda n: st.fixed_dictionaries(
            {"N": st.just(n), "correct": st.integers(1, n - 1), "final": masses(n), "base": masses(n)}
        )
    )
    return property_search.search(
        draws,
        lambda **case: _float_violation(leash, **case),
        domain="N <= 8, masses in ratios up to 1000",
        method="kl, binary_kl and kl_leash of the library, in float64",
        examples=60,
    )


def _float_violation(leash: Leash, N: int, correct: int, final: list[int], base: list[int]) -> Mapping[str, Any] | None:
    import numpy as np

    from reweight import bounds, measures

    pi, start = np.array(final) / sum(final), np.array(base) / sum(base)
    p, p_0 = float(pi[:correct].sum()), float(start[:correct].sum())
    total = float(measures.kl(pi, start))
    least = leash.least(p, p_0, math.log)
    agrees = abs(least - float(measures.binary_kl(p, p_0))) <= ROUNDING
    lower, upper = (float(bounds.kl_leash(total, p_0, branch=branch)) for branch in ("lower", "upper"))
    within = least <= total + ROUNDING and lower - 1e-7 <= p <= upper + 1e-7
    return None if agrees and within else {"claimed": least, "KL": total, "p_T": p, "leash": (lower, upper)}


CLAIM = Claim(
    id="C79",
    document=__doc__,
    statement=Leash(),
    hypotheses=(
        Hypothesis(
            "direction",
            "both divergences run from the policy to the base (with the binary one reversed it is false).",
            without=Leash(lambda p, start, log: binary_divergence(start, p, log)),
            refuted_by=("symbolic", "ball", "convex"),
        ),
        Hypothesis("whole sequence", "KL is that of whole answers: the sum over tokens, not their mean."),
    ),
    roads=(
        Road("symbolic", check_symbolic, expected="proved"),
        Road("ball", check_ball, expected="verified"),
        Road("convex", check_convex, expected="verified"),
        Road("property", check_property, expected="tested"),
    ),
    mutants=(
        Mutant("1% more", Leash(lambda p, start, log: binary_divergence(p, start, log) * 101 / 100)),
        Mutant("1% less is attained", Leash(lambda p, start, log: binary_divergence(p, start, log) * 99 / 100)),
        Mutant("the correct answers' term alone", Leash(lambda p, start, log: p * log(p / start))),
        Mutant("2 (p_T - p_0)^2 is attained", Leash(lambda p, start, _: 2 * (p - start) ** 2)),
    ),
)
