"""Polynomials that enclose a function of the pass rate, so that an interval for them bounds its mean."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reweight.forecasting.functional import Functional
from reweight.forecasting.likelihood import mean_interval
from reweight.forecasting.mixture import PassRateFunction

__all__ = ["sandwich", "sandwich_interval"]

Floats = NDArray[np.float64]

LARGEST_DEGREE = 16
COARSE, FINE = 200, 1600
"""Grid points, even in the angle asin(sqrt p)."""


def sandwich(function: PassRateFunction, span: tuple[float, float], degree: int) -> tuple[Functional, Functional]:
    """Polynomials below and above a function, the closest to it at its worst pass rate.

    Both meet the function at p = 0 and p = 1 and have Bernstein coefficients within `span`, so that what one prompt can
    contribute stays bounded. They do not look at the data, hence an interval for their means keeps its coverage.

    Parameters
    ----------
    function : callable, (M,) -> (M,)
    span : (float, float)
        Bounds of the function.
    degree : int
        Of both polynomials.

    Examples
    --------
    >>> below, above = sandwich(np.sqrt, (0.0, 1.0), 2)
    >>> half = np.array([0.5])
    >>> bool(below.at(half)[0] < np.sqrt(0.5) < above.at(half)[0])
    True
    """
    mirrored = _above(lambda p: -function(p), (-span[1], -span[0]), degree)
    return Functional(-mirrored.table), _above(function, span, degree)


def sandwich_interval(
    function: PassRateFunction, span: tuple[float, float], n: int, c: NDArray[np.int64], level: float
) -> tuple[float, float]:
    """Limits for the mean of a function over prompts of which c (P,) of n samples are correct.

    Examples
    --------
    >>> low, high = sandwich_interval(np.square, (0.0, 1.0), 8, np.repeat([0, 4, 8], 100), 0.95)
    >>> round(low, 3), round((0 + 4 * 3 / (8 * 7) + 1) / 3, 3), round(high, 3)  # c(c-1)/(n(n-1)) is unbiased
    (0.356, 0.405, 0.456)
    """
    limits = []
    for side, polynomial in enumerate(sandwich(function, span, min(n, LARGEST_DEGREE))):
        possible = polynomial.unbiased(n, np.arange(n + 1))
        low, high = float(possible.min()), float(possible.max())
        limits.append(mean_interval(np.clip(possible[c], low, high), low, high, level)[side])
    return max(limits[0], span[0]), min(limits[1], span[1])


def _above(function: PassRateFunction, span: tuple[float, float], degree: int) -> Functional:
    """Least largest excess over the function, by a linear program on a grid, lifted to hold on a finer one."""
    from scipy.optimize import linprog

    (coarse, law), (fine, fine_law) = _grid(degree, COARSE), _grid(degree, FINE)
    values = function(coarse)
    fixed = [(float(values[0]),) * 2, (float(values[-1]),) * 2]
    solution = linprog(
        np.append(np.zeros(degree + 1), 1.0),
        A_ub=np.block([[-law, np.zeros((coarse.size, 1))], [law, -np.ones((coarse.size, 1))]]),
        b_ub=np.concatenate([-values, values]),
        bounds=[fixed[0], *[span] * (degree - 1), fixed[1], (0.0, None)] if degree > 1 else [span, span, (0.0, None)],
        method="highs",
    )
    table = np.asarray(solution.x[:-1]) if solution.success else np.full(degree + 1, span[1])
    lift = max(0.0, float((function(fine) - fine_law @ table).max()))
    return Functional(table + lift)


@lru_cache(maxsize=8)
def _grid(degree: int, points: int) -> tuple[Floats, Floats]:
    """Pass rates (M,) and the law of the number correct of `degree` samples, (M, degree + 1)."""
    from scipy.stats import binom

    p = np.sin(np.linspace(0.0, np.pi / 2, points)) ** 2
    return p, np.asarray(binom.pmf(np.arange(degree + 1), degree, p[:, None]))
