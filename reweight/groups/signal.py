"""Signal and noise of the gradient that one group gives a softmax over its answers.

Given how many members have each reward level, the answers within a level are independent. So the variance is that
within levels plus that between such counts: a sum in which no term is negative, accurate also where a policy is nearly
certain.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import comb, hypot
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import distribution, real
from reweight.errors import InputError
from reweight.groups.advantages import float_advantages
from reweight.groups.expectation import MOST_ENTRIES, compositions, multinomial_probabilities
from reweight.groups.inputs import check_needs_rewards_alone
from reweight.groups.moments import by_level, dead_share
from reweight.objectives.advantage import Advantage

__all__ = ["GradientSignal", "best_constant_baseline", "gradient_signal"]

Floats = NDArray[np.float64]
LARGEST_SPREAD, LARGEST_BLOCK = 1e100, 4_000_000
ROUNDING = 1e-14
"""Gradients of two kinds of groups that differ by less than this share of themselves are equal but for rounding."""


@dataclass(frozen=True)
class GradientSignal:
    """How much of one group's gradient is signal. Norms are Euclidean in the logits of a softmax over the answers.

    Attributes
    ----------
    norm : float
        Norm of the expected gradient of one group, of one that is kept where only mixed ones are.
    variance : float
        Trace of the covariance of that gradient.
    per_group : float
        Signal-to-noise ratio norm^2 / variance of one group; n groups averaged have n times as much. Infinite without
        noise, 0 without signal.
    per_kept_rollout, per_generated_rollout : float
        The same for each rollout that enters the loss, and for each that is generated.
    dead_share : float
        Probability that all rewards of a group are equal.
    expected_advantage : float
        E|A_1|, given a mixed group where only these count.
    cosine, scale : float or None
        Of the expected gradient against the gradient of the expected reward: the cosine of the angle between them and
        the ratio of their norms; None where either is zero. A cosine of 1 means no bias in direction.
    """

    norm: float
    variance: float
    per_group: float
    per_kept_rollout: float
    per_generated_rollout: float
    dead_share: float
    expected_advantage: float
    cosine: float | None
    scale: float | None

    def __str__(self) -> str:
        rows = ((name.replace("_", " "), value) for name, value in asdict(self).items())
        return "\n".join(f"{name:<24}{'-' if value is None else format(value, '.6g')}" for name, value in rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values; what is infinite is None."""
        return {name: value if value is None or np.isfinite(value) else None for name, value in asdict(self).items()}


def gradient_signal(
    rewards: ArrayLike,
    probabilities: ArrayLike,
    group_size: int,
    advantage: Advantage,
    *,
    mixed_only: bool = False,
) -> GradientSignal:
    """Compute signal and noise of (1/G) sum of A_i grad log pi(y_i) for a softmax over the answers.

    Parameters
    ----------
    rewards, probabilities : array_like, shape (N,)
    group_size : int
        Number of draws G in a group.
    advantage : Advantage
        A prompt-local advantage that needs no lengths.
    mixed_only : bool
        Redraw groups of equal rewards, as dynamic sampling does.

    Raises
    ------
    InputError
        If the parts do not fit together, no group is mixed and only mixed ones count, or there are too many groups.

    Notes
    -----
    The score of answer y is e_y - pi. Let m_c be the mass of level c, and rho_c = sum over its answers of (pi_y
    / m_c)^2 be the chance that two answers of the level are the same. With F_c and T_c the sums of A_i and A_i^2 over
    its members, groups of given counts have the variance sum over c of T_c (1 - rho_c) / G^2, and a mean whose squared
    norm is the sum over c of rho_c ((1 - m_c) F_c / G - m_c sum over the other levels of F_a / G)^2.

    Examples
    --------
    >>> found = gradient_signal([1, 0], [0.5, 0.5], 2, Advantage())
    >>> round(found.norm, 6), round(found.variance, 12), round(found.per_group, 12)
    (0.353553, 0.125, 1.0)
    """
    check_needs_rewards_alone(group_size, advantage)
    levels, masses, index = by_level(rewards, probabilities)
    if np.ptp(levels) > LARGEST_SPREAD:
        raise InputError(
            f"rewards that span {np.ptp(levels):g} leave float64 when squared: divide them by a constant first"
        )
    law = _law(levels, masses, group_size, advantage, mixed_only)
    scores = _scores(distribution(probabilities, "probabilities"), masses, index)
    unit, norm, variance, direction = _mean_and_variance(
        law.chances, scores.mean(law.sums / group_size), law.squares @ scores.apart / group_size**2
    )
    ratio = float(norm / variance * norm if variance > 0 else np.inf if norm > 0 else 0.0)
    truth = scores.mean(masses * (levels - levels[0]))
    slope = hypot(*truth)
    aligned = norm > 0 and slope > 0
    return GradientSignal(
        norm=unit * norm,
        variance=unit * (unit * variance),
        per_group=ratio,
        per_kept_rollout=ratio / group_size,
        per_generated_rollout=ratio * law.share / group_size,
        dead_share=dead_share(rewards, probabilities, group_size),
        expected_advantage=float(law.chances @ np.abs(law.sums).sum(axis=1)) / group_size,
        cosine=float(np.clip((direction / norm) @ (truth / slope), -1.0, 1.0)) if aligned else None,
        scale=float(unit * norm / slope) if aligned else None,
    )


