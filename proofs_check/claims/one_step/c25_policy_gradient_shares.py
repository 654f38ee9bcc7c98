"""A step of policy gradient keeps the shares of the correct answers among each other.

Statement: pi'(y)/pi'(z) = pi(y)/pi(z) for correct y and z, where pi' is one population step of policy gradient from pi.
Map: PG (flat softmax).
Hypotheses: rewards 0 and 1, group advantages, on-policy, no KL.
Verdict and domain: REFUTED by any two correct answers of unequal mass beside a wrong one. True are the three siblings:
    for TILT; for PG between answers of equal mass; and that PG never lowers the ratio of the larger to the smaller.
Source: C25, R09 (docs/theory.md).
Why it matters: under policy gradient the likelier of two correct answers gains on the other at every step, so diversity
    is lost with no loss of pass rate. What is proved of tilts (the "conservative reweighting" of C24) is false for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Literal

from proofs_check.checkers import property as property_search
from proofs_check.checkers import rational, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome
from proofs_check.rules import named
from reweight import Advantage

RULES = named(
    [Advantage(), Advantage(ddof=1, eps=Fraction(1, 10000)), Advantage(baseline="leave_one_out", scale="none")]
)
ROUNDING = 1e-9


@dataclass(frozen=True)
class Shares:
    """The ratio of two correct answers, the larger over the smaller, is "kept" or "not lowered" by a step.

    `equal_masses` restricts the statement to pairs of one mass.
    """

    update: Literal["policy_gradient", "tilt"]
    ratio: Literal["kept", "not lowered"] = "kept"
    equal_masses: bool = False

    def logit_change(self, mass: Any, weight: Any) -> Any:
        """Change of a logit by one step, in units of eta."""
        return mass * weight if self.update == "policy_gradient" else weight

    def agrees(self, change: Any) -> bool:
        """Whether a change of log(larger/smaller) is what is claimed."""
        return bool(change == 0 if self.ratio == "kept" else change >= 0)


def check_symbolic(claim: Shares) -> Outcome:
    """Two correct answers have one weight w > 0 (C02), so the change of their log-ratio is known for all of them."""
    import sympy

    smaller, eta, weight = sympy.symbols("pi_z eta w", positive=True)
    excess = sympy.Symbol("d", nonnegative=True)
    larger = smaller if claim.equal_masses else smaller + excess
    change = eta * (claim.logit_change(larger, weight) - claim.logit_change(smaller, weight))
    domain = "all N, all G, all pi, all step sizes"
    method = "Z cancels in pi'(y)/pi'(z) for pi(y) = pi(z) + d"
    if claim.ratio == "kept":
        small = {smaller: [Fraction(1, 4)], excess: [Fraction(1, 4)], eta: [1], weight: [1]}
        return symbolic.identity(change, domain, method, points=small)
    least = dict.fromkeys((smaller, excess, eta, weight), 0)
    return symbolic.nonnegative_terms([("change of the log-ratio", change)], domain, method, least=least)


def check_rational(claim: Shares) -> Outcome:
    """Logit changes of correct answers as exact sums of square roots, from the library's exact weights."""
    return rational.check_all(
        _cases(claim),
        lambda **case: _violation(claim, **case),
        domain="N <= 4, G <= 4, pi in multiples of 1/4 to 1/6, three advantages",
        method="exact weights of the library, times the mass for PG",
    )


def _cases(claim: Shares) -> Iterator[dict[str, Any]]:
    shapes = ((3, 3), (3, 4), (3, 5), (3, 6), (4, 6))
    for (answers, parts), size, rule in product(shapes, (2, 3, 4), RULES):
        for pi in rational.policies(answers, parts):
            for correct in range(2, answers):
                # Order does not matter, so wrong answers come first and the correct ones from small to large.
                wrong, right = pi[:-correct], pi[-correct:]
                if list(wrong) == sorted(wrong) and list(right) == sorted(right):
                    case = {"N": answers, "G": size, "rule": rule, "pi": pi, "correct": correct}
                    if not claim.equal_masses or len(set(right)) == 1:
                        yield case


def _violation(
    claim: Shares, N: int, G: int, rule: str, pi: tuple[Fraction, ...], correct: int
) -> Mapping[str, Any] | None:
    import numpy as np

    from reweight import group_weights

    rewards = [Fraction(0)] * (N - correct) + [Fraction(1)] * correct
    weights = group_weights(np.array(rewards), np.array(pi), G, RULES[rule], precision="rational")
    smaller, larger = N - correct, N - 1
    change = claim.logit_change(pi[larger], weights[larger]) - claim.logit_change(pi[smaller], weights[smaller])
    if claim.agrees(change):
        return None
    return {"rewards": rewards, "answers": (larger, smaller), "change of log-ratio over eta": str(change)}


def check_property(claim: Shares) -> Outcome:
    """The library's own updates in float64: shares before and after one step."""
    from hypothesis import strategies as st

    masses = st.integers(1, 30)
    draws = st.fixed_dictionaries(
        {
            "G": st.integers(2, 8),
            "eta": st.floats(0.1, 5),
            "wrong": st.lists(masses, min_size=1, max_size=3),
            "right": masses.map(lambda m: [m] * 2)
            if claim.equal_masses
            else st.lists(masses, min_size=2, max_size=4).map(sorted),
        }
    )
    return property_search.search(
        draws,
        lambda **case: _float_violation(claim, **case),
        domain="N <= 7, G <= 8, eta from 0.1 to 5",
        method="log-ratio of the largest and the smallest correct answer before and after a step of the library",
        examples=60,
    )


def _float_violation(claim: Shares, G: int, eta: float, wrong: list[int], right: list[int]) -> Mapping[str, Any] | None:
    import numpy as np

    from reweight import FlatPolicy, Objective, PolicyGradient, Problem, Tilt

    problem = Problem([0.0] * len(wrong) + [1.0] * len(right))
    policy = FlatPolicy.from_probabilities(np.array([*wrong, *right]) / sum([*wrong, *right]))
    update = PolicyGradient(eta) if claim.update == "policy_gradient" else Tilt(eta)
    moved = update.apply(problem, policy, Objective(Advantage(), G))
    before, after = (p.log_probs(problem).total for p in (policy, moved))
    change = float((after[-1] - after[-len(right)]) - (before[-1] - before[-len(right)]))
    return None if claim.agrees(0.0 if abs(change) < ROUNDING else change) else {"change of log-ratio": change}


CLAIM = Claim(
    id="C25",
    document=__doc__,
    statement=Shares("policy_gradient"),
    hypotheses=(Hypothesis("binary rewards", "the rewards are 0 and 1, advantages are those of the group."),),
    roads=(
        Road("rational", check_rational, expected="refuted"),
        Road("symbolic", check_symbolic, expected="refuted"),
        Road("property", check_property, expected="refuted"),
    ),
    mutants=(
        Mutant("TILT keeps the shares", Shares("tilt")),
        Mutant("PG keeps the ratio of answers of equal mass", Shares("policy_gradient", equal_masses=True)),
        Mutant("PG never lowers the ratio of the larger to the smaller", Shares("policy_gradient", "not lowered")),
    ),
)
