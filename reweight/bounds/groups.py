"""Bounds on one group: the largest advantage, and the gap between correct and wrong answers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from reweight.bounds.scale import GroupScale
from reweight.checks import Floats, plain, real, shapes, unit

__all__ = ["GapBounds", "advantage_bound", "gap_bounds"]


class GapBounds(NamedTuple):
    """Lower and upper bound on the gap w(correct) - w(wrong), each of shape (...)."""

    lower: Floats
    upper: Floats


def advantage_bound(
    group_size: ArrayLike, *, ddof: int = 0, scale: str = "std", eps: ArrayLike = 0.0, reward_range: ArrayLike = 1.0
) -> Floats:
    """Largest possible absolute advantage in a group (Samuelson's inequality).

    Map: none, it is about one group. Hypotheses: group-mean baseline (for the leave-one-out mean multiply by G/(G-1));
    divisor std + eps of the whole group, or none; any real rewards within `reward_range` of each other. Sharp: attained
    when one reward differs from the other G - 1, which are equal, by `reward_range`. Fails for a leave-one-out std,
    which has no bound.

    Parameters
    ----------
    group_size : array_like of int, shape (...)
        G, at least 2.
    ddof : {0, 1}
        Of the std; 0 gives the larger bound, so it is right for either.
    scale : {"std", "none"}
        Whether the centred reward is divided by the group's std.
    eps : array_like, shape (...)
        Added to the std. 0 is right for any eps, and for other rules that only enlarge the divisor.
    reward_range : array_like, shape (...)
        Largest minus smallest possible reward, in reward units; it plays no part for scale "std" with eps 0.

    Returns
    -------
    ndarray, shape (...)
        sqrt(G-1) for ddof 0, (G-1)/sqrt(G) for ddof 1, (G-1)/G times the range for "none"; a scalar for scalar input.

    Raises
    ------
    InputError
        If group_size is below 2, ddof or scale is unknown, eps is negative, or reward_range is not positive.

    Notes
    -----
    Source: R03, C11.

    Examples
    --------
    >>> round(float(advantage_bound(8)), 6), round(float(advantage_bound(8, ddof=1)), 6)
    (2.645751, 2.474874)
    """
    group = GroupScale.checked(group_size, ddof, scale, eps)
    width = real(reward_range, "reward_range", above=0.0)
    shapes(group_size=group.size, eps=group.eps, reward_range=width)
    # Scaling rewards by the width is the same as dividing eps by it, which avoids squaring a tiny width.
    unit_group = GroupScale(group.size, ddof, scale, group.eps / width)
    return plain(unit_group.largest_gap * (width if scale == "none" else 1.0))


def gap_bounds(
    pass_rate: ArrayLike, group_size: ArrayLike, *, ddof: int = 0, scale: str = "std", eps: ArrayLike = 0.0
) -> GapBounds:
    """Bounds on the gap: how much more a correct answer is pushed than a wrong one, in expectation.

    Map: none, it is about E[A_1 | y_1]. Hypotheses: rewards 0 and 1, independent draws at the pass rate, group-mean
    baseline, divisor std + eps or none. Both are exact at p = 0 and 1 (as limits), the lower one is exact everywhere
    for G = 2 and 3, and both tend to 1/(sqrt(p q) + eps) as G grows. For scale "none" both are the gap itself, (G-1)/G.

    Parameters
    ----------
    pass_rate : array_like, shape (...)
        p, the probability of a correct answer.
    group_size : array_like of int, shape (...)
        G, at least 2.
    ddof, scale, eps
        As in `advantage_bound`.

    Returns
    -------
    GapBounds
        Lower and upper bound, each of shape (...); dimensionless.

    Raises
    ------
    InputError
        If a pass rate is outside [0, 1] or NaN, or the group is refused as in `advantage_bound`.

    Notes
    -----
    Source: R02, C07 for the upper bound, min(sqrt(G-1), sqrt((G-1)/(G p q))). The lower bound is Jensen's on
    E 1/divisor(variance), with the mean variance of the group given one success and one failure,
    ((G-1) + (G-2)(G-3) p q)/G^2; it implies the constant 2(G-1)/G of R02, which is weaker for every p.

    Examples
    --------
    >>> low, high = gap_bounds(0.01, 8)
    >>> round(float(low), 4), round(float(high), 4)
    (2.5913, 2.6458)
    """
    p, group = unit(pass_rate, "pass_rate"), GroupScale.checked(group_size, ddof, scale, eps)
    shapes(pass_rate=p, group_size=group.size, eps=group.eps)
    size, spread = group.size, p * (1.0 - p)
    mixed = ((size - 1.0) + (size - 2.0) * (size - 3.0) * spread) / size**2
    with np.errstate(divide="ignore"):
        average = group.share / group.divisor(group.share * spread)
    return GapBounds(
        lower=plain(group.share / group.divisor(mixed)),
        upper=plain(np.minimum(group.largest_gap + np.zeros_like(p), average)),
    )
