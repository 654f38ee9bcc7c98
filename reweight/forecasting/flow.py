"""Motion of a pass rate whose speed depends on the pass rate alone, as a function of the time it has had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from reweight.errors import InputError
from reweight.groups.binary import gap

if TYPE_CHECKING:
    from scipy.interpolate import CubicHermiteSpline

    from reweight.objectives.advantage import Advantage

__all__ = ["Flow", "flow", "tilt_flow", "two_answer_flow"]

Floats = NDArray[np.float64]

FARTHEST, CELL = 60.0, 1 / 128
OUTSIDE = 1e4
"""Log-odds that no float has; between FARTHEST and there the speed is taken as constant, which a tilt's is."""


@dataclass(frozen=True, eq=False)
class Flow:
    """d logit p / d time = speed(logit p) > 0: every pass rate follows one and the same curve, only at another time.

    Attributes
    ----------
    clock : CubicHermiteSpline
        The time at which that curve passes a log-odds, with time 0 at even odds.
    place : CubicHermiteSpline
        Its inverse.
    fastest : float
        Largest speed, nats per unit of time.

    Notes
    -----
    The interpolation errs by less than 1e-9 nats for the speeds of this module.
    """

    clock: CubicHermiteSpline
    place: CubicHermiteSpline
    fastest: float

    def __call__(self, log_odds: Floats, time: float | Floats) -> Floats:
        """The log-odds (...) after `time` (a number or shape (...)); certain and impossible answers stay so."""
        start = np.asarray(log_odds, dtype=np.float64)
        finite = np.isfinite(start)
        seen = self.clock(np.where(finite, start, 0.0)) + time
        ends = self.place.x[0], self.place.x[-1]
        return np.where(finite, self.place(np.clip(seen, *ends)), start)

    def pass_rate(self, pass_rate: Floats, time: float) -> Floats:
        """The pass rates (M,) after `time`."""
        return np.asarray(expit(self(logit(pass_rate), time)))


def flow(speed: Callable[[Floats], Floats]) -> Flow:
    """Follow a speed, nats per unit of time as a function of the log-odds in nats.

    Raises
    ------
    InputError
        If the speed is not positive everywhere: then the pass rate does not rise from everywhere.

    Examples
    --------
    >>> steady = flow(lambda log_odds: np.full_like(log_odds, 2.0))
    >>> steady(np.array([-1.0, 0.5]), 3.0).round(9).tolist()
    [5.0, 6.5]
    """
    from scipy.integrate import cumulative_simpson
    from scipy.interpolate import CubicHermiteSpline

    right = np.arange(0.0, FARTHEST + CELL / 2, CELL)
    # Outwards from even odds, so that short times are not lost in the long ones of small speeds.
    knots, times, slowness = [], [], []
    fastest = 0.0
    for side in (-right, right):
        rate = speed(side)
        if not (np.isfinite(rate).all() and rate.min() > 0.0):
            raise InputError("the pass rate does not rise from everywhere under this advantage; choose another preset")
        fastest = max(fastest, float(rate.max()))
        passed = np.sign(side[-1]) * cumulative_simpson(1.0 / rate, x=right, initial=0.0)
        far = np.sign(side[-1]) * OUTSIDE
        knots.append(np.append(side, far))
        times.append(np.append(passed, passed[-1] + (far - side[-1]) / rate[-1]))
        slowness.append(1.0 / np.append(rate, rate[-1]))
    joined = [np.concatenate([left[:0:-1], both]) for left, both in (knots, times, slowness)]
    return Flow(CubicHermiteSpline(*joined), CubicHermiteSpline(joined[1], joined[0], 1.0 / joined[2]), fastest)


def tilt_flow(group_size: int, advantage: Advantage) -> Flow:
    """TILT in the limit of small steps, d logit p / d tau = Delta_G(p), tau the sum of the step sizes (R07, R26).

    Examples
    --------
    >>> from reweight.objectives import Advantage
    >>> pairs = tilt_flow(2, Advantage())  # the gap of pairs is 1 at every pass rate (C04)
    >>> pairs.pass_rate(np.array([0.0, 0.5, 1.0]), np.log(3.0)).round(9).tolist()
    [0.0, 0.75, 1.0]
    """
    return flow(lambda log_odds: np.asarray(gap(logit=log_odds, group_size=group_size, advantage=advantage)))


def two_answer_flow(group_size: int, advantage: Advantage) -> Flow:
    """PG of a prompt with one correct and one wrong answer, d logit p / d tau = 2 p q Delta_G(p) (R10).

    Examples
    --------
    >>> from reweight.objectives import Advantage
    >>> slow = two_answer_flow(2, Advantage())  # dp/dtau = 2 p^2 q^2: at p = 1e-3 hardly any movement
    >>> slow.pass_rate(np.array([1e-3, 0.5]), 1.0).round(4).tolist()
    [0.001, 0.6201]
    """

    def speed(log_odds: Floats) -> Floats:
        both = expit(log_odds) * expit(-log_odds)
        return np.asarray(2.0 * both * gap(logit=log_odds, group_size=group_size, advantage=advantage))

    return flow(speed)
