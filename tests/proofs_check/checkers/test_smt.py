from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from proofs_check.checkers.smt import fraction, prove

z3 = pytest.importorskip("z3", reason="the extra prove is not installed")
SETTINGS = {"domain": "all x", "method": "m"}


def test_a_theorem_a_near_miss_and_a_contradiction() -> None:
    x = z3.Real("x")
    assert prove([x >= 1], x * x >= x, **SETTINGS).kind == "proved"
    missed = prove([x >= fraction(Fraction(9, 10))], x * x >= x, also={"N": 1}, **SETTINGS)
    assert missed.kind == "refuted"
    assert missed.witness is not None
    assert Fraction(9, 10) <= Fraction(missed.witness["x"]) < 1
    vacuous = prove([x > 1, x < 0], x * x == 17, **SETTINGS)
    assert vacuous.kind == "unknown"
    assert "control" in vacuous.certificate


def test_the_second_opinion_is_in_the_certificate() -> None:
    pytest.importorskip("cvc5")
    x = z3.Real("x")
    assert "cvc5: unsat" in prove([x >= 1], x * x >= x, **SETTINGS).certificate
    assert "cvc5: not asked" in prove([x >= 1], x * x >= x, second_opinion=False, **SETTINGS).certificate


def test_the_time_limit_gives_unknown() -> None:
    x = [z3.Real(f"x{i}") for i in range(9)]
    hard = sum(v**7 for v in x) - 9 * z3.Product(*x) * x[0] ** 3 + sum(a * b for a, b in pairwise(x)) ** 3
    outcome = prove(
        [sum(v * v for v in x) == 1], hard != Fraction(1, 7), seconds=0.05, second_opinion=False, **SETTINGS
    )
    assert outcome.kind == "unknown"
