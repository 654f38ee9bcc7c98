"""Clipping of the importance ratio: the surrogate of one sample and its slope."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import number

__all__ = ["Clip", "surrogate"]

LARGEST_RATIO = 1e12


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
    _: KW_ONLY
    dual: float | None = None

    def __post_init__(self) -> None:
        number(self.low, "clip low", at_least=0.0, at_most=1.0)
        number(self.high, "clip high", at_least=0.0, at_most=LARGEST_RATIO)
        if self.dual is not None:
            number(self.dual, "dual clip", above=1.0, at_most=LARGEST_RATIO)


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
