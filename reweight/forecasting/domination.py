"""Intervals for a mean of bounded values that hold their level for every number of prompts, by Bernoulli domination."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, rel_entr

__all__ = ["guaranteed_interval"]

Floats = NDArray[np.float64]


def guaranteed_interval(values: Floats, low: float, high: float, level: float) -> tuple[float, float]:
    """Interval for the mean of independent values that lie in [low, high], with finite-sample coverage.

    Parameters
    ----------
    values : (P,) array
        One value a prompt.
    low, high : float
        The smallest and largest possible value.
    level : float
        The coverage is at least this, whatever the distribution of the values and however few they are.

    Notes
    -----
    Scaled to [0, 1], a sum S with mean P mu has tails below those of Bernoulli variables of the same mean in two
    senses: P(S <= s) <= exp(-P KL(s/P, mu)) (Hoeffding 1963, theorem 1), and P(S <= s) <= e times the tail of
    Bin(P, mu), read between whole numbers on its log-linear hull (Bentkus 2004, theorem 1.2). The limits are the means
    at which the smaller of the two is (1 - level)/2.

    Examples
    --------
    >>> values = np.repeat([1.0, 0.0], [124, 76])
    >>> [round(limit, 4) for limit in guaranteed_interval(values, 0.0, 1.0, 0.95)]
    [0.5348, 0.7002]
    >>> round(guaranteed_interval(np.zeros(60), 0.0, 1.0, 0.95)[1], 4) == round(1 - 0.025 ** (1 / 60), 4)
    True
    """
    if high <= low:
        return low, high
    prompts = values.size
    total = min(max(math.fsum((values - low) / (high - low)), 0.0), float(prompts))
    upper = _upper_limit(total, prompts, (1.0 - level) / 2.0)
    lower = 1.0 - _upper_limit(prompts - total, prompts, (1.0 - level) / 2.0)
    return low + (high - low) * lower, low + (high - low) * upper


def _upper_limit(total: float, prompts: int, tail: float) -> float:
    """Largest mean under which a sum as small as `total` is as likely as `tail`, as far as the two bounds tell."""
    from scipy.optimize import brentq

    if total >= prompts:
        return 1.0
    mean = total / prompts
    goal = math.log(tail)

    def excess(mu: float) -> float:
        divergence = float(rel_entr(mean, mu) + rel_entr(1.0 - mean, 1.0 - mu))
        return min(-prompts * divergence, 1.0 + _log_tail(total, prompts, mu)) - goal

    end = math.nextafter(1.0, 0.0)
    if excess(mean) <= 0:
        return mean
    return 1.0 if excess(end) > 0 else float(brentq(excess, mean, end, xtol=1e-14, rtol=1e-14))


def _log_tail(total: float, prompts: int, mu: float) -> float:
    """Logarithm of P(Bin(prompts, mu) <= total), linear between whole numbers."""
    below = math.floor(total)
    share = total - below
    parts = [(weight, below + i) for i, weight in enumerate((1.0 - share, share)) if weight]
    return sum(weight * _log_at_most(k, prompts, mu) for weight, k in parts)


def _log_at_most(k: int, prompts: int, mu: float) -> float:
    if k >= prompts:
        return 0.0
    chance = float(betainc(prompts - k, k + 1, 1.0 - mu))
    return math.log(chance) if chance > 0 else -math.inf
