"""How far one update moves log-odds at most, and how many updates a given change needs.

All bounds hold pathwise and for one prompt. `step` is the step that the prompt itself sees: when a loss averages over B
prompts of a table with independent rows, that is the step over B. Averaging several groups of a prompt in one update
changes nothing, since each group alone obeys the bound. Rewards are 0 and 1 (for scale "std" with eps 0: any two values
under "tilt" and "policy_gradient", any rewards under "sampled_policy_gradient").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reweight.bounds.scale import GroupScale
from reweight.checks import Floats, choice, plain, real, shapes, unit

__all__ = ["log_odds_step_bound", "steps_lower_bound", "tilt_steps_upper_bound", "unsampled_step_bound"]

UPDATES = ("sampled_policy_gradient", "policy_gradient", "tilt")


def log_odds_step_bound(
    step: ArrayLike,
    group_size: ArrayLike,
    *,
    update: str = "sampled_policy_gradient",
    ddof: int = 0,
    scale: str = "std",
    eps: ArrayLike = 0.0,
) -> Floats:
    """Largest change of the log-odds of any set of answers in one update.

    Map: S-PG, PG or TILT on a flat softmax, as `update` says. Hypotheses: group-mean baseline (for the leave-one-out
    mean multiply the step by G/(G-1)), one divisor a group (std + eps, or none), one inner step, plain gradient steps,
    no KL, no entropy bonus, no decay. The values for ddof 0 and eps 0 are
    S-PG: step for even G, step sqrt(1 - 1/G^2) for odd G; sharp (one correct, one wrong answer, half the group each),
    and a bound on |log pi'(y)/pi(y)| too.
    PG: step sqrt((G-1)/G); sharp as G grows.
    TILT: step sqrt(G-1); approached as p tends to 0 or 1, and equal to every step for G = 2 and 3.

    Parameters
    ----------
    step : array_like, shape (...)
        Step size eta, at least 0.
    group_size : array_like of int, shape (...)
        G, at least 2.
    update : {"sampled_policy_gradient", "policy_gradient", "tilt"}
        How the policy moves.
    ddof, scale, eps
        As in `advantage_bound`.

    Returns
    -------
    ndarray, shape (...)
        Bound in nats an update; a scalar for scalar input.

    Raises
    ------
    InputError
        If step is negative, update is unknown, or the group is refused as in `advantage_bound`.

    Notes
    -----
    Source: R05, C27 (S-PG), R08 (PG), R07 (TILT). The positive pushes of one group sum to eta variance/(std + eps),
    the negative ones to minus that, so no two logits part by more than twice the largest such sum.

    Examples
    --------
    >>> float(log_odds_step_bound(0.1, 8)), round(float(log_odds_step_bound(0.1, 8, update="tilt")), 6)
    (0.1, 0.264575)
    """
    eta, group = _arguments(step, group_size, ddof, scale, eps)
    choice(update, "update", UPDATES)
    if update == "tilt":
        return plain(eta * group.largest_gap)
    push = group.mean_push if update == "policy_gradient" else group.push(group.largest_variance)
    return plain(2.0 * eta * push)


def unsampled_step_bound(
    step: ArrayLike, group_size: ArrayLike, *, ddof: int = 0, scale: str = "std", eps: ArrayLike = 0.0
) -> Floats:
    """Largest |log pi'(y)/pi(y)| in one update of an answer y that was not sampled in it.

    Map: S-PG on a flat softmax. Hypotheses as for `log_odds_step_bound`. Half the bound there: only the normalisation
    moves y. Sharp as the mass of the wrong answers in an evenly split group tends to 1. Over T updates without a sample
    pi_T(y) <= pi_0(y) e^{T bound}, a short horizon; `discovery_ceiling` has no horizon.

    Parameters
    ----------
    step, group_size, ddof, scale, eps
        As in `log_odds_step_bound`.

    Returns
    -------
    ndarray, shape (...)
        Bound in nats an update; a scalar for scalar input.

    Raises
    ------
    InputError
        As `log_odds_step_bound`.

    Notes
    -----
    Source: R05, C27.

    Examples
    --------
    >>> float(unsampled_step_bound(0.1, 8))
    0.05
    """
    eta, group = _arguments(step, group_size, ddof, scale, eps)
    return plain(eta * group.push(group.largest_variance))


def steps_lower_bound(
    start: ArrayLike,
    end: ArrayLike,
    step: ArrayLike,
    group_size: ArrayLike,
    *,
    update: str = "sampled_policy_gradient",
    ddof: int = 0,
    scale: str = "std",
    eps: ArrayLike = 0.0,
) -> Floats:
    """Least number of updates in which a pass rate, or the probability of any set, can go from start to end.

    Map and hypotheses as for `log_odds_step_bound`, by which the distance in log-odds is divided. S-PG: sharp for one
    correct and one wrong answer with every group evenly split. A pass rate never falls under these maps, so with
    end < start the bound is about other sets of answers.

    Parameters
    ----------
    start, end : array_like, shape (...)
        Probability of the set before and after.
    step, group_size, update, ddof, scale, eps
        As in `log_odds_step_bound`.

    Returns
    -------
    ndarray, shape (...)
        Updates, as a real number (the whole number needed is at least this); inf where start or end is 0 or 1 and they
        differ. A scalar for scalar input.

    Raises
    ------
    InputError
        If a probability is outside [0, 1] or NaN, or as `log_odds_step_bound`.

    Notes
    -----
    Source: C61, R05 (S-PG), R07 (TILT).

    Examples
    --------
    >>> round(float(steps_lower_bound(0.01, 0.5, 0.1, 8)), 4)
    45.9512
    """
    before, after = unit(start, "start"), unit(end, "end")
    bound = np.asarray(log_odds_step_bound(step, group_size, update=update, ddof=ddof, scale=scale, eps=eps))
    return plain(_quotient(before, after, bound))


def tilt_steps_upper_bound(
    start: ArrayLike,
    end: ArrayLike,
    step: ArrayLike,
    group_size: ArrayLike,
    *,
    ddof: int = 0,
    scale: str = "std",
    eps: ArrayLike = 0.0,
) -> Floats:
    """Number of updates after which the tilt's pass rate is at least `end`, whatever the answers.

    Map: TILT on a flat softmax; under PG and S-PG no such bound exists (their time grows with 1/start). Hypotheses:
    rewards 0 and 1, group-mean baseline, divisor std + eps or none, no KL. Uses the smallest gap over all pass rates,
    so it is exact up to rounding for G = 2, 3 and for scale "none", and loose when start is near 0 and G is large.

    Parameters
    ----------
    start, end : array_like, shape (...)
        Pass rate before and wanted.
    step : array_like, shape (...)
        Step size eta, at least 0.
    group_size, ddof, scale, eps
        As in `advantage_bound`.

    Returns
    -------
    ndarray, shape (...)
        Whole number of updates: 0 where start is at least end, inf where it is never reached. A scalar for scalars.

    Raises
    ------
    InputError
        If a pass rate is outside [0, 1] or NaN, or as `log_odds_step_bound`.

    Notes
    -----
    Source: R07, with the smallest gap bounded below by `gap_bounds` at p = 1/2, 2(G-1)/sqrt(G^2-G+2) for ddof 0,
    which is more than the 2(G-1)/G written there.

    Examples
    --------
    >>> float(tilt_steps_upper_bound(0.01, 0.5, 0.1, 8))
    25.0
    """
    before, after = unit(start, "start"), unit(end, "end")
    eta, group = _arguments(step, group_size, ddof, scale, eps)
    mixed = (group.size**2 - group.size + 2.0) / (4.0 * group.size**2)
    steps = _quotient(before, np.maximum(before, after), eta * group.share / group.divisor(mixed))
    return plain(np.ceil(steps))


def _arguments(
    step: ArrayLike, group_size: ArrayLike, ddof: int, scale: str, eps: ArrayLike
) -> tuple[Floats, GroupScale]:
    eta, group = real(step, "step", at_least=0.0), GroupScale.checked(group_size, ddof, scale, eps)
    shapes(step=eta, group_size=group.size, eps=group.eps)
    return eta, group


def _quotient(start: Floats, end: Floats, bound: Floats) -> Floats:
    """Distance in log-odds over a bound for each step; nothing to do takes no step, even at 0, 1 or with step 0."""
    shapes(start=start, end=end, step=bound)
    low, high = np.minimum(start, end), np.maximum(start, end)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = (_log_ratio(low, high, high - low) + _log_ratio(1.0 - high, 1.0 - low, high - low)) / bound
    return np.where(low == high, 0.0, steps)


def _log_ratio(small: Floats, large: Floats, difference: Floats) -> Floats:
    """log(large / small), by its difference where the two are close."""
    close = difference < small
    ratio = np.divide(difference, small, out=np.zeros_like(difference), where=close)
    return np.where(close, np.log1p(ratio), np.log(large) - np.log(small))
