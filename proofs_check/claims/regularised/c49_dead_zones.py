"""The gain of the regularised optimum dies out at both ends: where the base knows nothing and where it knows all.

Statement: 0 < gain < min(Q (e^{1/beta} - 1), 1 - Q), and each of the two bounds is approached:
    gain/(Q (e^{1/beta} - 1)) tends to 1 for Q to 0, and 1 - Q - gain tends to 0 for e^{1/beta} to infinity.
Map: none; it is about the optimum of E[r] - beta KL(pi || pi_0).
Hypotheses: rewards 0 and 1, KL of the policy to the base, beta > 0, 0 < Q < 1, gain as in C48.
Verdict and domain: PROVED for all Q and all beta.
Source: C49 (docs/theory.md); arXiv 2510.15990 (as reconstructed).
Why it matters: prompts that the base almost never or almost always solves have nothing to gain, whatever the training.
    At practical beta the first zone is out of sight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from proofs_check.checkers import rational, smt, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome, conjunction, lemma, refuted
from proofs_check.tilted import gain

BITS = 256
ACCURACY = Fraction(1, 10**12)
NEARLY = Fraction(999, 1000)

Formula = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class DeadZones:
    """0 < gain(Q, x) < low(Q, x), gain(Q, x) < high(Q, x), and each bound is approached, with x = e^{1/beta}."""

    low: Formula
    high: Formula
    gain: Formula = gain


def low_mass(base: Any, factor: Any) -> Any:
    """Q (x - 1)."""
    return base * (factor - 1)


def saturation(base: Any, _factor: Any) -> Any:
    """1 - Q."""
    return 1 - base


def check_smt(claim: DeadZones) -> Outcome:
    """Q in (0, 1) and x > 1 as real variables: no values break a bound, and each is met to any share below 1."""
    import z3

    base, factor = z3.Reals("Q x")
    allowed = [base > 0, base < 1, factor > 1]
    gained = claim.gain(base, factor)
    domain = "all Q, all beta"

    def parts() -> Iterator[Outcome]:
        for name, bound in (("low mass", claim.low), ("saturation", claim.high)):
            yield smt.prove(
                allowed,
                z3.And(gained > 0, gained < bound(base, factor)),
                domain=domain,
                method=f"{name}: 0 < Q < 1 and x = e^(1/beta) > 1 as real variables",
            )
        # For every s there are such Q and x: so small a Q that x hardly matters, so large an x that Q hardly does.
        share = z3.Real("s")
        yield _approached("low mass", claim.gain, claim.low, base * 2 * factor == 1 - share)
        yield _approached("saturation", claim.gain, claim.high, (factor - 1) * base * (1 - share) == 1)

    return conjunction(parts(), domain)


def _approached(name: str, gained: Formula, bound: Formula, where: Any) -> Outcome:
    """Whether the gain is more than any share s < 1 of the bound at these Q and x, or else out of reach everywhere."""
    import z3

    share, base, factor = z3.Reals("s Q x")
    allowed = [base > 0, base < 1, factor > 1]
    met = smt.prove(
        [share > 0, share < 1, *allowed, where],
        gained(base, factor) > share * bound(base, factor),
        domain="all Q, all beta",
        method=f"{name}: the gain exceeds any share s < 1 of it where {where}",
    )
    if met.kind != "refuted":
        return met
    never = smt.prove(
        allowed,
        gained(base, factor) < smt.fraction(NEARLY) * bound(base, factor),
        domain="all Q, all beta",
        method=f"{name}: the gain stays below the share {NEARLY} of it at every Q and x",
    )
    return refuted({"bound": name, "share": NEARLY}, never.certificate) if never.kind == "proved" else lemma(met)


def check_symbolic(claim: DeadZones) -> Outcome:
    """Both slacks as rational functions with non-negative coefficients, and the limits that make the bounds tight."""
    import sympy

    right, wrong, factor = sympy.symbols("a b x", positive=True)
    base = right / (right + wrong)
    gained = claim.gain(base, factor)
    free = sympy.Symbol("Q", positive=True)
    domain = "all Q, all beta"

    def parts() -> Iterator[Outcome]:
        least = {right: 0, wrong: 0, factor: 1}
        slacks = {"low mass": claim.low(base, factor) - gained, "saturation": claim.high(base, factor) - gained}
        signs = [*((f"{name} - gain", slack) for name, slack in slacks.items()), ("gain", gained)]
        yield symbolic.nonnegative_terms(signs, domain, "Q = a/(a + b), x >= 1", least=least)
        share = claim.gain(free, factor) / claim.low(free, factor)
        yield symbolic.limit(share, free, 0, 1, domain, "gain/low mass for Q to 0")
        rest = claim.high(free, factor) - claim.gain(free, factor)
        yield symbolic.limit(rest, factor, sympy.oo, 0, domain, "1 - Q - gain for x to infinity")

    return conjunction(parts(), domain)


def check_ball(claim: DeadZones) -> Outcome:
    """The library's gain and bounds in float64, each against its formula as a ball, and in the stated order."""

    def cases() -> Iterator[dict[str, Any]]:
        bases = (Fraction(1, 10**9), Fraction(1, 100), Fraction(1, 4), Fraction(1, 2), Fraction(99, 100))
        for base, beta in product(bases, (Fraction(1, 25), Fraction(1, 4), Fraction(1), Fraction(8))):
            yield {"Q": base, "beta": beta}

    return rational.check_all(
        cases(),
        lambda **case: _violation(claim, **case),
        domain="listed Q from 1e-9 to 0.99, beta from 0.04 to 8",
        method="tilt_gain and tilt_gain_bounds within 1e-12 of the formulas as balls, and in order",
        arithmetic="balls",
    )


