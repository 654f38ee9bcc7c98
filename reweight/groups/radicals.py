"""Exact sums of square roots: the field in which every standardised advantage lives.

A standardised group advantage is a rational number times one square root of a rational, so an expectation over groups
is a finite sum of such terms. Kept with squarefree radicands the sum is in normal form: square roots of distinct
squarefree integers are linearly independent over the rationals, hence a value is zero exactly when it has no terms.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from reweight.errors import InputError

__all__ = ["RadicalSum", "square_root"]

Exact = int | Fraction


class RadicalSum:
    """An exact real number: a sum of rational multiples of square roots of squarefree integers.

    Supports ``+``, ``-``, ``*`` with itself, integers and Fractions, division by a value of at most two terms, exact
    comparison, ``float()`` (correctly rounded) and :meth:`ball`.

    Parameters
    ----------
    terms : iterable of (int, Fraction)
        Pairs of a squarefree positive radicand and its coefficient; radicand 1 carries the rational part.

    Examples
    --------
    >>> from fractions import Fraction
    >>> root = square_root(Fraction(1, 2))
    >>> root * root
    RadicalSum(1/2)
    >>> root + root
    RadicalSum(1*sqrt(2))
    >>> root + root == square_root(2), root < 1, float(root)
    (True, True, 0.7071067811865476)
    """

    __slots__ = ("_terms",)

    def __init__(self, terms: Iterable[tuple[int, Fraction]] = ()) -> None:
        collected: dict[int, Fraction] = {}
        for radicand, coefficient in terms:
            collected[radicand] = collected[radicand] + coefficient if radicand in collected else coefficient
        self._terms = {radicand: collected[radicand] for radicand in sorted(collected) if collected[radicand] != 0}

    @classmethod
    def of(cls, value: RadicalSum | Exact) -> RadicalSum:
        """Return `value` as a RadicalSum (integers and Fractions are the rational part)."""
        return value if isinstance(value, RadicalSum) else cls([(1, Fraction(value))])

    @classmethod
    def total(cls, values: Iterable[RadicalSum]) -> RadicalSum:
        """Add many values in one pass."""
        return cls(term for value in values for term in value._terms.items())

    @property
    def terms(self) -> dict[int, Fraction]:
        """The coefficients by squarefree radicand, in increasing order of the radicand."""
        return dict(self._terms)

    @property
    def rational(self) -> Fraction | None:
        """The value as a Fraction, or None when it is irrational."""
        if not self._terms:
            return Fraction(0)
        return self._terms.get(1) if len(self._terms) == 1 else None

    def __add__(self, other: RadicalSum | Exact) -> RadicalSum:
        if not _is_exact(other):
            return NotImplemented
        return RadicalSum([*self._terms.items(), *RadicalSum.of(other)._terms.items()])

    def __neg__(self) -> RadicalSum:
        return RadicalSum([(radicand, -coefficient) for radicand, coefficient in self._terms.items()])

    def __sub__(self, other: RadicalSum | Exact) -> RadicalSum:
        if not _is_exact(other):
            return NotImplemented
        return self + (-RadicalSum.of(other))

    def __rsub__(self, other: Exact) -> RadicalSum:
        return RadicalSum.of(other) - self

    def __mul__(self, other: RadicalSum | Exact) -> RadicalSum:
        if not _is_exact(other):
            return NotImplemented
        products = []
        for left, left_coefficient in self._terms.items():
            for right, right_coefficient in RadicalSum.of(other)._terms.items():
                square, radicand = _square_part(left * right)
                products.append((radicand, left_coefficient * right_coefficient * square))
        return RadicalSum(products)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: RadicalSum | Exact) -> RadicalSum:
        if not _is_exact(other):
            return NotImplemented
        return self * RadicalSum.of(other).reciprocal()

    def reciprocal(self) -> RadicalSum:
        """Return 1 / value, for values of at most two terms (which is what a scale ``s + eps`` is).

        Raises
        ------
        ZeroDivisionError
            If the value is zero.
        InputError
            If the value has more than two terms.
        """
        terms = list(self._terms.items())
        if not terms:
            raise ZeroDivisionError("reciprocal of an exact zero")
        if len(terms) == 1:
            radicand, coefficient = terms[0]
            return RadicalSum([(radicand, 1 / (coefficient * radicand))])
        if len(terms) > 2:
            raise InputError(f"a sum of {len(terms)} square roots cannot be inverted here: divide by at most two terms")
        (first, a), (second, b) = terms
        norm = a * a * first - b * b * second
        return RadicalSum([(first, a / norm), (second, -b / norm)])

    def ball(self, bits: int = 128) -> Any:
        """Return a python-flint ``arb`` that contains the value, computed with `bits` bits of working precision."""
        from flint import arb, ctx, fmpq

        with ctx.workprec(bits):
            total = arb(0)
            for radicand, coefficient in self._terms.items():
                total += arb(fmpq(coefficient.numerator, coefficient.denominator)) * arb(radicand).sqrt()
            return total

    def sign(self) -> int:
        """Return -1, 0 or 1, decided exactly."""
        if not self._terms:
            return 0
        bits = 64
        while True:
            ball = self.ball(bits)
            if ball > 0:
                return 1
            if ball < 0:
                return -1
            bits *= 2

    def __float__(self) -> float:
        from flint import ctx

        rational = self.rational
        if rational is not None:
            return float(rational)
        bits = 128
        while True:
            ball = self.ball(bits)
            with ctx.workprec(bits):  # the ends of a ball are rounded to the working precision
                low, high = float(ball.lower()), float(ball.upper())
            if low == high:
                return low
            bits *= 2

    def __eq__(self, other: object) -> bool:
        if not _is_exact(other):
            return NotImplemented
        return self._terms == RadicalSum.of(other)._terms  # type: ignore[arg-type]

    def __lt__(self, other: RadicalSum | Exact) -> bool:
        return (self - other).sign() < 0

    def __le__(self, other: RadicalSum | Exact) -> bool:
        return (self - other).sign() <= 0

    def __gt__(self, other: RadicalSum | Exact) -> bool:
        return (self - other).sign() > 0

    def __ge__(self, other: RadicalSum | Exact) -> bool:
        return (self - other).sign() >= 0

    def __abs__(self) -> RadicalSum:
        return -self if self.sign() < 0 else self

    def __bool__(self) -> bool:
        return bool(self._terms)

    def __hash__(self) -> int:
        rational = self.rational
        return hash(rational) if rational is not None else hash(tuple(self._terms.items()))

    def __str__(self) -> str:
        if not self._terms:
            return "0"
        parts = [str(c) if r == 1 else f"{c}*sqrt({r})" for r, c in self._terms.items()]
        return " + ".join(parts).replace("+ -", "- ")

    def __repr__(self) -> str:
        return f"RadicalSum({self})"


def square_root(value: Exact) -> RadicalSum:
    """Return the exact square root of a non-negative rational.

    Examples
    --------
    >>> from fractions import Fraction
    >>> print(square_root(Fraction(8, 9)), square_root(Fraction(9, 4)))
    2/3*sqrt(2) 3/2
    """
    rational = Fraction(value)
    if rational < 0:
        raise InputError(f"the square root of the negative number {rational} is not real")
    square, radicand = _square_part(rational.numerator * rational.denominator)
    return RadicalSum([(radicand, Fraction(square, rational.denominator))])


@lru_cache(maxsize=65536)
def _square_part(value: int) -> tuple[int, int]:
    """Return (s, n) with value = s^2 n and n squarefree; (0, 1) for zero."""
    if value == 0:
        return 0, 1
    from flint import fmpz

    square, radicand = 1, 1
    for prime, power in fmpz(value).factor():
        square *= int(prime) ** (power // 2)
        radicand *= int(prime) ** (power % 2)
    return square, radicand


def _is_exact(value: object) -> bool:
    return isinstance(value, RadicalSum | int | Fraction)
