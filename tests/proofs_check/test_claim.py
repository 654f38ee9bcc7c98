from __future__ import annotations

from typing import Any

import pytest

from proofs_check.claim import Claim, Hypothesis, Mutant, Road, changed_fields
from proofs_check.document import FIELDS
from proofs_check.outcome import Outcome, verified
from reweight.errors import InputError

DOCUMENT = "A title.\n\n" + "\n".join(f"{name}: text" for name in FIELDS)
MUTANTS = (Mutant("one", 1), Mutant("two", 2))


def check(_: Any) -> Outcome:
    return verified("x", "x")


def make(**changed: Any) -> Claim:
    fields: dict[str, Any] = {
        "id": "X1",
        "document": DOCUMENT,
        "statement": 0,
        "roads": (Road("rational", check, expected="verified"),),
        "mutants": MUTANTS,
    }
    return Claim(**{**fields, **changed})


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "has space"},
        {"id": "../x"},
        {"roads": ()},
        {"roads": (Road("magic", check),)},
        {"roads": (Road("rational", check), Road("rational", check))},
        {"roads": (Road("rational", check, expected="true"),)},  # type: ignore[arg-type]
        {"mutants": MUTANTS[:1]},
        {"hypotheses": (Hypothesis("h", "text", without=1),)},
        {"hypotheses": (Hypothesis("h", "text", without=1, refuted_by=("smt",)),)},
        {"document": "A title only."},
        {"roads": (Road("rational", check, covers=("value",)),)},
        {"roads": (Road("rational", check, covers=("text",)),), "statement": Mutant("a dataclass", 1)},
    ],
)
def test_a_claim_that_breaks_a_rule_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        make(**changed)


def test_the_declared_verdict_is_the_strongest_expected_one() -> None:
    roads = (Road("property", check, expected="tested"), Road("smt", check, expected="proved"), Road("rational", check))
    assert make(roads=roads).declared == "proved"
    assert make(roads=(Road("rational", check),)).declared is None


def test_each_dropped_hypothesis_is_a_refuted_claim_whose_mutant_is_the_claim() -> None:
    hypotheses = (
        Hypothesis("kept", "text"),
        Hypothesis("two words", "is needed.", without=7, refuted_by=("rational",)),
    )
    roads = (Road("rational", check, expected="verified"), Road("smt", check, expected="proved"))
    (dropped,) = make(hypotheses=hypotheses, roads=roads).dropped()
    assert (dropped.id, dropped.parent, dropped.statement, dropped.declared) == ("X1-two-words", "X1", 7, "refuted")
    assert [road.name for road in dropped.roads] == ["rational"]
    assert [mutant.statement for mutant in dropped.mutants] == [0]
    assert "is needed." in dropped.doc.fields["Statement"]


def test_a_road_is_blind_to_a_mutant_that_differs_in_other_fields_alone() -> None:
    one = Hypothesis("a", "text", without=1)
    some = Road("rational", check, covers=("name", "text"))
    assert some.is_blind_to(changed_fields(one, Hypothesis("a", "text", without=2)))
    assert not some.is_blind_to(changed_fields(one, Hypothesis("b", "text", without=2)))
    assert not Road("rational", check).is_blind_to(changed_fields(one, Hypothesis("a", "text", without=2)))
    assert not some.is_blind_to(changed_fields(one, 3))
