"""Where a run starts: what is known of the distribution of pass rates, and one distribution that agrees with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.forecasting.functional import Functional
from reweight.forecasting.mixture import PassRateFunction

if TYPE_CHECKING:
    from reweight.forecasting.curve import Window
    from reweight.rollouts import Counts

__all__ = ["EQUAL", "NUDGE", "GridDistribution", "Known", "Start", "count_covariance", "most_even"]

Floats = NDArray[np.float64]

POINTS = 400
GRID_SAMPLES = 16
NUDGE, EQUAL = 1e-3, 2e-4
ALLOWANCE = 0.1


@dataclass(frozen=True, eq=False)
class GridDistribution:
    """Weights on pass rates, both (M,)."""

    pass_rates: Floats
    weights: Floats

    def mean(self, function: PassRateFunction, /) -> float:
        """The mean of a function of the pass rate."""
        return float(self.weights @ function(self.pass_rates))


@dataclass(frozen=True, eq=False)
class Known:
    """Limits for the means of some functions of the pass rate; `n` decides how fine a grid is needed."""

    n: int
    functions: tuple[PassRateFunction, ...]
    low: Floats
    high: Floats

    def probabilities(self, pass_rate: Floats) -> Floats:
        """Each function (E,) of the pass rates (M,)."""
        return np.array([function(pass_rate) for function in self.functions])

    def and_mean(self, function: PassRateFunction, limits: tuple[float, float]) -> Known:
        """What is known already, and one more mean."""
        return Known(
            self.n, (*self.functions, function), np.append(self.low, limits[0]), np.append(self.high, limits[1])
        )


@dataclass(frozen=True, eq=False)
class Start:
    """The pass rates at the start of a run, as far as mean, all-correct and all-wrong share tell.

    Parameters
    ----------
    functions : tuple of three callables, each (M,) -> (M,)
        p, p^d and q^d.
    best : GridDistribution
        The most even distribution that agrees with their means up to sampling error.
    nearby : tuple of three GridDistribution
        The same with one of the means larger by `NUDGE`.
    covariance : (3, 3) array
        Of the three means' sampling errors.
    step : float
        When it was: 0 for rollouts of the base model, the mean step of the first rows for a log.
    """

    functions: tuple[PassRateFunction, ...]
    best: GridDistribution
    nearby: tuple[GridDistribution, ...]
    covariance: Floats
    step: float

    @classmethod
    def of_window(cls, window: Window, group_size: int) -> Start:
        """From rows of a log alone.

        Raises
        ------
        InputError
            If the log does not have the shares.
        """
        shares = (window.pass_rate, window.all_correct, window.all_wrong)
        if not np.isfinite(shares).all():
            raise InputError(
                "the log lacks shares of all-correct and all-wrong groups; give a file of base rollouts too"
            )
        start = cls._fitted(group_size, shares, window.groups, float(np.mean(window.steps)))
        values = np.stack([np.arange(group_size + 1) / group_size, *np.eye(group_size + 1)[[-1, 0]]])
        return replace(start, covariance=count_covariance(start.best, values) / window.groups)

    @classmethod
    def of_counts(cls, counts: Counts, group_size: int) -> Start:
        """From base rollouts; of prompts with several numbers of samples those with the most frequent one are used."""
        sizes, prompts = np.unique(counts.n, return_counts=True)
        n = int(sizes[prompts.argmax()])
        c = counts.c[counts.n == n]
        degree = min(n, group_size)
        tables = (np.linspace(0.0, 1.0, degree + 1), *np.eye(degree + 1)[[-1, 0]])
        values = np.stack([Functional(table).unbiased(n, np.arange(n + 1)) for table in tables])
        start = cls._fitted(degree, tuple(values[:, c].mean(axis=1)), c.size, 0.0)
        return replace(start, covariance=count_covariance(start.best, values) / c.size)

    @classmethod
    def _fitted(cls, degree: int, means: tuple[float, ...], number: int, step: float) -> Start:
        functions = (lambda p: p, lambda p: p**degree, lambda p: (1.0 - p) ** degree)
        nudged = [np.array(means) + NUDGE * (np.arange(3) == place) for place in range(3)]
        nearby = tuple(most_even(functions, each, number) for each in nudged)
        return cls(functions, most_even(functions, means, number), nearby, np.zeros((3, 3)), step)

    @cached_property
    def events(self) -> Known:
        """The three means of the best distribution, to `EQUAL`: what other distributions that agree have to keep."""
        means = np.array([self.best.mean(function) for function in self.functions])
        return Known(GRID_SAMPLES, self.functions, means - EQUAL, means + EQUAL)


def count_covariance(distribution: GridDistribution, values: Floats) -> Floats:
    """Covariance (E, E) of functions (E, n + 1) of the number correct of n samples of a random prompt."""
    from scipy.stats import binom

    n = values.shape[1] - 1
    law = distribution.weights @ binom.pmf(np.arange(n + 1), n, distribution.pass_rates[:, None])
    centred = values - (values @ law)[:, None]
    return np.asarray((centred * law) @ centred.T)


def most_even(
    functions: Sequence[PassRateFunction], targets: Sequence[float] | Floats, observations: int
) -> GridDistribution:
    """Distribution of largest entropy, relative to an even one in asin(sqrt p), whose means are near the targets.

    Parameters
    ----------
    functions : sequence of callables, each (M,) -> (M,)
    targets : sequence of float
        A mean of each, in [0, 1].
    observations : int
        Behind the targets: the fit may miss one by a small part of its sampling error.

    Notes
    -----
    Minimises log of the sum of exp(l f) - l t + sum of v l^2 / 2 with v a tenth of t (1 - t)/N, which is the dual of
    largest entropy with a Gaussian allowance.

    Examples
    --------
    >>> found = most_even([lambda p: p, np.square], [0.4, 0.25], 10_000)
    >>> round(found.mean(lambda p: p), 2), round(found.mean(np.square), 2)
    (0.4, 0.25)
    """
    from scipy.optimize import minimize

    angle = (np.arange(POINTS) + 0.5) / POINTS * (np.pi / 2)
    grid = np.sin(angle) ** 2
    values = np.array([function(grid) for function in functions])
    # Half an observation on either side keeps shares of zero and one inside.
    target = (np.asarray(targets, dtype=float) * observations + 0.5) / (observations + 1.0)
    allowance = ALLOWANCE * target * (1.0 - target) / observations

    def dual(multipliers: Floats) -> tuple[float, Floats]:
        exponent = multipliers @ values
        top = exponent.max()
        weights = np.exp(exponent - top)
        total = weights.sum()
        slope = values @ weights / total - target + allowance * multipliers
        size = top + np.log(total) - multipliers @ target + 0.5 * allowance @ multipliers**2
        return float(size), slope

    found = minimize(dual, np.zeros(len(functions)), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    exponent = found @ values
    weights = np.exp(exponent - exponent.max())
    return GridDistribution(grid, weights / weights.sum())
