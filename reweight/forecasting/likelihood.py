"""Intervals for a mean of bounded values by empirical likelihood with Poisson-calibrated thresholds (ELP)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, gammaincinv

__all__ = ["mean_interval"]

Floats = NDArray[np.float64]
LEAST = -700.0
"""Logarithm of the least distance from 1 that a float holds."""


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
    """Largest mu in [mean, 1] with divergence at most the threshold; values v (U,) in [0, 1] with weights w (U,).

    The divergence at mu is the largest sum of w log(1 - lambda (v - mu)) over lambda in [0, 1/(1 - mu)]. With
    s = mu + 1/lambda >= 1 each term is log((s - v)/(s - mu)), and where lambda is best s - mu is the harmonic mean
    W / sum of w/(s - v): so s gives mu and the divergence without a search. At s = 1 unseen mass sits at 1.
    """
    from scipy.optimize import brentq

    total, below = float(weights.sum()), 1.0 - values
    if below.min() == 0.0:
        if below.max() == 0.0:
            return 1.0
    else:
        logs = float(weights @ np.log(below))
        if logs - total * math.log(total / float(weights @ (1.0 / below))) <= threshold:
            return -math.expm1((logs - threshold) / total)

    def excess(log_distance: float) -> float:
        gaps = below + math.exp(log_distance)
        return float(weights @ np.log(gaps)) - total * math.log(total / float(weights @ (1.0 / gaps))) - threshold

    near, far = -1.0, 1.0
    while excess(near) < 0.0:
        near *= 2.0
        if near < LEAST:
            return 1.0
    while excess(far) > 0.0:
        far *= 2.0
    distance = math.exp(float(brentq(excess, near, far, xtol=1e-13, rtol=1e-14)))
    return 1.0 + distance - total / float(weights @ (1.0 / (below + distance)))
