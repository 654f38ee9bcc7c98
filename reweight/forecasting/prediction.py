"""What one model lets a window of a log show: over all distributions that agree with the start, and by sampling."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from reweight.forecasting.curve import Window
from reweight.forecasting.mixture import MixtureBounds, PassRateFunction
from reweight.forecasting.movement import Movement
from reweight.forecasting.quantity import Quantity, shown
from reweight.forecasting.start import EQUAL, NUDGE, GridDistribution, Start

__all__ = ["Prediction", "Predictor", "amount_for"]

Floats = NDArray[np.float64]

FARTHEST = 2.0**40
Moved = Callable[[float], PassRateFunction]
"""A function of the pass rate at the start by the amount of movement."""
SHARES: dict[str, Callable[[int], Floats]] = {
    "all-correct share": lambda size: np.eye(size + 1)[-1],
    "dead share": lambda size: np.eye(size + 1)[[0, -1]].sum(axis=0),
}
"""Each share as a function (G + 1,) of the number correct in a group."""


@dataclass(frozen=True)
class Prediction:
    """One quantity of one window.

    Parameters
    ----------
    name : str
    steps : (float, float)
        First and last step of the window.
    seen, expected : float
    interval, interval_all : (float, float)
        By itself, and together with all windows.
    """

    name: str
    steps: tuple[float, float]
    seen: float
    expected: float
    interval: tuple[float, float]
    interval_all: tuple[float, float]

    @property
    def inside(self) -> bool:
        """Whether the log is inside the interval of this window."""
        return _holds(self.interval, self.seen)

    @property
    def inside_all(self) -> bool:
        """Whether it is inside the interval that allows for all windows."""
        return _holds(self.interval_all, self.seen)

    def to_dict(self) -> dict[str, Any]:
        """The prediction as plain JSON values."""
        return {
            "name": self.name,
            "steps": list(self.steps),
            "seen": self.seen,
            "expected": self.expected,
            "predicted": Quantity(self.expected, *self.interval, False).to_dict(),
            "inside": self.inside,
            "inside_all": self.inside_all,
        }

    def row(self) -> tuple[str, ...]:
        """Text cells."""
        steps = "{:g} to {:g}".format(*self.steps)
        limits = f"[{shown(self.interval[0])}, {shown(self.interval[1])}]"
        return steps, self.name, shown(self.seen), shown(self.expected), limits, "yes" if self.inside else "no"


@dataclass(frozen=True, eq=False)
class Predictor:
    """Predictions of one model from one start.

    A mean that was seen fixes the amount of movement, and the amount the quantity that is predicted. The best start
    gives the expected value. Its limits are those over all starts with the same three means, wider by z standard errors
    of the difference between expected and seen: the start's means, the mean that was seen and the quantity itself are
    all samples.

    Parameters
    ----------
    start : Start
    movement : Movement
    group_size : int
    level : float
        Coverage of each interval.
    windows : int
        How many windows `interval_all` allows for.
    """

    start: Start
    movement: Movement
    group_size: int
    level: float
    windows: int

    def expected(self, window: Window) -> tuple[float, float]:
        """All-correct and dead share of the best start when it has moved to the window's mean."""
        amount = self._amount(self.start.best, self._moved, window.pass_rate)
        correct, dead = (self.start.best.mean(self._share(kind)(amount)) for kind in SHARES)
        return correct, dead

    def shares(self, window: Window) -> tuple[Prediction, Prediction]:
        """All-correct and dead share of a window, given its mean."""
        size = self.group_size
        first, second = (
            self._prediction(kind, window, seen, window, self._moved, self._share(kind), SHARES[kind](size))
            for kind, seen in (("all-correct share", window.all_correct), ("dead share", window.dead))
        )
        return first, second

    def means(self, seen: Window, later: Sequence[Window]) -> tuple[Quantity, tuple[Prediction, ...]]:
        """The movement a step behind a window from the start on, and the reward mean of later windows."""
        behind = self._mean_over(seen)
        rate, slopes, slope = self._slopes(behind, seen.pass_rate, None)
        variance = self._variance(seen, slopes, slope, behind(rate), None)
        low, high = self._amounts(rate, behind, seen.pass_rate)
        margin = -float(ndtri((1.0 - self.level) / 2)) * math.sqrt(variance)
        predictions = tuple(
            self._prediction("reward mean", window, window.pass_rate, seen, behind, self._mean_over(window), None)
            for window in later
        )
        return Quantity(rate, low - margin, high + margin, True), predictions

    def _prediction(
        self,
        name: str,
        window: Window,
        value: float,
        given: Window,
        condition: Moved,
        target: Moved,
        counted: Floats | None,
    ) -> Prediction:
        """Predict the mean of `target` in `window` from the mean of `condition` that was seen in `given`.

        `counted` (G + 1,) is the quantity as a function of the number correct, where both are the same window's.
        """
        amount, slopes, slope = self._slopes(condition, given.pass_rate, target)
        variance = self._variance(given, slopes, slope, condition(amount), counted)
        if counted is None:
            law = self._law(target(amount))
            variance += _variance_of(np.arange(law.size) / self.group_size, law) / window.groups
        expected = self.start.best.mean(target(amount))
        low, high = self._range(amount, condition, given.pass_rate, target)
        both = []
        for loss in (1.0 - self.level, (1.0 - self.level) / (4 * self.windows)):
            margin = -float(ndtri(loss / 2)) * math.sqrt(variance) + 1.0 / (2 * window.groups)
            both.append((max(0.0, min(low, expected) - margin), min(1.0, max(high, expected) + margin)))
        return Prediction(name, (window.steps[0], window.steps[-1]), value, expected, both[0], both[1])

    def _slopes(self, condition: Moved, mean: float, target: Moved | None) -> tuple[float, Floats, float]:
        """The amount, and the slopes of the target's mean (or the amount itself) in the start's means and in `mean`."""

        def outcome(start: GridDistribution, seen: float) -> tuple[float, float]:
            amount = self._amount(start, condition, seen)
            return amount, amount if target is None else start.mean(target(amount))

        amount, value = outcome(self.start.best, mean)
        slopes = np.array([(outcome(each, mean)[1] - value) / NUDGE for each in self.start.nearby])
        nudge = NUDGE if mean < 0.5 else -NUDGE
        return amount, slopes, (outcome(self.start.best, mean + nudge)[1] - value) / nudge

    def _variance(
        self, given: Window, slopes: Floats, slope: float, moved: PassRateFunction, counted: Floats | None
    ) -> float:
        """Of the difference between what is seen and what is expected, the part of start and given window."""
        law = self._law(moved)
        shares = np.arange(law.size) / self.group_size
        values = slope * shares if counted is None else counted - slope * shares
        return float(slopes @ self.start.covariance @ slopes) + _variance_of(values, law) / given.groups

    def _law(self, moved: PassRateFunction) -> Floats:
        """Probabilities (G + 1,) of the number correct in a group when the best start has moved."""
        from scipy.stats import binom

        rates = moved(self.start.best.pass_rates)
        return np.asarray(
            self.start.best.weights @ binom.pmf(np.arange(self.group_size + 1), self.group_size, rates[:, None])
        )

    def _range(self, amount: float, condition: Moved, mean: float, target: Moved) -> tuple[float, float]:
        """Least and largest mean of the target over the starts and amounts that agree with start and mean."""
        spans = []
        for each in (amount, *self._amounts(amount, condition, mean)):
            known = self.start.events.and_mean(condition(each), (mean - EQUAL, mean + EQUAL))
            bounds = MixtureBounds.of(known)
            if bounds.compatible:
                spans.append(bounds.mean(target(each), (0.0, 1.0)))
        own = self.start.best.mean(target(amount))
        return min([own, *(low for low, _ in spans)]), max([own, *(high for _, high in spans)])

    def _amounts(self, amount: float, condition: Moved, mean: float) -> tuple[float, float]:
        """The least and the largest amount at which some start agrees with the mean, to first order."""
        least, most = MixtureBounds.of(self.start.events).mean(condition(amount), (0.0, 1.0))
        nudge = NUDGE if mean < 0.5 else -NUDGE
        slope = (self._amount(self.start.best, condition, mean + nudge) - amount) / nudge
        return amount + slope * min(0.0, mean - most), amount + slope * max(0.0, mean - least)

    @staticmethod
    def _amount(start: GridDistribution, condition: Moved, mean: float) -> float:
        return amount_for(lambda amount: start.mean(condition(amount)), mean)

    def _log_odds(self, p: Floats, amount: float) -> Floats:
        """Certain and impossible answers stay so under every model."""
        inner = (p > 0.0) & (p < 1.0)
        moved = self.movement.move(logit(np.where(inner, p, 0.5)), amount)
        return np.where(inner, moved, np.where(p > 0.0, np.inf, -np.inf))

    def _moved(self, amount: float) -> PassRateFunction:
        return lambda p: np.asarray(expit(self._log_odds(p, amount)))

    def _mean_over(self, window: Window) -> Moved:
        """Mean pass rate over a window's steps as a function of a constant movement a step."""
        elapsed = (np.array(window.steps) - self.start.step).tolist()

        def at_rate(rate: float) -> PassRateFunction:
            return lambda p: np.asarray(np.mean([expit(self._log_odds(p, time * rate)) for time in elapsed], axis=0))

        return at_rate

    def _share(self, kind: str) -> Moved:
        size, both = self.group_size, kind == "dead share"

        def after(amount: float) -> PassRateFunction:
            def share(p: Floats) -> Floats:
                theta = self._log_odds(p, amount)
                right = expit(theta) ** size
                return np.asarray(right + expit(-theta) ** size if both else right)

            return share

        return after


def amount_for(mean: Callable[[float], float], target: float) -> float:
    """The amount at which a mean that grows with it reaches the target; the end of the range where it never does.

    Examples
    --------
    >>> round(amount_for(lambda amount: float(expit(amount)), 0.75), 6)
    1.098612
    """
    from scipy.optimize import brentq

    step, sign = 1.0, 1.0 if mean(0.0) < target else -1.0
    while sign * (mean(sign * step) - target) < 0.0:
        step *= 2.0
        if step > FARTHEST:
            return sign * step
    low, high = sorted((sign * step, 0.0 if step == 1.0 else sign * step / 2.0))
    return float(brentq(lambda amount: mean(amount) - target, low, high, xtol=1e-10, rtol=1e-12))


def _holds(interval: tuple[float, float], value: float) -> bool:
    return interval[0] <= value <= interval[1]


def _variance_of(values: Floats, law: Floats) -> float:
    return float(law @ values**2 - (law @ values) ** 2)
