from __future__ import annotations

from fractions import Fraction

import pytest

from proofs_check.outcome import Outcome, conjunction, lemma, not_run, proved, refuted, tested, unknown, verified


def test_a_proof_needs_an_infinite_quantifier() -> None:
    with pytest.raises(ValueError, match="infinite quantifier"):
        proved("N <= 4, G <= 5", "a table")


def test_a_refutation_needs_a_witness() -> None:
    with pytest.raises(ValueError, match="witness"):
        refuted({}, "nothing")


def test_an_outcome_survives_json() -> None:
    outcome = refuted({"N": 2, "pi": (Fraction(1, 3), Fraction(2, 3))}, "a table", "N <= 2")
    assert Outcome.from_dict(outcome.to_dict()) == outcome
    assert outcome.witness == {"N": 2, "pi": ["1/3", "2/3"]}


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ([proved("all G", "a"), proved("all G", "b")], "proved"),
        ([proved("all G", "a"), tested("G <= 4", "b")], "tested"),
        ([verified("G <= 4", "a"), unknown("time")], "unknown"),
        ([unknown("time"), refuted({"G": 2}, "b")], "refuted"),
        ([proved("all G", "a"), not_run("no z3")], "not run"),
        ([], "unknown"),
    ],
)
def test_a_statement_in_parts_is_as_weak_as_its_weakest(parts: list[Outcome], kind: str) -> None:
    assert conjunction(parts, "all G").kind == kind


def test_parts_after_a_counterexample_are_not_evaluated() -> None:
    def parts() -> object:
        yield refuted({"G": 2}, "first")
        raise AssertionError("evaluated too far")

    assert conjunction(parts(), "all G").kind == "refuted"  # type: ignore[arg-type]


def test_a_false_step_of_a_proof_refutes_nothing() -> None:
    assert lemma(refuted({"x": 1}, "two sides")).kind == "unknown"
    assert lemma(proved("all x", "two sides")).kind == "proved"


def test_strength_orders_kinds_first_and_infinite_quantifiers_second() -> None:
    weak, strong = verified("all but not proved", "x"), proved("all G", "x")
    assert weak.strength < strong.strength < proved("all G, all N", "x").strength
