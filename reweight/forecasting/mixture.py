"""Bounds over every distribution of pass rates that is compatible with the counts, each with its own certificate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Events", "MixtureBounds", "PassRateFunction"]

Floats = NDArray[np.float64]
PassRateFunction = Callable[[Floats], Floats]

COARSE_UP_TO_16 = 400
COARSE_BEYOND = 800
REFINEMENT = 8
FINEST = 0.03
"""Largest step of the finer grid, in standard deviations of asin(sqrt(c / n)), which are 1 / (2 sqrt n)."""


class Events(Protocol):
    """What is known of a distribution of pass rates: limits for the means of E functions with values in [0, 1]."""

    @property
    def n(self) -> int:
        """Samples behind each event, which decide how fine a grid has to be."""

    @property
    def low(self) -> Floats:
        """Lower limits (E,)."""

    @property
    def high(self) -> Floats:
        """Upper limits (E,)."""

    def probabilities(self, pass_rate: Floats) -> Floats:
        """Each event's function of the pass rates (M,); shape (E, M)."""


@dataclass(frozen=True, eq=False)
class MixtureBounds:
    """Extremes of E f(p) over all distributions F of p whose law of c lies in a region.

    The linear program on a coarse grid only proposes multipliers y of the region's events. The bound is then what weak
    duality gives for them, E f <= max_p [f(p) - y P(p)] + sum of y times the limits, with the maximum taken over a grid
    that is at least eight times finer: it does not rest on the solver's accuracy, nor on the coarse grid. What
    f - y P can do between two points of the finer grid is of second order in their distance, and is not added.
    """

    region: Events
    coarse: Floats
    fine: Floats
    coarse_law: Floats
    fine_law: Floats

    @classmethod
    def of(cls, region: Events) -> MixtureBounds:
        """Bounds for a region, on 400 grid points up to n = 16 and 800 beyond, even in the angle asin(sqrt p).

        For thousands of samples, whose law is narrower than these steps, there are as many more as keep pace with it.
        """
        deviations = np.pi * math.sqrt(region.n)  # in the quarter circle
        points = COARSE_UP_TO_16 if region.n <= 16 else max(COARSE_BEYOND, math.ceil(deviations))
        refinement = max(REFINEMENT, math.ceil(deviations / (FINEST * points)))
        fine = np.sin(np.linspace(0.0, np.pi / 2, refinement * (points - 1) + 1)) ** 2
        coarse = fine[::refinement]
        return cls(region, coarse, fine, region.probabilities(coarse), region.probabilities(fine))

    @property
    def compatible(self) -> bool:
        """Whether the solver finds any distribution on the grid; if not, a prompt's samples are hardly independent."""
        return self._multipliers(np.zeros_like(self.coarse)) is not None

    def mean(self, function: PassRateFunction, span: tuple[float, float]) -> tuple[float, float]:
        """Lower and upper bound of E f(p), where `span` bounds f itself."""
        upper = self._upper(function(self.coarse), function(self.fine))
        lower = -self._upper(-function(self.coarse), -function(self.fine))
        return max(lower, span[0]), min(upper, span[1])

    def ratio(self, numerator: PassRateFunction, denominator: PassRateFunction) -> tuple[float, float]:
        """Lower and upper bound of E a(p) / E b(p) for 0 <= a <= b, where b is the probability of the first event."""
        upper = self._upper_ratio(numerator, denominator)
        lower = 1.0 - self._upper_ratio(lambda p: denominator(p) - numerator(p), denominator)
        return max(lower, 0.0), min(upper, 1.0)

    def _upper(self, coarse_values: Floats, fine_values: Floats) -> float:
        y = self._multipliers(coarse_values)
        if y is None:
            return float(fine_values.max())
        return float((fine_values - y @ self.fine_law).max() + self._price(y))

    def _price(self, y: Floats) -> float:
        """The most that y times the events' probabilities can be inside the region."""
        return float(np.maximum(y, 0.0) @ self.region.high + np.minimum(y, 0.0) @ self.region.low)

    def _multipliers(self, values: Floats) -> Floats | None:
        """Multipliers (E,) of the events in: maximise sum w f with w a distribution that keeps to the region."""
        from scipy.optimize import linprog

        solution = linprog(
            -values,
            A_ub=np.concatenate([self.coarse_law, -self.coarse_law]),
            b_ub=np.concatenate([self.region.high, -self.region.low]),
            A_eq=np.ones((1, values.size)),
            b_eq=[1.0],
            method="highs",
        )
        if not solution.success:
            return None
        above, below = np.split(-solution.ineqlin.marginals, 2)
        return np.asarray(np.maximum(above, 0.0) - np.maximum(below, 0.0))

    def _upper_ratio(self, numerator: PassRateFunction, denominator: PassRateFunction) -> float:
        """Charnes-Cooper program with E b scaled to 1; certified like `_upper`.

        For multipliers y and a ratio t, E a <= t E b + max_p [a - t b - y P] + price(y). What the last two terms leave
        above zero is divided by the least that E b can be.
        """
        from scipy.optimize import linprog

        least = float(self.region.low[0])
        if least <= 0.0:
            return 1.0
        top, bottom = numerator(self.coarse), denominator(self.coarse)
        low, high = self.region.low[:, None], self.region.high[:, None]
        # The unknowns are the scaled weights, which need not sum to one: their sum multiplies the limits.
        solution = linprog(
            -top,
            A_ub=np.concatenate([self.coarse_law - high, low - self.coarse_law]),
            b_ub=np.zeros(2 * low.size),
            A_eq=bottom[None, :],
            b_eq=[1.0],
            method="highs",
        )
        if not solution.success:
            return 1.0
        above, below = np.split(-solution.ineqlin.marginals, 2)
        y = np.maximum(above, 0.0) - np.maximum(below, 0.0)
        ratio = -float(solution.fun)
        excess = (numerator(self.fine) - ratio * denominator(self.fine) - y @ self.fine_law).max() + self._price(y)
        return ratio + max(float(excess), 0.0) / least
