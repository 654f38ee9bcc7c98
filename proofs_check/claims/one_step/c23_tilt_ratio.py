"""One tilt raises an answer by at most e^{eta w}: the normaliser is at least 1.

Statement: Z = sum_y pi(y) e^{eta w(y)} >= 1, hence pi'(y)/pi(y) = e^{eta w(y)}/Z <= e^{eta w(y)}.
Map: TILT (flat softmax).
Hypotheses: sum_y pi(y) w(y) = 0 (C01: group-mean baseline, scale common to the group); any rewards, any step size.
Verdict and domain: PROVED for all N, all G, all rewards and all step sizes.
Source: C23, R07 (docs/theory.md).
Why it matters: it bounds the density ratio of a step from the weights alone, with no knowledge of the other answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from proofs_check import sampled_tree as tree
from proofs_check.checkers import property as property_search
from proofs_check.checkers import rational, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome, conjunction, lemma, unknown
from reweight.objectives.advantage import Advantage

CENTRED = Advantage()
ROUNDING = 1e-9
LEVELS = (Fraction(0), Fraction(1, 2), Fraction(1))


@dataclass(frozen=True)
class TiltBound:
    """Z >= 1 + curvature E[(eta w)^2] and pi'/pi <= e^{exponent eta w}."""

    curvature: Fraction = Fraction(0)
    exponent: Fraction = Fraction(1)
    advantage: Advantage = CENTRED
    levels: tuple[Fraction, ...] = LEVELS


def check_symbolic(bound: TiltBound) -> Outcome:
    """Termwise: e^x >= 1 + x, and the mean of 1 + eta w is 1, so the mean of e^{eta w} is at least 1, for any N.

    A point where the termwise inequality fails refutes the mean too: give it little mass in a problem with two answers.
    """
    import sympy

    if bound.advantage != CENTRED:
        return unknown("the argument is about weights of mean zero")
    x = sympy.Symbol("x", real=True)
    exact, exponent = (sympy.Rational(v.numerator, v.denominator) for v in (bound.curvature, bound.exponent))
    masses, weights, eta = sympy.symbols("pi_1:4"), sympy.symbols("w_1:4"), sympy.Symbol("eta")

    def parts() -> Iterator[Outcome]:
        yield symbolic.above_tangent(
            sympy.exp(x) - 1 - x - exact * x**2, x, 0, "all real x", "e^x >= 1 + x, applied to x = eta w(y) for each y"
        )
        mean = sum(m * (1 + eta * w) for m, w in zip(masses, weights, strict=True))
        split = sum(masses) + eta * sum(m * w for m, w in zip(masses, weights, strict=True))
        yield symbolic.identity(
            mean - split,
            "all N",
            "by linearity sum pi (1 + eta w) = sum pi + eta sum pi w = 1 + 0 for any number of answers",
        )
        # pi'/pi = e^x/Z is at most e^{kx} if e^{(1-k)x} <= Z; of Z only Z >= 1 is known, and x has either sign.
        yield lemma(
            symbolic.identity(sympy.exp((1 - exponent) * x) - 1, "all x", "e^{(1-k)x} is 1, so it is at most Z")
        )

    return conjunction(parts(), "all N, all G, all rewards, all step sizes")


def check_ball(bound: TiltBound) -> Outcome:
    """The library's exact weights on every small problem; exponentials as balls."""
    return rational.check_all(
        _cases(bound),
        lambda **case: _violation(bound, **case),
        domain="N <= 3, G <= 3, rewards in 0, 1/2, 1, pi in multiples of 1/4, eta in 1/2, 3",
        method="exact weights from group_weights",
        arithmetic="balls",
    )


def _cases(bound: TiltBound) -> Iterator[dict[str, Any]]:
    for answers, size, eta in product((2, 3), (2, 3), (Fraction(1, 2), Fraction(3))):
        for policy, rewards in product(rational.policies(answers, 4), product(bound.levels, repeat=answers)):
            yield {"N": answers, "G": size, "eta": eta, "pi": policy, "rewards": rewards}


