from __future__ import annotations

from fractions import Fraction

import sympy

from proofs_check.checkers.symbolic import above_tangent, identity, limit, nonnegative_terms

x = sympy.Symbol("x", real=True)
G = sympy.Symbol("G", positive=True)


def test_an_identity_is_proved_and_a_near_miss_refuted_at_a_point() -> None:
    assert identity(sympy.sin(x) ** 2 + sympy.cos(x) ** 2 - 1, "all x", "m").kind == "proved"
    outcome = identity(x**2 - x - Fraction(1, 1000), "all x", "m", points={x: [Fraction(1), Fraction(2)]})
    assert outcome.witness == {"x": "1", "difference": "-1/1000"}


def test_where_no_point_tells_the_sides_apart_nothing_is_claimed() -> None:
    assert identity(x * (x - 1), "all x", "m", points={x: [0, 1]}).kind == "unknown"


def test_another_limit_is_no_counterexample() -> None:
    assert limit(sympy.sin(x) / x, x, 0, 1, "all x", "m").kind == "proved"
    other = limit(sympy.sin(2 * x) / x, x, 0, 1, "all x", "m")
    assert (other.kind, other.witness) == ("unknown", None)
    assert "finds the limit 2 at 0, not 1" in other.certificate


def test_a_convex_function_above_its_tangent() -> None:
    assert above_tangent(sympy.exp(x) - 1 - x, x, 0, "all x", "m").kind == "proved"
    assert above_tangent(sympy.exp(x) - 1 - x - x**2 / 2, x, 0, "all x", "m").kind == "refuted"
    assert above_tangent(sympy.cosh(x) - 1, x, 1, "all x", "m").kind == "unknown"


def test_positive_coefficients_decide_for_all_values_from_the_least() -> None:
    terms = [("a", (G**2 - 3 * G + 2) / G)]
    assert nonnegative_terms(terms, "all G", "m", least={G: 2}).kind == "proved"
    assert nonnegative_terms(terms, "all G", "m", least={G: 2}, strict=True).witness == {
        "term": "a",
        "G": "2",
        "value": "0",
    }
    assert nonnegative_terms([("a", (G - 3) / G)], "all G", "m", least={G: 2}).kind == "refuted"


def test_a_polynomial_that_is_positive_without_positive_coefficients_is_left_open() -> None:
    shifted = sympy.expand((x - 7) ** 2 + 1)
    assert nonnegative_terms([("a", shifted)], "all x", "m", least={x: 0}).kind == "unknown"
