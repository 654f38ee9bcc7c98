from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

from proofs_check.checkers.rational import Undecided, check_all, groups, policies

SETTINGS = {"domain": "x in 0..3", "method": "a test"}


def cases() -> list[dict[str, Any]]:
    return [{"N": n, "x": x} for n in (3, 2) for x in (Fraction(3, 4), Fraction(1, 2), Fraction(0))]


def test_a_whole_domain_is_verified() -> None:
    assert check_all(cases(), lambda **_: None, **SETTINGS).kind == "verified"


def test_the_smallest_counterexample_is_kept_with_what_was_seen() -> None:
    outcome = check_all(cases(), lambda N, x: {"double": 2 * x} if x > 0 else None, **SETTINGS)
    assert outcome.witness == {"N": 2, "x": "1/2", "double": "1"}


def test_an_empty_domain_shows_nothing() -> None:
    assert check_all([], lambda **_: None, **SETTINGS).kind == "unknown"


def test_an_undecided_case_is_neither_a_proof_nor_a_counterexample() -> None:
    def violation(N: int, x: Fraction) -> dict[str, Any] | None:
        if x == 0:
            raise Undecided("balls overlap")
        return {"x": x} if x > bound else None

    bound = Fraction(5)
    outcome = check_all(cases(), violation, **SETTINGS)
    assert outcome.kind == "unknown"
    assert "overlap" in outcome.certificate
    bound = Fraction(1, 2)
    assert check_all(cases(), violation, **SETTINGS).kind == "refuted"


def test_tables_are_complete() -> None:
    table = list(policies(3, 6))
    assert len(table) == len(set(table)) == comb(5, 2)
    assert all(sum(policy) == 1 and min(policy) > 0 for policy in table)
    assert len(set(groups(3, 4))) == 3**4
