"""Claim files for the tests: small, quick, and wrong in known ways."""

from __future__ import annotations

from pathlib import Path

DOCUMENT = '''"""{title}.

Statement: x^2 >= factor x for x in 1..9.
Map: none.
Hypotheses: none.
Verdict and domain: VERIFIED for x in 1..9.
Source: elementary.
Why it matters: to the tests.
"""
'''

BODY = """
import os, time
from fractions import Fraction
from proofs_check.checkers import rational
from proofs_check.claim import Claim, Mutant, Road
from proofs_check.outcome import not_run, proved, unknown, verified

def check(factor):
    cases = [{{"N": x, "x": Fraction(x)}} for x in range(1, 10)]
    violation = lambda N, x: None if x * x >= factor * x else {{"square": x * x}}
    return rational.check_all(cases, violation, domain="x in 1..9", method="both sides")

{extra}

CLAIM = Claim(
    id="{id}",
    document=__doc__,
    statement={statement},
    roads=({roads},),
    mutants=({mutants},),
)
"""


def write_claim(
    folder: Path,
    *,
    claim_id: str = "square",
    statement: str = "1",
    roads: str = 'Road("rational", check, expected="verified")',
    mutants: str = 'Mutant("twice", 2), Mutant("a little more", Fraction(11, 10))',
    extra: str = "",
) -> Path:
    """Write a claim file: by default true, verified, with two mutants that are refuted at x = 1."""
    path = folder / f"{claim_id.replace('-', '_')}.py"
    body = BODY.format(id=claim_id, statement=statement, roads=roads, mutants=mutants, extra=extra)
    path.write_text(DOCUMENT.format(title=f"A square, {claim_id}") + body)
    return path
