"""Clipping of the importance ratio: the surrogate of one sample and its slope."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.errors import InputError

__all__ = ["Clip", "surrogate"]


@dataclass(frozen=True)
class Clip:
    """The clip range of the ratio rho = pi / pi_old.

    Parameters
    ----------
    low, high : float
        The ratio is clipped to [1 - low, 1 + high].
    dual : float, optional
        Dual clip: for a negative advantage A the surrogate is at least dual * A. Must exceed 1.

    Raises
    ------
    InputError
        If `low` is outside [0, 1], `high` is negative, or `dual` is at most 1.
    """

    low: float
    high: float
    dual: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.low <= 1:
            raise InputError(f"clip low is {self.low}: give a number between 0 and 1")
        if not (self.high >= 0 and math.isfinite(self.high)):
            raise InputError(f"clip high is {self.high}: give a finite number that is not negative")
        if self.dual is not None and not self.dual > 1:
            raise InputError(f"the dual clip is {self.dual}: give a number above 1, or leave it out")


def surrogate(ratio: ArrayLike, advantage: ArrayLike, clip: Clip | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the clipped surrogate of one sample and its derivative in the ratio.

    Parameters
    ----------
    ratio, advantage : array_like
        Broadcast against each other.
    clip : Clip or None
        None leaves the ratio unclipped.

    Returns
    -------
    value, slope : ndarray
        min(rho A, clip(rho) A), for A < 0 no less than dual * A; at a kink the slope is that of the unclipped side.

    Examples
    --------
    >>> value, slope = surrogate([1.5, 0.5, 10.0], [1.0, -1.0, -1.0], Clip(0.2, 0.2, dual=3))
    >>> value, slope
    (array([ 1.2, -0.8, -3. ]), array([0., 0., 0.]))
    """
    rho, a = np.broadcast_arrays(np.asarray(ratio, dtype=np.float64), np.asarray(advantage, dtype=np.float64))
    if clip is None:
        return rho * a, a.copy()
    bounded = np.clip(rho, 1 - clip.low, 1 + clip.high)
    value = np.minimum(rho * a, bounded * a)
    active = rho * a <= bounded * a
    if clip.dual is not None:
        floor = clip.dual * a
        capped = (a < 0) & (value < floor)
        value, active = np.where(capped, floor, value), active & ~capped
    return value, np.where(active, a, 0.0)