@dataclass(frozen=True)
class _Law:
    """Chances of counts, (M,), summing to one; sums of advantages and squares by level, (M, L); share that counts."""

    chances: Floats
    sums: Floats
    squares: Floats
    share: float


def _law(levels: Floats, masses: Floats, size: int, advantage: Advantage, mixed_only: bool) -> _Law:
    entries = comb(size + len(levels) - 1, size) * size
    if entries > MOST_ENTRIES:
        raise InputError(
            f"{len(levels)} reward levels in groups of {size} need {entries:.1e} entries, above the limit of "
            f"{MOST_ENTRIES:.0e}: use a smaller group or fewer levels"
        )
    counts = compositions(size, len(levels))
    chances = multinomial_probabilities(counts, masses)
    possible = (chances > 0) & (counts.max(axis=1) < size if mixed_only else True)
    if not possible.any():
        raise InputError("no group is mixed: the rewards that have a probability are all equal")
    counts, chances = counts[possible], chances[possible]
    total = chances.sum()
    values = np.zeros(counts.shape)
    for own in range(len(levels)):
        rows = np.flatnonzero(counts[:, own])
        order = np.roll(np.arange(len(levels)), -own)  # a member of this level comes first
        for block in np.array_split(rows, -(-len(rows) * size // LARGEST_BLOCK)) if len(rows) else []:
            members = np.repeat(np.tile(order, len(block)), counts[np.ix_(block, order)].ravel())
            groups = levels[members.reshape(len(block), size)]
            values[block, own] = float_advantages(groups, advantage, members=[0])[:, 0]
    return _Law(chances / total, counts * values, counts * values**2, float(total) if mixed_only else 1.0)


@dataclass(frozen=True)
class _Scores:
    """Level masses m and 1 - m; the chance that two answers of a level are the same, and that they are not; (L,)."""

    masses: Floats
    others: Floats
    alike: Floats
    apart: Floats

    def mean(self, weights: Floats) -> Floats:
        """Return, for weights of the levels' mean scores, (..., L), coordinates (..., L) of the same norm."""
        rest = weights @ (1.0 - np.eye(len(self.masses)))
        return np.asarray(np.sqrt(self.alike) * (weights * self.others - self.masses * rest))


def _scores(pi: Floats, masses: Floats, index: NDArray[np.intp]) -> _Scores:
    count = len(masses)
    share = pi / np.where(masses > 0, masses, 1.0)[index]
    order = np.lexsort((pi, index))
    top = order[np.searchsorted(index[order], np.arange(count), side="right") - 1]  # the likeliest answer of each level
    missing = 1.0 - share
    small = share.copy()
    small[top] = 0.0
    missing[top] = np.bincount(index, weights=small, minlength=count)
    alike = np.bincount(index, weights=share * share, minlength=count).astype(np.float64)
    apart = np.bincount(index, weights=share * missing, minlength=count).astype(np.float64)
    others = np.array([np.delete(masses, level).sum() for level in range(count)])
    return _Scores(masses, others, alike, apart)


def _mean_and_variance(chances: Floats, means: Floats, within: Floats) -> tuple[float, float, float, Floats]:
    """Return a unit, and in it the norm of the mean, the variance and the mean.

    Deviations are taken from the likeliest counts, so that they keep their digits where nearly all groups are alike.
    """
    unit = float(max(np.abs(means).max(), np.sqrt(within.max()))) or 1.0
    means, within = means / unit, within / unit / unit
    likeliest = means[np.argmax(chances)]
    moves = means - likeliest
    moves[np.abs(moves) <= ROUNDING * np.maximum(np.abs(means), np.abs(likeliest))] = 0.0
    drift = chances @ moves
    mean = chances @ means
    return unit, hypot(*mean), float(chances @ (within + ((moves - drift) ** 2).sum(axis=1))), mean


def best_constant_baseline(rewards: ArrayLike, probabilities: ArrayLike) -> float:
    """Compute the constant b for which (r - b) grad log pi has the least variance, for a softmax over the answers.

    Parameters
    ----------
    rewards, probabilities : array_like, shape (N,)

    Raises
    ------
    InputError
        If the probabilities are not a distribution over the rewards, or one answer has all of it.

    Notes
    -----
    The mean does not depend on b, so the second moment decides: b = E[r |s|^2] / E[|s|^2], where the score s of answer
    y has the squared norm (1 - pi_y)^2 + sum over the other answers of pi^2.

    Examples
    --------
    >>> round(best_constant_baseline([1, 0], [0.9, 0.1]), 12)  # the rarer answer has the longer score
    0.1
    """
    values, pi = real(rewards, "rewards"), distribution(probabilities, "probabilities")
    if values.ndim != 1 or values.shape != pi.shape:
        raise InputError(f"rewards of shape {values.shape} for probabilities {pi.shape}: give (N,) each")
    top = int(np.argmax(pi))
    small = np.delete(pi, top)
    rest = float(small.sum())  # 1 - pi of the likeliest answer, without the difference
    if rest == 0:
        raise InputError("one answer has all of the probability: no baseline is better than another")
    square = float(small @ (small / rest))
    lengths = (1 - pi) ** 2 + (pi[top] ** 2 + rest * square - pi**2)
    weight = pi / rest * lengths
    weight[top] = pi[top] * (rest + square)
    return float(weight @ values / weight.sum())
