"""Numbers on the command line: 0.1, 1/10 and 1e-3, alone or separated by commas."""

from __future__ import annotations

import re
from fractions import Fraction

from reweight.errors import InputError
from reweight.terminal import quoted

__all__ = ["as_float", "exact_number", "exact_numbers", "float_sized", "real_number", "real_numbers"]


DECIMAL = r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?|\.[0-9]+([eE][+-]?[0-9]{1,3})?"
NUMBER = re.compile(rf"[+-]?({DECIMAL}|[0-9]+/[0-9]+)", flags=re.ASCII)
LONGEST = 1000


def exact_number(text: str, name: str) -> Fraction:
    """Return the number that a text says, exactly.

    Raises
    ------
    InputError
        If the text is not a finite number of at most 1000 characters and 3 digits of exponent.

    Examples
    --------
    >>> exact_number("1e-3", "step"), exact_number("1/3", "step")
    (Fraction(1, 1000), Fraction(1, 3))
    """
    stripped = text.strip()
    if len(stripped) > LONGEST or not NUMBER.fullmatch(stripped):
        raise InputError(f"{name} is {quoted(text)}, which is not a number: write 0.1, 1/10 or 1e-3")
    try:
        return Fraction(stripped)
    except ZeroDivisionError:
        raise InputError(f"{name} is {quoted(text)}, which divides by zero") from None


def exact_numbers(text: str, name: str) -> list[Fraction]:
    """Return the numbers of a comma-separated list, exactly."""
    return [exact_number(part, name) for part in text.split(",")]


def as_float(value: Fraction, name: str) -> float:
    """Return the nearest float of a number.

    Raises
    ------
    InputError
        If the number is too large for a float, or rounds to zero without being zero.
    """
    try:
        nearest = float(value)
    except OverflowError:
        raise InputError(f"{name} is too large for a float: the largest is about 1.8e308") from None
    if nearest == 0 and value != 0:
        raise InputError(f"{name} is too small for a float: the smallest is about 4.9e-324")
    return nearest


def float_sized(values: list[Fraction], name: str) -> list[Fraction]:
    """Return exact numbers of which each has a float next to it; errors are those of :func:`as_float`."""
    for value in values:
        as_float(value, name)
    return values


def real_number(text: str, name: str) -> float:
    """Return the nearest float of a number; errors are those of both functions above."""
    return as_float(exact_number(text, name), name)


def real_numbers(text: str, name: str) -> list[float]:
    """Return the nearest floats of a comma-separated list."""
    return [as_float(value, name) for value in exact_numbers(text, name)]
