from __future__ import annotations

import time
from pathlib import Path

import pytest

from claim_files import write_claim
from proofs_check import backends
from proofs_check.registry import load
from proofs_check.runner import count_pieces, run_claims
from proofs_check.verdict import ClaimResult


def run(path: Path, *, mutants: bool = True) -> ClaimResult:
    return run_claims(load(path), mutants=mutants)[0]


def test_a_true_claim_is_verified_and_its_mutants_are_refuted(tmp_path: Path) -> None:
    result = run(write_claim(tmp_path))
    assert (result.verdict, result.killed, result.problems()) == ("VERIFIED (x in 1..9)", 2, ())
    assert result.mutants[0].witness == {"N": 1, "x": "1", "square": "1"}


def test_declaring_a_mutant_as_the_claim_is_found_out(tmp_path: Path) -> None:
    result = run(write_claim(tmp_path, statement="Fraction(11, 10)"))
    assert result.outcome.kind == "refuted"
    assert result.problems()


def test_a_mutant_that_the_checks_cannot_refute_survives(tmp_path: Path) -> None:
    result = run(write_claim(tmp_path, mutants='Mutant("weaker", Fraction(1, 2)), Mutant("twice", 2)'))
    assert result.killed == 1
    assert result.problems() == ("square: the mutant 'weaker' survives",)


def test_a_refuted_claim_wants_siblings_that_hold(tmp_path: Path) -> None:
    declared = 'Road("rational", check, expected="refuted")'
    siblings = 'Mutant("repaired", 1), Mutant("still false", 3)'
    result = run(write_claim(tmp_path, statement="2", roads=declared, mutants=siblings))
    assert [bool(mutant.killed_by) for mutant in result.mutants] == [True, False]
    assert result.problems() == ("square: the mutant 'still false' survives",)


def test_mutants_can_be_left_out(tmp_path: Path) -> None:
    entries = load(write_claim(tmp_path))
    assert run_claims(entries, mutants=False)[0].mutants == ()
    assert (count_pieces(entries, mutants=False), count_pieces(entries, mutants=True)) == (1, 3)


def test_a_road_over_its_limit_is_unknown_and_the_others_still_run(tmp_path: Path) -> None:
    extra = "def sleep(factor):\n    time.sleep(600 if factor == 1 else 0)\n    return verified('x', 'slept')"
    roads = 'Road("smt", sleep, expected="verified", limit=0.5), Road("rational", check, expected="verified")'
    start = time.monotonic()
    # The first piece of a worker is given the time of its start too: let another road go first.
    first = 'Road("property", check, expected="verified"), ' + roads
    result = run(write_claim(tmp_path, roads=first, extra=extra))
    assert time.monotonic() - start < 30
    assert [road.outcome.kind for road in result.roads] == ["verified", "unknown", "verified"]
    assert "limit of 0.5 s" in result.roads[1].outcome.certificate
    assert result.killed == 2


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise ZeroDivisionError('by nothing')", "ZeroDivisionError: by nothing"),
        ("return True", "returned bool instead of an Outcome"),
        ("print('noise'); return unknown('said so')", "said so"),
        ("os._exit(7)", "ended with code 7"),
        ("return proved('N <= 3', 'a table')", "infinite quantifier"),
    ],
)
def test_a_road_that_breaks_has_decided_nothing(tmp_path: Path, body: str, words: str) -> None:
    roads = 'Road("rational", broken, expected="verified"), Road("smt", check, expected="verified")'
    result = run(write_claim(tmp_path, roads=roads, extra=f"def broken(factor):\n    {body}"), mutants=False)
    assert [road.outcome.kind for road in result.roads] == ["unknown", "verified"]
    assert words in result.roads[0].outcome.certificate
    assert len(result.problems()) == 1


def test_an_absent_back_end_is_not_run_and_changes_nothing_else(tmp_path: Path) -> None:
    extra = "from proofs_check import backends\nbackends.BACKENDS['ball'] = ('no_such_module',)"
    roads = 'Road("ball", check, expected="verified"), Road("rational", check, expected="verified")'
    result = run(write_claim(tmp_path, roads=roads, extra=extra))
    assert [road.outcome.kind for road in result.roads] == ["not run", "verified"]
    assert (result.killed, result.problems()) == (2, ())
    assert result.problems(frozenset(backends.BACKENDS))


def test_workers_leave_nothing_in_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_claim(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    (elsewhere / "reweight.py").write_text("raise SystemExit('shadowed')")
    assert run(path).verdict.startswith("VERIFIED")
    assert [each.name for each in elsewhere.iterdir()] == ["reweight.py"]
