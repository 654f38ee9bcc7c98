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
from reweight.forecasting.quantity import Quantity
from reweight.forecasting.start import EQUAL, NUDGE, GridDistribution, Start

__all__ = ["Prediction", "Predictor", "amount_for"]

Floats = NDArray[np.float64]

FARTHEST = 2.0**40
BEYOND = 32.0
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


@dataclass(frozen=True, eq=False)
class Fit:
    """The amount of movement that a mean fixes, and how it hangs on what was sampled.

    Attributes
    ----------
    given : Window
        Where the mean was seen.
    moved : callable, (M,) -> (M,)
        The function whose mean it is, at the amount of the best start.
    amount : float
    nearby : tuple of three floats
        The amounts of the starts with one mean larger by `NUDGE`.
    nudged, nudge : float
        The amount of the best start for a mean that differs by `nudge`.
    allowed : tuple of (float, MixtureBounds)
        The least, the best and the largest amount at which some start agrees with the mean, each with what is known.
    """

    given: Window
    moved: PassRateFunction
    amount: float
    nearby: tuple[float, ...]
    nudged: float
    nudge: float
    allowed: tuple[tuple[float, MixtureBounds], ...]


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

    def shares(self, window: Window) -> tuple[Prediction, ...]:
        """All-correct and dead share of a window, as far as the log has them, given its mean."""
        fit = self._fit(window, self._moved)
        return tuple(
            self._prediction(kind, window, seen, fit, self._share(kind), SHARES[kind](self.group_size))
            for kind, seen in (("all-correct share", window.all_correct), ("dead share", window.dead))
            if not math.isnan(seen)
        )

    def means(self, seen: Window, later: Sequence[Window]) -> tuple[Quantity, tuple[Prediction, ...]]:
        """The movement a step behind a window from the start on, and the reward mean of later windows."""
        fit = self._fit(seen, self._mean_over(seen))
        slopes = (np.array(fit.nearby) - fit.amount) / NUDGE
        variance = self._variance(fit, slopes, (fit.nudged - fit.amount) / fit.nudge, None)
        margin = -float(ndtri((1.0 - self.level) / 2)) * math.sqrt(variance)
        rates = [rate for rate, _ in fit.allowed]
        predictions = tuple(
            self._prediction("reward mean", window, window.pass_rate, fit, self._mean_over(window), None)
            for window in later
        )
        return Quantity(fit.amount, min(rates) - margin, max(rates) + margin, True), predictions

    def _fit(self, given: Window, condition: Moved) -> Fit:
        mean = given.pass_rate
        nudge = NUDGE if mean < 0.5 else -NUDGE
        amount, nudged = (self._amount(self.start.best, condition, each) for each in (mean, mean + nudge))
        slope = (nudged - amount) / nudge
        amounts = (self._end(condition, mean, amount, slope, 1), amount, self._end(condition, mean, amount, slope, 0))
        known = [self.start.events.and_mean(condition(each), (mean - EQUAL, mean + EQUAL)) for each in amounts]
        bounds = ((each, MixtureBounds.of(events)) for each, events in zip(amounts, known, strict=True))
        return Fit(
            given,
            condition(amount),
            amount,
            tuple(self._amount(each, condition, mean) for each in self.start.nearby),
            nudged,
            nudge,
            tuple((each, bound) for each, bound in bounds if bound.compatible),
        )

    def _end(self, condition: Moved, mean: float, amount: float, slope: float, side: int) -> float:
        """The least (side 1) or largest (side 0) amount at which some start agrees with the mean.

        At the least the start with the largest mean (side 1 of the bounds) has come to it. It is looked for within a
        hundredth, and kept a little inside, where there are starts.
        """
        from scipy.optimize import brentq

        bounds = MixtureBounds.of(self.start.events)

        def excess(each: float) -> float:
            return bounds.mean(condition(each), (0.0, 1.0))[side] - mean

        here = excess(amount)
        step = 1.5 * slope * here
        if abs(step) < NUDGE * slope:
            return amount - step
        # Where no amount is too much for every start, one far beyond stands for it.
        farthest = BEYOND * step
        while excess(amount - step) * here > 0.0:
            if step == farthest:
                return amount - step
            step *= 2.0
        root = float(brentq(excess, *sorted((amount - step, amount)), xtol=0.01 * abs(step)))
        return root + 0.02 * (amount - root)

    def _prediction(
        self, name: str, window: Window, value: float, fit: Fit, target: Moved, counted: Floats | None
    ) -> Prediction:
        """Predict the mean of `target` in a window.

        `counted` (G + 1,) is the quantity as a function of the number correct, where the fit's window is the same one.
        """
        best = self.start.best
        expected = best.mean(target(fit.amount))
        pairs = zip(self.start.nearby, fit.nearby, strict=True)
        slopes = np.array([start.mean(target(amount)) - expected for start, amount in pairs]) / NUDGE
        variance = self._variance(fit, slopes, (best.mean(target(fit.nudged)) - expected) / fit.nudge, counted)
        if counted is None:
            law = self._law(target(fit.amount))
            variance += _variance_of(np.arange(law.size) / self.group_size, law) / window.groups
        spans = [(expected, expected), *(bounds.mean(target(each), (0.0, 1.0)) for each, bounds in fit.allowed)]
        low, high = min(span[0] for span in spans), max(span[1] for span in spans)
        both = []
        for loss in (1.0 - self.level, (1.0 - self.level) / (2 * self.windows)):
            # Half a group on either side, as shares are multiples of one group.
            margin = -float(ndtri(loss / 2)) * math.sqrt(variance) + 1.0 / (2 * window.groups)
            both.append((max(0.0, low - margin), min(1.0, high + margin)))
        return Prediction(name, (window.steps[0], window.steps[-1]), value, expected, both[0], both[1])

    def _variance(self, fit: Fit, slopes: Floats, slope: float, counted: Floats | None) -> float:
        """Of the difference between what is seen and what is expected, the part of start and given window."""
        law = self._law(fit.moved)
        shares = np.arange(law.size) / self.group_size
        values = slope * shares if counted is None else counted - slope * shares
        return float(slopes @ self.start.covariance @ slopes) + _variance_of(values, law) / fit.given.groups

    def _law(self, moved: PassRateFunction) -> Floats:
        """Probabilities (G + 1,) of the number correct in a group when the best start has moved."""
        from scipy.stats import binom

        rates = moved(self.start.best.pass_rates)
        return np.asarray(
            self.start.best.weights @ binom.pmf(np.arange(self.group_size + 1), self.group_size, rates[:, None])
        )

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
