"""The chance that sampled updates raise a pass rate to a target, discovery included, by backward induction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_expit

__all__ = ["Climb", "climb"]

Floats = NDArray[np.float64]

FINEST = 64
"""Cells of the grid in the largest gain of one group."""
MOST_POINTS = 50_000
MOST_WORK = 4e8


@dataclass(frozen=True, eq=False)
class Climb:
    """The chance of reaching the target within T groups, by log-odds at the start.

    Parameters
    ----------
    log_odds : (M,) array
        Even steps, up to one cell below the target.
    at_most : (M,) array
        No flat table whose correct mass has these log-odds does it with a larger chance, whatever its answers.
    at_least : (M,) array
        With one correct and one wrong answer the chance is at least this.
    """

    log_odds: Floats
    at_most: Floats
    at_least: Floats


def climb(target: float, lowest: float, groups: int, gains: Floats) -> Climb | None:
    """Follow sampled policy gradient on a flat table, one group an update, from the target backwards.

    Parameters
    ----------
    target, lowest : float
        Log-odds of the target, and the lowest of the grid.
    groups : int
        Number T of groups, and of updates.
    gains : (G + 1,) array
        What a group with K correct samples adds to the log-odds where there are two answers: 2 step push(K).

    Returns
    -------
    Climb or None
        None where the grid would be too coarse, or the work too much.

    Notes
    -----
    With two answers the log-odds move by gains(K), K ~ Bin(G, p). With more answers they move by less for the same K,
    since the push is shared (R05). V_t(x) = E V_{t-1}(x + gain) would bound every table if it rose with x; it need not,
    because a group is mixed less often near the target. So `at_most` takes the running maximum from below in each step
    and rounds gains up to the grid; `at_least` takes the running minimum from above and rounds them down. Both look at
    the law of K on the grid's points alone; what it does between two neighbours is of second order in their distance.
    """
    values, place = np.unique(gains, return_inverse=True)
    if target <= lowest or values[-1] <= 0:
        return None
    points = min(MOST_POINTS, MOST_WORK / (groups * values.size), FINEST * (target - lowest) / values[-1])
    cells = math.floor(points * values[-1] / (target - lowest))
    if cells < 1:
        return None
    width = float(values[-1]) / cells
    start = target - width * np.arange(math.ceil((target - lowest) / width), 0, -1)
    law = _law(start, gains.size - 1, place)
    offsets = values / width
    # A gain that is a whole number of cells stays one, whatever rounding made of the quotient.
    near = np.where(np.abs(offsets - np.rint(offsets)) < 1e-9, np.rint(offsets), offsets)
    from_below: Callable[[Floats], Floats] = np.maximum.accumulate
    at_most = _backwards(law, np.ceil(near).astype(np.intp), groups, from_below)
    at_least = _backwards(law, np.floor(near).astype(np.intp), groups, lambda v: np.minimum.accumulate(v[::-1])[::-1])
    return Climb(start, at_most, at_least)


def _law(log_odds: Floats, size: int, place: NDArray[np.intp]) -> Floats:
    """Probability of each different gain (V, M), where K = k gives the gain number place[k]."""
    right, wrong = log_expit(log_odds), log_expit(-log_odds)
    law = np.zeros((int(place.max()) + 1, log_odds.size))
    for k, gain in enumerate(place.tolist()):
        ways = gammaln(size + 1) - gammaln(k + 1) - gammaln(size - k + 1)
        law[gain] += np.exp(ways + k * right + (size - k) * wrong)
    return law


def _backwards(law: Floats, offsets: NDArray[np.intp], groups: int, monotone: Callable[[Floats], Floats]) -> Floats:
    """Chance from each point (M,); what lands at or beyond the end has reached the target."""
    points = law.shape[1]
    chance = np.ones(points + 1 + int(offsets[-1]))
    chance[:points] = 0.0
    for _ in range(groups):
        step = np.zeros(points)
        for weight, offset in zip(law, offsets.tolist(), strict=True):
            step += weight * chance[offset : offset + points]
        chance[:points] = monotone(np.minimum(step, 1.0))
    return chance[:points]
