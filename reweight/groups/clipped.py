"""The expected clipped surrogate of one group, and where it is largest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import distribution
from reweight.errors import InputError
from reweight.groups.group_sums import expected_sums
from reweight.groups.outcomes import observe
from reweight.objectives.advantage import Advantage
from reweight.objectives.clip import Clip, surrogate
from reweight.objectives.objective import Objective
from reweight.problems.problem import Problem

__all__ = ["ClippedOptimum", "clipped_optimum", "clipped_surrogate"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClippedOptimum:
    """Where the expected clipped surrogate is largest over all policies.

    Attributes
    ----------
    value : float
        The largest expected surrogate.
    policy : ndarray, shape (N,)
        One policy that attains it.
    least_pass_rate, greatest_pass_rate : float or None
        The pass rates of all policies that attain it fill the interval between; None where it is not known which
        answers are correct.
    """

    value: float
    policy: Floats
    least_pass_rate: float | None
    greatest_pass_rate: float | None

    def __str__(self) -> str:
        rates = (
            ""
            if self.least_pass_rate is None
            else f", at pass rates from {self.least_pass_rate:.6g} to {self.greatest_pass_rate:.6g}"
        )
        return f"largest expected surrogate {self.value:.6g}{rates}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "value": self.value,
            "policy": self.policy.tolist(),
            "least_pass_rate": self.least_pass_rate,
            "greatest_pass_rate": self.greatest_pass_rate,
        }


def clipped_surrogate(
    rewards: ArrayLike, old: ArrayLike, new: ArrayLike, group_size: int, advantage: Advantage, clip: Clip | None
) -> float:
    """Compute the expected surrogate at `new` of a group drawn from `old`.

    Parameters
    ----------
    rewards : array_like, shape (N,)
    old, new : array_like, shape (N,)
        Two distributions over the answers.
    group_size : int
        Number of draws G in a group.
    advantage : Advantage
        A prompt-local advantage that needs no lengths.
    clip : Clip or None
        None leaves the ratio unclipped.

    Raises
    ------
    InputError
        If an array is no distribution, the shapes differ, or the advantage needs more than rewards.

    Notes
    -----
    The sum over answers of pi_old(y) [w+(y) m+(rho) - w-(y) m-(rho)], where w+ and w- are the expected positive and
    negative parts of the advantage and m+, m- the clipped ratio for either sign. Source: R16.

    Examples
    --------
    >>> clipped_surrogate([1, 0], [0.25, 0.75], [0.25, 0.75], 2, Advantage(), Clip(0.2, 0.2))
    0.0
    >>> round(clipped_surrogate([1, 0], [0.25, 0.75], [0.5, 0.5], 2, Advantage(), Clip(0.2, 0.2)), 12)
    0.075
    """
    before, after, positive, negative = _parts(rewards, old, new, group_size, advantage)
    ratio = np.divide(after, before, out=np.zeros_like(after), where=before > 0)
    value = positive * surrogate(ratio, 1.0, clip)[0] + negative * surrogate(ratio, -1.0, clip)[0]
    return float(before @ value)


def clipped_optimum(
    rewards: ArrayLike,
    old: ArrayLike,
    group_size: int,
    advantage: Advantage,
    clip: Clip,
    *,
    correct: ArrayLike | None = None,
) -> ClippedOptimum:
    """Compute the largest expected clipped surrogate over all policies.

    Parameters are those of :func:`clipped_surrogate`; `correct` is that of Problem.

    Raises
    ------
    InputError
        As there, and if the clip has a dual or a ratio cap, with which the surrogate is not concave.

    Notes
    -----
    In the new probability of one answer the surrogate is concave and linear in three pieces, with slopes w+, w+ - w-
    and -w-; so a mass of one fills the pieces from the steepest down. Source: R16, H9.

    Examples
    --------
    >>> print(clipped_optimum([1, 0], [0.01, 0.99], 8, Advantage(), Clip(0.2, 0.2)))
    largest expected surrogate 0.0103311, at pass rates from 0.208 to 1
    """
    if clip.dual is not None or clip.ratio_cap is not None:
        raise InputError("a dual clip or ratio cap makes the surrogate not concave: leave it out")
    problem = Problem(rewards, correct=correct)
    before, _, positive, negative = _parts(rewards, old, old, group_size, advantage)
    low, high = clip.range
    size = len(before)
    slopes = np.concatenate([positive, positive - negative, -negative])
    room = np.concatenate([low * before, (high - low) * before, np.full(size, np.inf)])
    filled, tied, left = _fill(slopes, room)
    policy = filled.copy()
    for piece in np.flatnonzero(tied):
        policy[piece] = min(room[piece], left - policy[tied].sum())
    chosen = policy.reshape(3, size).sum(axis=0)
    value = clipped_surrogate(rewards, old, chosen / chosen.sum(), group_size, advantage, clip)
    if not problem.has_correct_set:
        return ClippedOptimum(value, chosen, None, None)
    right = np.tile(problem.correct, 3)
    sure = float(filled[right].sum())
    least = sure + max(0.0, left - float(room[tied & ~right].sum()))
    greatest = sure + min(left, float(room[tied & right].sum()))
    return ClippedOptimum(value, chosen, min(1.0, least), min(1.0, greatest))


def _parts(
    rewards: ArrayLike, old: ArrayLike, new: ArrayLike, group_size: int, advantage: Advantage
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return both distributions and the expected positive and negative parts of the advantage, each of shape (N,)."""
    problem = Problem(rewards)
    before, after = distribution(old, "old"), distribution(new, "new")
    size = len(problem)
    if before.shape != (size,) or after.shape != (size,):
        raise InputError(f"{size} rewards for distributions of shapes {before.shape}, {after.shape}: give (N,) each")
    if advantage.baseline == "length_weighted":
        raise InputError("a length-weighted baseline needs lengths: use expected_coefficients")
    objective = Objective(advantage, group_size, aggregation="sequence_sum")
    ones = np.ones(size)
    sums = expected_sums(observe(problem, ones, objective, 0 * ones), before, ones, objective, np.zeros((size, 1)))
    return before, after, sums.positive[:, 0], sums.negative[:, 0]


def _fill(slopes: Floats, room: Floats) -> tuple[Floats, NDArray[np.bool_], float]:
    """Fill pieces with a mass of one from the steepest down.

    Return what is in those that are full, which pieces share the last slope, and how much mass is left for them.
    """
    filled, left = np.zeros_like(room), 1.0
    for slope in np.unique(slopes)[::-1]:
        tied = slopes == slope
        if room[tied].sum() >= left:
            return filled, tied, left
        filled[tied] = room[tied]
        left -= float(room[tied].sum())
    raise AssertionError("the last pieces have room for any mass")
