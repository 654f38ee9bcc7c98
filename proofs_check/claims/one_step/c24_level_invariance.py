"""A tilt moves mass between reward levels and leaves the shares within each level as they were.

Statement: pi'(y)/pi'(z) = pi(y)/pi(z) whenever r(y) = r(z); so pi'(. | level) = pi(. | level).
Map: TILT (flat softmax).
Hypotheses: the weight of an answer depends on its reward only (any group advantage; no length normalisation, no bonus).
Verdict and domain: PROVED for all N, all G, all rewards and all step sizes.
Source: C24, R07 (docs/theory.md).
Why it matters: this is "conservative reweighting" in the strict sense. It fails for PG (C25), for 1/|o|
    normalisation and for entropy bonuses, so a run that keeps these shares behaves like a tilt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from proofs_check import enumeration
from proofs_check.checkers import rational, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome
from reweight.objectives.advantage import Advantage

ADVANTAGES = (Advantage(), Advantage(ddof=1, eps=Fraction(1, 100)), Advantage(baseline="leave_one_out", scale="none"))


@dataclass(frozen=True)
class Invariance:
    """Ratios within a level are kept by logit changes eta exponent(pi(y), w(y), length(y))."""

    exponent: Callable[[Any, Any, Any], Any]


def the_weight(_mass: Any, weight: Any, _length: Any) -> Any:
    """The tilt: logits move by eta w."""
    return weight


def check_symbolic(claim: Invariance) -> Outcome:
    """Two answers of a level with one weight: the change of their log-ratio is the difference of two exponents."""
    import sympy

    a, b, eta, first, second = sympy.symbols("pi_y pi_z eta L_y L_z", positive=True)
    weight = sympy.Symbol("w", real=True)
    before = a / b
    after = (
        a * sympy.exp(eta * claim.exponent(a, weight, first)) / (b * sympy.exp(eta * claim.exponent(b, weight, second)))
    )
    return symbolic.identity(
        sympy.simplify(after / before) - 1,
        "all N, all G, all rewards, all step sizes",
        "Z cancels in pi'(y)/pi'(z), and equal rewards have equal weights",
    )


def check_rational(claim: Invariance) -> Outcome:
    """Equal rewards, equal exponents, as exact sums of square roots: by enumeration, and so says the library."""
    return rational.check_all(
        _cases(),
        lambda **case: _violation(claim, **case),
        domain="N = 3, G <= 3, rewards in 0, 1/3, 1, pi in multiples of 1/5, lengths 1..N, three advantages",
        method="exponents of equally rewarded answers by enumeration over all groups",
    )


def _cases() -> Iterator[dict[str, Any]]:
    levels = (Fraction(0), Fraction(1, 3), Fraction(1))
    for size, advantage in product((2, 3), range(len(ADVANTAGES))):
        for policy, rewards in product(rational.policies(3, 5), product(levels, repeat=3)):
            if len(set(rewards)) == 2:
                yield {"N": 3, "G": size, "advantage": advantage, "pi": policy, "rewards": rewards}


def _violation(
    claim: Invariance, N: int, G: int, advantage: int, pi: tuple[Fraction, ...], rewards: tuple[Fraction, ...]
) -> Mapping[str, Any] | None:
    weights = enumeration.weights(rewards, pi, G, ADVANTAGES[advantage])
    wrong = enumeration.disagreement(weights, rewards, pi, G, ADVANTAGES[advantage])
    if wrong:
        return wrong
    exponents = [claim.exponent(pi[y], weights[y], Fraction(y + 1)) for y in range(N)]
    for y, z in product(range(N), repeat=2):
        if rewards[y] == rewards[z] and exponents[y] != exponents[z]:
            return {"answers": (y, z), "exponents": (str(exponents[y]), str(exponents[z]))}
    return None


CLAIM = Claim(
    id="C24",
    document=__doc__,
    statement=Invariance(the_weight),
    hypotheses=(
        Hypothesis(
            "reward only",
            "the exponent depends on the reward alone (1/|o| normalisation brings in the length).",
            without=Invariance(lambda _, weight, length: weight * (1 / length)),
            refuted_by=("rational", "symbolic"),
        ),
    ),
    roads=(
        Road("symbolic", check_symbolic, expected="proved"),
        Road("rational", check_rational, expected="verified"),
    ),
    mutants=(
        Mutant("the population policy gradient keeps them too", Invariance(lambda mass, weight, _: weight * mass)),
        Mutant("a bonus of 1/100 on unlikely answers keeps them", Invariance(lambda mass, w, _: w + (1 - mass) / 100)),
    ),
)
