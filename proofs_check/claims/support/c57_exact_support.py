"""What has probability exactly zero keeps it, and nothing else falls to zero.

Statement: pi_T(y) = 0 if and only if pi_0(y) = 0, for every number of steps T.
Map: TILT, PG and S-PG, all three: each step is pi'(y) = pi(y) m(y)/Z with finite m(y) > 0.
Hypotheses: on-policy samples, full softmax, no mixing or smoothing, no truncation (top-k, top-p), finite step.
Verdict and domain: PROVED for all N, all T and all positive multipliers; VACUOUS for a softmax.
Source: C57, N01 (docs/theory.md); literal reading of arXiv 2510.15990 and of Theorem 1 of arXiv 2507.14843.
Why it matters: this is the support theorem as it is usually quoted. A language model has no exact zeros, so it says
    nothing about one: the version with content is the discovery ceiling (C58).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

from proofs_check.checkers import rational, smt, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome, conjunction, proved, refuted, unknown
from reweight.objectives.advantage import Advantage

ZERO, ONE = Fraction(0), Fraction(1)
STEPS = 2


@dataclass(frozen=True)
class Step:
    """pi' = (1 - mixing) pi m/Z + mixing/N, where what is then below `cut` is set to zero."""

    mixing: Fraction = ZERO
    cut: Fraction = ZERO


def check_symbolic(step: Step) -> Outcome:
    """One step with any positive multiplier, any normaliser and any number of answers; T steps by induction."""
    import sympy

    multiplier, total, answers = sympy.symbols("m Z N", positive=True)
    mass = sympy.Symbol("pi", positive=True)
    domain = "all N, all T, all positive multipliers"

    def after(before: Any) -> Any:
        mixing, cut = (sympy.Rational(x.numerator, x.denominator) for x in (step.mixing, step.cut))
        value = (1 - mixing) * before * multiplier / total + mixing / answers
        return sympy.Piecewise((0, value < cut), (value, True)) if cut else value

    def parts() -> Iterator[Outcome]:
        grid = {answers: [2], multiplier: [1], total: [1]}
        yield symbolic.identity(after(sympy.Integer(0)), domain, "a step takes 0 to 0", points=grid)
        kept = after(mass)
        if kept.is_positive:
            yield proved(domain, "a step takes a positive number to a product and quotient of positive numbers")
            return
        small = kept.subs({mass: sympy.Rational(1, 1000), multiplier: 1, total: 1, answers: 2})
        words = "a step takes a positive number to zero"
        yield (
            refuted({"pi": Fraction(1, 1000), "m": 1, "Z": 1}, words)
            if small == 0
            else unknown(words + "? not decided")
        )

    return conjunction(parts(), domain)


def check_smt(step: Step) -> Outcome:
    """Three answers, some of which may have no mass: z3 looks for one whose zero appears or disappears."""
    import z3

    masses, factors = z3.Reals("pi_1 pi_2 pi_3"), z3.Reals("m_1 m_2 m_3")
    total = sum(mass * factor for mass, factor in zip(masses, factors, strict=True))
    moved = smt.fraction(ONE - step.mixing) * masses[0] * factors[0] / total + smt.fraction(step.mixing) / 3
    after = z3.If(moved < smt.fraction(step.cut), z3.RealVal(0), moved) if step.cut else moved
    return smt.prove(
        [*(mass >= 0 for mass in masses), sum(masses) == 1, *(factor > 0 for factor in factors)],
        (after == 0) == (masses[0] == 0),
        domain="N = 3, all pi, all positive multipliers",
        method="probabilities may be zero, multipliers are positive",
        also={"N": 3, "steps": 1},
    )


def check_rational(step: Step) -> Outcome:
    """The library's three updates on flat policies with exact zeros; all groups for the sampled one."""
    return rational.check_all(
        _cases(),
        lambda **case: _violation(step, **case),
        domain="N <= 3, G = 2, T <= 2, TILT, PG and every group of S-PG, step sizes 1/2 and 5, uniform on each support",
        method="the zeros of the library's policies",
        arithmetic="float64, in which a logit of minus infinity is exact",
    )


def _cases() -> Iterator[dict[str, Any]]:
    for answers, update, eta in product((2, 3), ("TILT", "PG", "S-PG"), (Fraction(1, 2), Fraction(5))):
        for present in product((False, True), repeat=answers):
            if any(present):
                pi = tuple(Fraction(int(there), sum(present)) for there in present)
                yield {"N": answers, "G": 2, "steps": STEPS, "update": update, "eta": eta, "pi_0": pi}


def _violation(step: Step, N: int, steps: int, update: str, eta: Fraction, pi_0: tuple[Fraction, ...], **_: Any) -> Any:
    import numpy as np

    from reweight.problems.problem import Problem

    problem = Problem(np.arange(N) % 2)
    paths = [np.array(pi_0, dtype=float)]
    for done in range(1, steps + 1):
        paths = [_leaked(after, step) for before in paths for after in _moved(problem, before, update, float(eta))]
        for after in paths:
            if [mass > 0 for mass in after] != [mass > 0 for mass in pi_0]:
                return {"steps": done, "pi_T": [float(mass) for mass in after]}
    return None


def _moved(problem: Any, before: Any, update: str, eta: float) -> Iterator[Any]:
    """The policies after one step: one for TILT and PG, one for each group that can be drawn for S-PG."""
    import numpy as np

    from reweight import updates
    from reweight.objectives.objective import Objective
    from reweight.policies.flat import FlatPolicy

    policy, objective = FlatPolicy.from_probabilities(before), Objective(Advantage(), 2)
    if update == "S-PG":
        support = [y for y, mass in enumerate(before) if mass > 0]
        sampled = updates.SampledPolicyGradient(eta)
        for group in combinations_with_replacement(support, 2):
            after = sampled.apply_to_draws(problem, {0: np.array([group])}, policy, objective)
            yield after.log_probs(problem).probabilities
        return
    rule = updates.Tilt(eta) if update == "TILT" else updates.PolicyGradient(eta)
    yield rule.apply(problem, policy, objective).log_probs(problem).probabilities


def _leaked(probabilities: Any, step: Step) -> Any:
    mixed = (1 - float(step.mixing)) * probabilities + float(step.mixing) / len(probabilities)
    mixed[mixed < float(step.cut)] = 0
    return mixed / mixed.sum()


CLAIM = Claim(
    id="C57",
    document=__doc__,
    statement=Step(),
    vacuous="no probability of a softmax is exactly zero, so a language model never meets the hypothesis, and what a"
    " small probability may become is not bounded (a tilt at beta = 0.04 allows a factor of 10^10.9)",
    hypotheses=(
        Hypothesis(
            "no mixing",
            "nothing is mixed into the policy (label smoothing, uniform exploration, hints).",
            without=Step(mixing=Fraction(1, 10**6)),
            refuted_by=("symbolic", "smt", "rational"),
        ),
        Hypothesis(
            "no truncation",
            "nothing is cut off (top-k, top-p and min-p set probabilities to zero).",
            without=Step(cut=Fraction(1, 3)),
            refuted_by=("smt", "rational"),
        ),
    ),
    roads=(
        Road("symbolic", check_symbolic, expected="proved"),
        Road("smt", check_smt, expected="proved"),
        Road("rational", check_rational, expected="verified"),
    ),
    mutants=(
        Mutant("mixing in one part in a billion changes nothing", Step(mixing=Fraction(1, 10**9))),
        Mutant("cutting below 26% changes nothing", Step(cut=Fraction(26, 100))),
    ),
)