def _violation(claim: DeadZones, Q: Fraction, beta: Fraction) -> Mapping[str, Any] | None:
    from flint import arb, ctx, fmpq

    from reweight.bounds import tilt_gain, tilt_gain_bounds

    floats = float(Q), float(beta)
    bounds = tilt_gain_bounds(*floats)
    library = {"gain": tilt_gain(*floats), "low": bounds.low_mass, "high": bounds.saturation}
    with ctx.workprec(BITS):
        base, exact_beta = (arb(fmpq(*value.as_integer_ratio())) for value in floats)
        factor = (1 / exact_beta).exp()
        exact = {name: getattr(claim, name)(base, factor) for name in library}
        close = all(
            abs(arb(float(library[name])) / value - 1) < arb(fmpq(ACCURACY.numerator, ACCURACY.denominator))
            for name, value in exact.items()
        )
        ordered = 0 < exact["gain"] < exact["low"] and exact["gain"] < exact["high"]
        if close and ordered:
            return None
        shown = {f"claimed {name}": str(value.str(12, radius=False)) for name, value in exact.items()}
        return {**{f"library's {name}": float(value) for name, value in library.items()}, **shown}


CLAIM = Claim(
    id="C49",
    document=__doc__,
    statement=DeadZones(low_mass, saturation),
    hypotheses=(
        Hypothesis("binary rewards", "the rewards are 0 and 1."),
        Hypothesis("KL to the base", "the penalty is KL(pi || pi_0); for KL(pi_0 || pi) see C54."),
    ),
    roads=(
        Road("smt", check_smt, expected="proved"),
        Road("symbolic", check_symbolic, expected="proved"),
        Road("ball", check_ball, expected="verified"),
    ),
    mutants=(
        Mutant("low mass: 1% less", DeadZones(lambda q, x: q * (x - 1) * 99 / 100, saturation)),
        Mutant("low mass: 1% more is still claimed tight", DeadZones(lambda q, x: q * (x - 1) * 101 / 100, saturation)),
        Mutant("saturation: 1 - Q - Q/x", DeadZones(low_mass, lambda q, x: 1 - q - q / x)),
        Mutant("saturation: (1 - Q)(1 - 2/x)", DeadZones(low_mass, lambda q, x: (1 - q) * (1 - 2 / x))),
    ),
    vacuous="at beta = 0.04 the first bound exceeds 1 for Q above 10^-10.9, and the second is all that can be gained",
)
