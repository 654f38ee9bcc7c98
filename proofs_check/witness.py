"""A counterexample: what counts as smaller, and how it is written down exactly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["plain", "size"]

ANSWERS, GROUP, STEPS = "N", "G", "steps"
UNNAMED = 10**9


def size(case: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """Order of counterexamples: answers, group size, steps, largest denominator.

    A case that names no number of answers, say one of an abstract variable, comes after all that do.

    >>> size({"N": 2, "G": 3, "pi": (Fraction(1, 4), Fraction(3, 4))})
    (2, 3, 1000000000, 4)
    """
    denominator = max((f.denominator for f in _fractions(tuple(case.values()))), default=1)
    first, second, third = (int(case.get(name, UNNAMED)) for name in (ANSWERS, GROUP, STEPS))
    return first, second, third, denominator


def plain(value: Any) -> Any:
    """The value as JSON can hold it, without rounding what is exact: fractions become text, sequences lists.

    >>> plain({"pi": (Fraction(1, 3), 2)})
    {'pi': ['1/3', 2]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def _fractions(value: Any) -> Iterator[Fraction]:
    if isinstance(value, Fraction):
        yield value
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for entry in value:
            yield from _fractions(entry)
