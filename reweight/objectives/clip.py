"""Clipping of the importance ratio: the surrogate of one sample and its slope."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import choice, number
from reweight.errors import InputError

__all__ = ["Clip", "detached_weight", "surrogate"]

LARGEST_RATIO = 1e12
LARGEST_LOG_RATIO = 700.0


@dataclass(frozen=True)
class Clip:
    """The clip range of the ratio rho = pi / pi_old.

    Parameters
    ----------
    low, high : float
        The ratio is clipped to [1 - low, 1 + high]; low = 1 leaves it unclipped from below.
    dual : float, optional
        Dual clip: for a negative advantage A the surrogate is at least dual * A. Must exceed 1.
    ratio_cap : float, optional
        The ratio is replaced by min(rho, ratio_cap) before anything else (TRL's delta). Must exceed 1 + high.
    high_is : {"relative", "absolute"}
        "absolute" clips at `high` itself instead of 1 + high (TRL's CISPO).
    log_ratio_limit : float, optional
        log rho is clamped to [-limit, limit] before it is exponentiated, in nats.

    Raises
    ------
    InputError
        If `low` is outside [0, 1], `high` is negative, `dual` is at most 1, `ratio_cap` is at most the upper end of the
        clip range, or that range is empty.

    Examples
    --------
    >>> Clip(0.2, 0.28).range
    (0.8, 1.28)
    """

    low: float
    high: float
    _: KW_ONLY
    dual: float | None = None
    ratio_cap: float | None = None
    high_is: Literal["relative", "absolute"] = "relative"
    log_ratio_limit: float | None = None

    def __post_init__(self) -> None:
        number(self.low, "clip low", at_least=0.0, at_most=1.0)
        number(self.high, "clip high", at_least=0.0, at_most=LARGEST_RATIO)
        choice(self.high_is, "high_is", ("relative", "absolute"))
        if self.dual is not None:
            number(self.dual, "dual clip", above=1.0, at_most=LARGEST_RATIO)
        if self.range[0] > self.range[1]:
            raise InputError(f"the clip range {self.range} is empty: low = 1 clips from above only")
        if self.ratio_cap is not None:
            number(self.ratio_cap, "ratio cap", above=self.range[1], at_most=LARGEST_RATIO)
        if self.log_ratio_limit is not None:
            number(self.log_ratio_limit, "log ratio limit", above=0.0, at_most=LARGEST_LOG_RATIO)

    @property
    def range(self) -> tuple[float, float]:
        """Lower and upper end of the clipped ratio."""
        return 1 - self.low, self.high if self.high_is == "absolute" else 1 + self.high


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

    Notes
    -----
    Source: R16; dual clip and ratio cap as verl and TRL define them.

    Examples
    --------
    >>> value, slope = surrogate([1.5, 0.5, 10.0], [1.0, -1.0, -1.0], Clip(0.2, 0.2, dual=3))
    >>> value, slope
    (array([ 1.2, -0.8, -3. ]), array([0., 0., 0.]))
    """
    rho, a = np.broadcast_arrays(np.asarray(ratio, dtype=np.float64), np.asarray(advantage, dtype=np.float64))
    if clip is None:
        return rho * a, a.copy()
    moves = np.ones(rho.shape, dtype=bool)
    if clip.log_ratio_limit is not None:
        least, most = np.exp(-clip.log_ratio_limit), np.exp(clip.log_ratio_limit)
        moves, rho = (rho >= least) & (rho <= most), np.clip(rho, least, most)
    if clip.ratio_cap is not None:
        moves, rho = moves & (rho <= clip.ratio_cap), np.minimum(rho, clip.ratio_cap)
    bounded = np.clip(rho, *clip.range)
    value = np.minimum(rho * a, bounded * a)
    active = (rho * a <= bounded * a) & moves
    if clip.dual is not None:
        floor = clip.dual * a
        capped = (a < 0) & (value < floor)
        value, active = np.where(capped, floor, value), active & ~capped
    return value, np.where(active, a, 0.0)


def detached_weight(ratio: ArrayLike, clip: Clip | None) -> NDArray[Any]:
    """Return the clipped ratio that CISPO uses as a constant weight of A log pi.

    Examples
    --------
    >>> detached_weight([0.5, 1.5], Clip(1.0, 0.2))
    array([0.5, 1.2])
    """
    rho = np.asarray(ratio, dtype=np.float64)
    if clip is None:
        return rho
    if clip.log_ratio_limit is not None:
        rho = np.clip(rho, np.exp(-clip.log_ratio_limit), np.exp(clip.log_ratio_limit))
    return np.clip(rho, *clip.range)
