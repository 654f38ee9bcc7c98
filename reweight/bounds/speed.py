"""How fast a tilt can turn the policy: the Fisher-Rao speed limit of the flow, and of finite steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reweight.bounds.scale import GroupScale
from reweight.checks import Floats, plain, real, shapes

__all__ = ["speed_limit"]


def speed_limit(
    time: ArrayLike,
    group_size: ArrayLike,
    *,
    step: ArrayLike | None = None,
    ddof: int = 0,
    scale: str = "std",
    eps: ArrayLike = 0.0,
) -> Floats:
    """Largest change of arcsin sqrt(p) that a tilt makes in a given time.

    Map: TILT on a flat softmax, as a flow (step None) or in steps. Hypotheses: rewards 0 and 1, group-mean baseline,
    divisor std + eps or none, no KL. The flow's bound is sharp as G grows at fixed p; finite steps can exceed it (by
    8 % at G = 8 and step 1) and obey it times (e^x - 1)/x, x = step times the largest gap / 2. Vacuous above pi/2, and
    for x well above 1, where a quarter of `log_odds_step_bound` a step is the smaller bound.

    Parameters
    ----------
    time : array_like, shape (...)
        Step size times number of updates, at least 0.
    group_size : array_like of int, shape (...)
        G, at least 2.
    step : array_like, shape (...), optional
        Step size of each update; None is the limit of small steps.
    ddof, scale, eps
        As in `advantage_bound`.

    Returns
    -------
    ndarray, shape (...)
        Bound on arcsin sqrt(p_T) - arcsin sqrt(p_0) in radians, half the Fisher-Rao distance `measures.fisher_rao`
        (a binary tilt moves along a geodesic). A scalar for scalar input.

    Raises
    ------
    InputError
        If time or step is negative or NaN, or the group is refused as in `advantage_bound`.

    Notes
    -----
    Source: R26, C78 (flow): (time/2) sqrt((G-1)/G) for ddof 0, (time/2)(G-1)/G for ddof 1. C83 (steps).
    The speed is sqrt(p q) gap(p) / 2, and p q gap(p) is at most v/(std(v) + eps) at the mean variance v = p q (G-1)/G
    by Jensen; the resulting speed is largest at p = 1/2, also with eps, and is (G-1)/(4G) for scale "none".

    Examples
    --------
    >>> round(float(speed_limit(1.0, 8)), 6), round(float(speed_limit(1.0, 8, step=0.1)), 6)
    (0.467707, 0.500054)
    """
    duration, group = real(time, "time", at_least=0.0), GroupScale.checked(group_size, ddof, scale, eps)
    eta = real(0.0 if step is None else step, "step", at_least=0.0)
    shapes(time=duration, group_size=group.size, step=eta, eps=group.eps)
    from scipy.special import exprel

    with np.errstate(over="ignore", invalid="ignore"):
        limit = duration * group.mean_push * exprel(eta * group.largest_gap / 2.0)
    return plain(np.where(duration == 0, 0.0, limit))
