"""What every packaged claim must be: documented, declared, with mutants; and all of it true, in the slow test."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from proofs_check.backends import missing
from proofs_check.claim import Road
from proofs_check.document import FIELDS
from proofs_check.registry import Entry, discover
from proofs_check.runner import run_claims

ENTRIES = discover()
FIRST = ["C01", "C02", "C04", "C11", "C23", "C24", "C25", "C27", "C48", "C49", "C54", "C57", "C58", "C59", "C79"]


def test_the_first_claims_are_there_in_their_topics() -> None:
    topics = {entry.claim.id: entry.topic for entry in ENTRIES}
    assert set(FIRST) <= set(topics)
    assert set(topics.values()) == {"group_weights", "one_step", "regularised", "support"}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.claim.id)
def test_a_packaged_claim_is_documented_and_declared(entry: Entry) -> None:
    claim = entry.claim
    assert tuple(claim.doc.fields) == FIELDS
    assert claim.declared is not None
    assert all(road.expected is not None for road in claim.roads)
    assert claim.declared.upper() in claim.doc.fields["Verdict and domain"].upper()
    assert claim.parent or len(claim.mutants) >= 2


class Unread:
    """A field that a road says it does not read: any use of it is an error."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"the road reads {name} of a field that it does not cover")

    __call__ = __eq__ = __lt__ = __iter__ = __add__ = __mul__ = __bool__ = __getattribute__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


PARTIAL = [(e, road) for e in ENTRIES for road in e.claim.roads if road.covers is not None and not e.claim.parent]


@pytest.mark.parametrize(("entry", "road"), PARTIAL, ids=[f"{e.claim.id}-{road.name}" for e, road in PARTIAL])
def test_a_road_reads_no_field_that_it_says_it_does_not_cover(entry: Entry, road: Road) -> None:
    if missing(road.name):
        pytest.skip(str(missing(road.name)))
    statement = entry.claim.statement
    unread = {each.name: Unread() for each in fields(statement) if each.name not in (road.covers or ())}
    assert unread
    assert road.check(replace(statement, **unread)).kind == road.expected


def test_a_vacuous_claim_says_why() -> None:
    assert {entry.claim.id for entry in ENTRIES if entry.claim.vacuous} >= {"C57"}


@pytest.mark.slow
def test_every_verdict_is_the_declared_one_and_no_mutant_survives() -> None:
    problems = [problem for result in run_claims(ENTRIES) for problem in result.problems()]
    assert problems == []
