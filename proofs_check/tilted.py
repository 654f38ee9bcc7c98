"""The tilted optimum of binary rewards, in any arithmetic: Fractions, balls, computer algebra, solver variables.

Q is the base policy's mass on correct answers and x = e^{1/beta} > 1 the factor by which the optimum of
E[r] - beta KL(pi || pi_0) multiplies their odds.
"""

from __future__ import annotations

from typing import Any

__all__ = ["gain", "normaliser", "optimum"]


def normaliser(base: Any, factor: Any) -> Any:
    """Z = 1 - Q + Q x.

    >>> from fractions import Fraction
    >>> normaliser(Fraction(1, 3), 4)
    Fraction(2, 1)
    """
    return 1 + base * (factor - 1)


def optimum(base: Any, factor: Any) -> Any:
    """Pass rate of the optimum, Q x / Z.

    >>> from fractions import Fraction
    >>> optimum(Fraction(1, 3), 4)
    Fraction(2, 3)
    """
    return base * factor / normaliser(base, factor)


def gain(base: Any, factor: Any) -> Any:
    """What the optimum gains, Q (1 - Q)(x - 1) / Z.

    >>> from fractions import Fraction
    >>> gain(Fraction(1, 3), 4)
    Fraction(1, 3)
    """
    return base * (1 - base) * (factor - 1) / normaliser(base, factor)
