"""Sums of square roots: a field with exact equality."""

from fractions import Fraction

import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from reweight.errors import InputError
from reweight.groups.radicals import RadicalSum, square_root

fractions = st.fractions(-9, 9, max_denominator=9)
sums = st.lists(st.tuples(st.integers(0, 20), fractions), max_size=3).map(
    lambda terms: sum((square_root(radicand) * c for radicand, c in terms), RadicalSum())
)


@given(sums, sums, sums)
def test_ring_laws_hold_exactly(a, b, c):
    assert a + b == b + a
    assert a * (b + c) == a * b + a * c
    assert a - a == 0
    assert (a * b) * c == a * (b * c)


@given(sums, sums)
def test_order_is_that_of_balls(a, b):
    assert (a < b) + (a == b) + (a > b) == 1
    difference = (a - b).ball(512)
    assert not (difference > 0) or a > b
    assert not (difference < 0) or a < b
    assert (a - b).sign() == -(b - a).sign()


@given(fractions, fractions, st.integers(2, 30))
def test_reciprocal_of_two_terms(a, b, radicand):
    value = square_root(radicand) * b + a
    if value:
        assert value * value.reciprocal() == 1


@given(st.fractions(0, 1000, max_denominator=1000))
def test_square_root_squares_to_its_argument(value):
    assert square_root(value) * square_root(value) == value


@given(sums)
def test_float_is_the_nearest(value):
    near, exact = float(value), value.ball(300)
    step = abs(near) * 2.0**-52 + 5e-324
    assert abs(exact - arb(fmpq(*near.as_integer_ratio()))) <= step


def test_equal_sums_built_differently_are_equal_and_hash_alike():
    left = square_root(8) + square_root(Fraction(1, 2))
    right = square_root(2) * Fraction(5, 2)
    assert left == right
    assert hash(left) == hash(right)
    assert RadicalSum.of(Fraction(1, 3)) == Fraction(1, 3)
    assert hash(RadicalSum.of(Fraction(1, 3))) == hash(Fraction(1, 3))


def test_tiny_differences_are_told_apart():
    convergent = Fraction(1)
    for _ in range(40):
        convergent = 1 + 1 / (1 + convergent)
    assert square_root(2) != convergent
    assert float(square_root(2)) == float(convergent)
    assert (square_root(2) - convergent).sign() in (-1, 1)


def test_what_is_refused():
    with pytest.raises(InputError, match="negative"):
        square_root(Fraction(-1, 2))
    with pytest.raises(ZeroDivisionError):
        RadicalSum().reciprocal()
    with pytest.raises(InputError, match="square roots cannot be inverted"):
        (square_root(2) + square_root(3) + 1).reciprocal()
