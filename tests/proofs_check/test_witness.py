from __future__ import annotations

from fractions import Fraction

from proofs_check.witness import plain, size


def test_order_is_answers_then_group_then_steps_then_denominator() -> None:
    cases = [
        {"N": 3, "G": 2, "steps": 1},
        {"N": 2, "G": 3, "steps": 1},
        {"N": 2, "G": 2, "steps": 2},
        {"N": 2, "G": 2, "steps": 1, "pi": (Fraction(1, 5),)},
        {"N": 2, "G": 2, "steps": 1, "pi": (Fraction(1, 4),)},
    ]
    assert sorted(cases, key=size) == cases[::-1]


def test_a_case_without_a_number_of_answers_comes_last() -> None:
    assert size({"N": 50}) < size({"x": Fraction(1, 2)})


def test_exact_values_are_written_without_rounding() -> None:
    assert plain({"p": Fraction(1, 3), "group": ((0, 1), None), "ok": True, "x": 0.5}) == {
        "p": "1/3",
        "group": [[0, 1], None],
        "ok": True,
        "x": 0.5,
    }
