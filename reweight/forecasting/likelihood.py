"""Intervals for a mean of bounded values by empirical likelihood with Poisson-calibrated thresholds (ELP)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, gammaincinv

__all__ = ["mean_interval"]

Floats = NDArray[np.float64]


def mean_interval(values: Floats, low: float, high: float, level: float) -> tuple[float, float]:
    """Interval for the mean of independent values that lie in [low, high].

    The upper limit is the largest mean whose empirical likelihood divergence stays under a threshold, where unseen mass
    may sit at `high`; the lower limit by symmetry. The threshold is that of chi-square where much mass lies away from
    the extreme in question, and grows to log(2 / (1 - level)) where none does, as for a Poisson count of zero.

    Parameters
    ----------
    values : (P,) array
        One value a prompt.
    low, high : float
        The smallest and largest possible value.
    level : float
        Nominal coverage; there is no finite-sample guarantee.

    Examples
    --------
    >>> values = np.repeat([1.0, 0.0], [124, 76])
    >>> [round(limit, 6) for limit in mean_interval(values, 0.0, 1.0, 0.95)]
    [0.548935, 0.687289]
    """
    if high <= low:
        return low, high
    unit, inverse = np.unique((values - low) / (high - low), return_inverse=True)
    weights = np.bincount(inverse).astype(float)
    mass = float(weights @ unit)
    opposite = float(weights @ (1.0 - unit))
    upper = _upper_limit(unit, weights, _threshold(mass, opposite, level))
    lower = 1.0 - _upper_limit(1.0 - unit, weights, _threshold(opposite, mass, level))
    return low + (high - low) * lower, low + (high - low) * upper


def _threshold(mass: float, opposite: float, level: float) -> float:
    """Threshold of the upper limit; `mass` is the sum of the scaled values, `opposite` that of their complements."""
    tail = (1.0 - level) / 2.0
    rare = -math.log(tail)
    from_above = _poisson_divergence(mass, float(gammaincinv(mass + 1.0, 1.0 - tail)))
    from_below = rare if opposite == 0 else min(_poisson_divergence(opposite, float(gammaincinv(opposite, tail))), rare)
    return max(float(chdtri(1, 1.0 - level)) / 2.0, from_above, from_below)


def _poisson_divergence(m: float, x: float) -> float:
    """Divergence x - m + m log(m / x) of a Poisson count m from its mean x."""
    if m == 0:
        return x
    return x - m + m * (math.log(m) - math.log(x)) if x > 0 else math.inf


def _upper_limit(values: Floats, weights: Floats, threshold: float) -> float:
    """Largest mu in [mean, 1] with divergence at most the threshold; values (U,) in [0, 1] with weights (U,)."""
    from scipy.optimize import brentq

    mean = float(weights @ values / weights.sum())
    end = (1.0 + mean) / 2.0
    while end < 1.0 and _divergence(end, values, weights) < threshold:
        end = (1.0 + end) / 2.0
    if end >= 1.0:
        return 1.0
    return float(brentq(lambda mu: _divergence(mu, values, weights) - threshold, mean, end, xtol=1e-14, rtol=1e-14))


def _divergence(mu: float, values: Floats, weights: Floats) -> float:
    """Distance from having mean mu: max over lambda in [0, 1/(1 - mu)] of sum w log(1 - lambda (v - mu)).

    With lambda = (1 - t)/(1 - mu) each term is log(t + (1 - t) r), r = (1 - v)/(1 - mu), which no cancellation spoils.
    """
    from scipy.optimize import brentq

    r = (1.0 - values) / (1.0 - mu)

    def slope(t: float) -> float:
        return float(weights @ ((1.0 - r) / (t + (1.0 - t) * r)))

    if slope(1.0) >= 0:
        return 0.0
    # A value at the upper end, r = 0, keeps the root above its weight over all weights, and so above this start.
    start = 1e-12
    best = 0.0 if slope(start) <= 0 else float(brentq(slope, start, 1.0, xtol=1e-15, rtol=1e-14))
    return float(weights @ np.log(best + (1.0 - best) * r))
