"""Bounds over every distribution of pass rates that is compatible with the counts, each with its own certificate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reweight.forecasting.linear_program import maximise

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

    Parameters
    ----------
    region : Events
    grid : (M,) array, or (D, M)
        Pass rates; or points of a space of D dimensions, for functions of these.
    law : (E, M) array
        Each event's function on the grid.
    coarse : slice or array of int
        Which points of the grid propose.
    """

    region: Events
    grid: Floats
    law: Floats
    coarse: slice | NDArray[np.intp]

    @classmethod
    def of(cls, region: Events) -> MixtureBounds:
        """Bounds for a region, on 400 grid points up to n = 16 and 800 beyond, even in the angle asin(sqrt p).

        For thousands of samples, whose law is narrower than these steps, there are as many more as keep pace with it.
        """
        deviations = np.pi * math.sqrt(region.n)  # in the quarter circle
        points = COARSE_UP_TO_16 if region.n <= 16 else max(COARSE_BEYOND, math.ceil(deviations))
        refinement = max(REFINEMENT, math.ceil(deviations / (FINEST * points)))
        fine = np.sin(np.linspace(0.0, np.pi / 2, refinement * (points - 1) + 1)) ** 2
        return cls(region, fine, region.probabilities(fine), slice(None, None, refinement))

    @property
    def compatible(self) -> bool:
        """Whether the solver finds any distribution on the grid; if not, a prompt's samples are hardly independent."""
        return self._multipliers(np.zeros(self.law.shape[1])) is not None

    def mean(self, function: PassRateFunction, span: tuple[float, float]) -> tuple[float, float]:
        """Lower and upper bound of E f(p), where `span` bounds f itself."""
        values = function(self.grid)
        upper, lower = self._upper(values), -self._upper(-values)
        return max(lower, span[0]), min(upper, span[1])

    def ratio(self, numerator: PassRateFunction, denominator: PassRateFunction) -> tuple[float, float]:
        """Lower and upper bound of E a(p) / E b(p) for 0 <= a <= b, where b is the probability of the first event."""
        top, bottom = numerator(self.grid), denominator(self.grid)
        upper, lower = self._upper_ratio(top, bottom), 1.0 - self._upper_ratio(bottom - top, bottom)
        return max(lower, 0.0), min(upper, 1.0)

    def _upper(self, values: Floats) -> float:
        y = self._multipliers(values)
        if y is None:
            return float(values.max())
        return float((values - y @ self.law).max() + self._price(y))

    def _price(self, y: Floats) -> float:
        """The most that y times the events' probabilities can be inside the region."""
        return float(np.maximum(y, 0.0) @ self.region.high + np.minimum(y, 0.0) @ self.region.low)

    def _multipliers(self, values: Floats) -> Floats | None:
        """Multipliers (E,) of the events in: maximise sum w f with w a distribution that keeps to the region."""
        coarse = values[self.coarse]
        rows = np.concatenate([self.law[:, self.coarse], np.ones((1, coarse.size))])
        found = maximise(coarse, rows, np.append(self.region.low, 1.0), np.append(self.region.high, 1.0))
        return None if found is None else found[1][:-1]

    def _upper_ratio(self, top: Floats, bottom: Floats) -> float:
        """Charnes-Cooper program with E b scaled to 1; certified like `_upper`.

        For multipliers y and a ratio t, E a <= t E b + max_p [a - t b - y P] + price(y). What the last two terms leave
        above zero is divided by the least that E b can be.
        """
        least = float(self.region.low[0])
        if least <= 0.0:
            return 1.0
        law = self.law[:, self.coarse]
        low, high = self.region.low[:, None], self.region.high[:, None]
        # The unknowns are the scaled weights, which need not sum to one: their sum multiplies the limits.
        rows = np.concatenate([law - high, law - low, bottom[None, self.coarse]])
        none, zero, one = np.full(low.size, -np.inf), np.zeros(low.size), np.ones(1)
        found = maximise(top[self.coarse], rows, np.concatenate([none, zero, one]), np.concatenate([zero, -none, one]))
        if found is None:
            return 1.0
        ratio, multipliers = found
        y = multipliers[: low.size] + multipliers[low.size : -1]
        excess = (top - ratio * bottom - y @ self.law).max() + self._price(y)
        return ratio + max(float(excess), 0.0) / least
