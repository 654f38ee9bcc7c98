"""C01: each road sees a rule that is not centred, and the counterexamples have their known values."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from proofs_check.claims.group_weights import c01_centred_weights as c01
from proofs_check.outcome import Outcome
from reweight import Advantage, group_weights

LEAVE_ONE_OUT_STD = Advantage(baseline="leave_one_out", scale="leave_one_out_std", ddof=1)


def statement(rule: Advantage) -> c01.CentredWeights:
    return c01.CentredWeights((*c01.CENTRED, rule), c01.policy_itself)


@pytest.mark.parametrize(
    ("rule", "road"),
    [
        (rule, road)
        for rule in (
            LEAVE_ONE_OUT_STD,
            Advantage(selection="best"),
            Advantage(baseline="length_weighted"),
            Advantage(baseline="second_best", scale="none"),
        )
        for road in (c01.check_smt, c01.check_rational, c01.check_property)
    ],
)
def test_one_bad_rule_among_good_ones_is_seen(rule: Advantage, road: object) -> None:
    assert road(statement(rule)).kind == "refuted"  # type: ignore[operator]


def test_the_argument_for_all_group_sizes_does_not_cover_what_it_is_not_about() -> None:
    assert c01.check_symbolic(statement(Advantage(selection="best"))).kind == "unknown"
    assert c01.check_symbolic(statement(LEAVE_ONE_OUT_STD)).kind == "unknown"
    assert c01.check_symbolic(statement(Advantage(baseline="second_best"))).kind == "unknown"


@pytest.mark.parametrize("road", [c01.check_symbolic, c01.check_smt])
@pytest.mark.parametrize("measure", [lambda mass: mass**2, lambda mass: mass**0, lambda mass: mass * (2 - mass)])
def test_another_measure_is_refuted_by_two_answers(road: Callable[..., Outcome], measure: Callable[..., Any]) -> None:
    outcome = road(c01.CentredWeights(c01.CENTRED, measure))
    assert outcome.kind == "refuted"
    assert outcome.witness is not None
    assert (outcome.witness["N"], outcome.witness["G"]) == (2, 2)


@pytest.mark.parametrize("road", [c01.check_symbolic, c01.check_smt])
def test_a_measure_that_two_answers_cannot_tell_from_the_policy_is_not_upheld(road: Callable[..., Outcome]) -> None:
    assert road(c01.CentredWeights(c01.CENTRED, lambda mass: mass * mass * (1 - mass))).kind == "unknown"


def test_leave_one_out_std_at_the_published_point() -> None:
    rewards, policy = [Fraction(1), Fraction(3, 10), Fraction(0)], [Fraction(5, 10), Fraction(3, 10), Fraction(2, 10)]
    weights = group_weights(np.array(rewards), np.array(policy), 4, LEAVE_ONE_OUT_STD, precision="rational")
    assert float(sum(p * float(w) for p, w in zip(policy, weights, strict=True))) == pytest.approx(0.167, abs=5e-4)


def test_best_only_is_never_negative_so_it_cannot_be_centred() -> None:
    pull = group_weights([1, 0], [0.5, 0.5], 2, Advantage(selection="best")) @ [0.5, 0.5]
    assert pull == pytest.approx(1 / 4)