def _violation(
    bound: TiltBound, G: int, eta: Fraction, pi: tuple[Fraction, ...], rewards: tuple[Fraction, ...], **_: Any
) -> Mapping[str, Any] | None:
    import numpy as np
    from flint import ctx

    from reweight.groups.weights import group_weights

    weights = group_weights(np.array(rewards), np.array(pi), G, bound.advantage, precision="rational")
    if not any(weights):
        return None
    with ctx.workprec(tree.BITS):
        x = [tree.ball(w * eta) for w in weights]
        normaliser = sum(tree.ball(mass) * value.exp() for mass, value in zip(pi, x, strict=True))
        square = sum(tree.ball(mass) * value * value for mass, value in zip(pi, x, strict=True))
        floor = tree.surely_less(1 + tree.ball(bound.curvature) * square, normaliser)
        ratios = all(tree.surely_less((value * tree.ball(1 - bound.exponent)).exp(), normaliser) for value in x)
        if floor and ratios:
            return None
        return {"eta w": [str(w * eta) for w in weights], "Z": str(normaliser.str(12, radius=False))}


def check_property(bound: TiltBound) -> Outcome:
    """The library's own Tilt in float64, on drawn problems with up to six answers and groups of up to eight."""
    from hypothesis import strategies as st

    draws = st.integers(2, 6).flatmap(
        lambda n: st.fixed_dictionaries(
            {
                "N": st.just(n),
                "G": st.integers(2, 8),
                "eta": st.sampled_from((Fraction(1, 4), Fraction(1), Fraction(5))),
                "parts": st.lists(st.integers(1, 50), min_size=n, max_size=n),
                "rewards": st.lists(st.sampled_from(bound.levels), min_size=n, max_size=n),
            }
        )
    )
    return property_search.search(
        draws,
        lambda **case: _float_violation(bound, **case),
        domain="N <= 6, G <= 8, eta in 1/4, 1, 5",
        method="log pi'/pi of Tilt against eta w of group_weights, in float64",
        examples=100,
    )


def _float_violation(
    bound: TiltBound, G: int, eta: Fraction, parts: list[int], rewards: list[Fraction], **_: Any
) -> Mapping[str, Any] | None:
    import numpy as np

    from reweight.groups.weights import group_weights
    from reweight.objectives.objective import Objective
    from reweight.policies.flat import FlatPolicy
    from reweight.problems.problem import Problem
    from reweight.updates.tilt import Tilt

    policy, values = np.array(parts) / sum(parts), np.array(rewards, dtype=float)
    problem, start = Problem(values), FlatPolicy.from_probabilities(policy)
    moved = Tilt(float(eta)).apply(problem, start, Objective(bound.advantage, G)).log_probs(problem).total
    weights = group_weights(values, policy, G, bound.advantage)
    excess = float((moved - np.log(policy) - float(bound.exponent * eta) * weights).max())
    return {"log excess": excess} if excess > ROUNDING else None


CLAIM = Claim(
    id="C23",
    document=__doc__,
    statement=TiltBound(),
    hypotheses=(
        Hypothesis(
            "centred advantages",
            "the weights have mean zero under the policy (without a baseline, negative rewards make Z < 1).",
            without=TiltBound(advantage=Advantage(baseline="none", scale="none"), levels=(Fraction(-1), Fraction(0))),
            refuted_by=("ball",),
        ),
    ),
    roads=(
        Road("symbolic", check_symbolic, expected="proved"),
        Road("ball", check_ball, expected="verified"),
        Road("property", check_property, expected="tested", covers=("exponent", "advantage", "levels")),
    ),
    mutants=(
        Mutant("Z >= 1 + E[(eta w)^2]/2", TiltBound(curvature=Fraction(1, 2))),
        Mutant("the ratio is at most e^{0.9 eta w}", TiltBound(exponent=Fraction(9, 10))),
        Mutant("the ratio is at most e^{1.1 eta w}", TiltBound(exponent=Fraction(11, 10))),
    ),
)
