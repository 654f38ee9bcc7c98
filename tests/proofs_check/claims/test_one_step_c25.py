"""C25: the counterexample is the smallest, and the true siblings are told from it by every road."""

from __future__ import annotations

from fractions import Fraction

from proofs_check.claims.one_step import c25_policy_gradient_shares as c25
from reweight import Advantage, FlatPolicy, Objective, PolicyGradient, Problem

ROADS = (c25.check_rational, c25.check_symbolic, c25.check_property)


def test_smallest_counterexample() -> None:
    witness = c25.check_rational(c25.CLAIM.statement).witness
    assert witness is not None
    assert (witness["N"], witness["G"], witness["pi"], witness["rewards"]) == (
        3,
        2,
        ["1/4", "1/4", "1/2"],
        ["0", "1", "1"],
    )
    # Weight 1/4 for both, so logits move by eta/16 and eta/8.
    assert Fraction(witness["change of log-ratio over eta"]) == Fraction(1, 4) * (Fraction(1, 2) - Fraction(1, 4))


def test_published_counterexample() -> None:
    problem, policy = Problem([0, 1, 1]), FlatPolicy.from_probabilities([1 / 2, 1 / 3, 1 / 6])
    moved = PolicyGradient(1.0).apply(problem, policy, Objective(Advantage(), 4)).log_probs(problem).probabilities
    assert moved[1] / moved[2] > 2 * (1 + 1e-3)


def test_the_siblings_would_be_refuted_if_they_were_false() -> None:
    shrinking = c25.Shares("policy_gradient", "not lowered")
    object.__setattr__(shrinking, "logit_change", lambda mass, weight: -mass * weight)
    assert c25.check_rational(shrinking).kind == "refuted"
    assert c25.check_symbolic(shrinking).kind == "refuted"


def test_every_road_tells_the_claim_from_its_siblings() -> None:
    assert {road(c25.CLAIM.statement).kind for road in ROADS} == {"refuted"}
    for mutant in c25.CLAIM.mutants:
        assert "refuted" not in {road(mutant.statement).kind for road in ROADS}


def test_a_tilt_keeps_the_shares_to_rounding() -> None:
    assert c25._float_violation(c25.Shares("tilt"), G=8, eta=3.0, wrong=[1], right=[1, 29]) is None
