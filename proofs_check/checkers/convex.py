"""What convex certificates share: a solver proposes, the proposal is rounded to rationals, exact arithmetic decides."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["round_to_fractions", "solver"]


def round_to_fractions(values: Any, denominator: int = 10**6) -> list[Fraction]:
    """Nearest fractions with a bounded denominator.

    >>> round_to_fractions([0.33333333, 2.0])
    [Fraction(1, 3), Fraction(2, 1)]
    """
    return [Fraction(float(value)).limit_denominator(denominator) for value in np.ravel(values)]


def solver() -> Any:
    """The module cvxpy, whose own annotations are too partial to be checked against."""
    return import_module("cvxpy")
