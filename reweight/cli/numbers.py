"""Numbers on the command line: 0.1, 1/10 and 1e-3, alone or separated by commas."""

from __future__ import annotations

from fractions import Fraction

from reweight.errors import InputError

__all__ = ["exact_number", "exact_numbers", "real_number", "real_numbers"]


def exact_number(text: str, name: str) -> Fraction:
    """Return the number that a text says, exactly.

    Raises
    ------
    InputError
        If the text is not a finite number.

    Examples
    --------
    >>> exact_number("1e-3", "step"), exact_number("1/3", "step")
    (Fraction(1, 1000), Fraction(1, 3))
    """
    try:
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{name} is {text!r}, which is not a number: write 0.1, 1/10 or 1e-3") from None


def exact_numbers(text: str, name: str) -> list[Fraction]:
    """Return the numbers of a comma-separated list, exactly."""
    return [exact_number(part, name) for part in text.split(",")]


def real_number(text: str, name: str) -> float:
    """Return the nearest float of a number."""
    return float(exact_number(text, name))


def real_numbers(text: str, name: str) -> list[float]:
    """Return the nearest floats of a comma-separated list."""
    return [float(value) for value in exact_numbers(text, name)]
