from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from proofs_check.claim import Claim, Mutant, Road
from proofs_check.document import FIELDS
from proofs_check.outcome import Kind, Outcome, not_run, proved, refuted, tested, unknown, verified
from proofs_check.verdict import ClaimResult, MutantResult, RoadResult, headline, strongest

DOCUMENT = "A title.\n\n" + "\n".join(f"{name}: text" for name in FIELDS)
PROVED, VERIFIED, TESTED = proved("all G", "algebra"), verified("G <= 4", "table"), tested("G <= 64", "draws")
REFUTED, UNKNOWN, ABSENT = refuted({"N": 2, "G": 2}, "table"), unknown("time"), not_run("no z3")


def check(_: Any) -> Outcome:
    raise AssertionError("these tests run nothing")


def result(*pairs: tuple[Outcome, Kind | None], mutants: tuple[MutantResult, ...] = ()) -> ClaimResult:
    names = ("rational", "smt", "property")[: len(pairs)]
    roads = tuple(Road(name, check, expected) for name, (_, expected) in zip(names, pairs, strict=True))
    claim = Claim(id="X1", document=DOCUMENT, statement=0, roads=roads, mutants=(Mutant("a", 1), Mutant("b", 2)))
    found = tuple(RoadResult(name, out, expected, 0.1) for name, (out, expected) in zip(names, pairs, strict=True))
    return ClaimResult(claim, "own", found, mutants)


def test_the_headline_is_the_strongest_road_that_ran_with_its_quantifiers() -> None:
    assert result((VERIFIED, "verified"), (PROVED, "proved")).verdict == "PROVED (all G)"
    assert result((VERIFIED, "verified"), (ABSENT, "proved")).verdict == "VERIFIED (G <= 4)"
    assert headline(TESTED) == "TESTED (G <= 64)"


def test_a_counterexample_outranks_a_proof_and_the_smallest_one_is_shown() -> None:
    larger = refuted({"N": 3, "G": 2, "p": Fraction(1, 2)}, "table")
    assert strongest([PROVED, larger, REFUTED]).witness == {"N": 2, "G": 2}


@pytest.mark.parametrize(
    ("found", "expected", "problems"),
    [
        (PROVED, "proved", 0),
        (VERIFIED, "proved", 1),
        (PROVED, "verified", 1),
        (UNKNOWN, "proved", 1),
        (REFUTED, "proved", 1),
        (REFUTED, "refuted", 0),
        (PROVED, "refuted", 1),
        (ABSENT, "proved", 0),
        (VERIFIED, None, 0),
        (UNKNOWN, None, 0),
        (REFUTED, None, 1),
    ],
)
def test_what_differs_from_the_declared_verdict_is_a_problem(
    found: Outcome, expected: Kind | None, problems: int
) -> None:
    assert len(result((found, expected)).problems()) == problems


def test_an_absent_road_is_a_problem_only_where_it_is_required() -> None:
    claim = result((VERIFIED, "verified"), (ABSENT, "proved"))
    assert claim.problems() == ()
    assert claim.problems(frozenset({"rational"})) == ()
    assert len(claim.problems(frozenset({"smt"}))) == 1


def roads(*outcomes: Outcome) -> tuple[RoadResult, ...]:
    return tuple(RoadResult(name, out, None, 0.1) for name, out in zip(("rational", "smt"), outcomes, strict=False))


@pytest.mark.parametrize(
    ("outcomes", "true_sibling", "killed_by", "decided"),
    [
        ((REFUTED, UNKNOWN), False, ("rational",), True),
        ((REFUTED, REFUTED), False, ("rational", "smt"), True),
        ((VERIFIED, UNKNOWN), False, (), True),
        ((VERIFIED, ABSENT), False, (), False),
        ((VERIFIED, UNKNOWN), True, ("rational",), True),
        ((VERIFIED, REFUTED), True, (), True),
        ((UNKNOWN, UNKNOWN), True, (), True),
        ((REFUTED, ABSENT), True, (), True),
        ((UNKNOWN, ABSENT), True, (), False),
    ],
)
def test_mutants_are_killed_by_being_told_apart(
    outcomes: tuple[Outcome, ...], true_sibling: bool, killed_by: tuple[str, ...], decided: bool
) -> None:
    judged = MutantResult("m", roads(*outcomes), true_sibling=true_sibling)
    assert (judged.killed_by, judged.decided) == (killed_by, decided)


def test_a_mutant_that_survives_is_a_problem_unless_a_road_could_not_run() -> None:
    survivor = MutantResult("m", roads(VERIFIED))
    open_case = MutantResult("m", roads(VERIFIED, ABSENT))
    assert len(result((VERIFIED, "verified"), mutants=(survivor,)).problems()) == 1
    assert result((VERIFIED, "verified"), mutants=(open_case,)).problems() == ()


@pytest.mark.parametrize("shown", [PROVED, VERIFIED])
def test_a_false_mutant_that_a_road_upholds_is_a_problem_unless_the_road_reads_none_of_it(shown: Outcome) -> None:
    upheld = MutantResult("m", roads(REFUTED, shown))
    (problem,) = result((VERIFIED, "verified"), mutants=(upheld,)).problems()
    assert problem.startswith("X1: the smt road upholds the mutant 'm', which is refuted by rational")
    assert str(upheld) == "refuted by: rational; upheld by: smt"
    excused = MutantResult("m", roads(REFUTED, shown), frozenset({"smt"}))
    assert result((VERIFIED, "verified"), mutants=(excused,)).problems() == ()
    assert str(excused) == "refuted by: rational; not covered by: smt"


def test_a_road_that_abstains_or_draws_no_counterexample_upholds_nothing() -> None:
    for outcome, words in ((UNKNOWN, "not upheld by"), (TESTED, "no counterexample drawn by"), (ABSENT, "not run")):
        mutant = MutantResult("m", roads(REFUTED, outcome))
        assert mutant.upheld_by == ()
        assert str(mutant) == f"refuted by: rational; {words}: smt"


def test_a_true_sibling_is_upheld_and_that_is_right() -> None:
    sibling = MutantResult("m", roads(VERIFIED, PROVED), true_sibling=True)
    assert str(sibling) == "upheld by: rational, smt"
    assert result((REFUTED, "refuted"), mutants=(sibling,)).problems() == ()
