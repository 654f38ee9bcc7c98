"""Signal and noise of the gradient that one group gives a softmax over its answers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import distribution, real
from reweight.errors import InputError
from reweight.groups.filtering import kept_share
from reweight.groups.moments import Moments, dead_share, moments
from reweight.objectives.advantage import Advantage

__all__ = ["GradientSignal", "best_constant_baseline", "gradient_signal"]

Floats = NDArray[np.float64]
LARGEST_SPREAD = 1e100


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
        If the parts do not fit together, or no group is mixed and only mixed ones count.

    Notes
    -----
    The score of answer y is e_y - pi; so with q = sum of pi^2 the scores of y and z have the product [y = z] - pi_y -
    pi_z + q, and every sum over answers is one over reward levels.

    Examples
    --------
    >>> found = gradient_signal([1, 0], [0.5, 0.5], 2, Advantage())
    >>> round(found.norm, 6), found.variance, found.per_group
    (0.353553, 0.125, 1.0)
    """
    spread = float(np.ptp(real(rewards, "rewards"))) if np.size(rewards) else 0.0
    if spread > LARGEST_SPREAD:
        raise InputError(f"rewards that span {spread:g} leave float64 when squared: divide them by a constant first")
    found = moments(rewards, probabilities, group_size, advantage, mixed_only=mixed_only)
    pi = distribution(probabilities, "probabilities")
    squares = np.bincount(found.level_of, weights=pi**2, minlength=len(found.levels))
    q, m = float(squares.sum()), found.masses
    own = float(found.square @ (m * (1 + q) - 2 * squares))
    cross = np.diag(squares) - np.outer(squares, m) - np.outer(m, squares) + q * np.outer(m, m)
    second = own / group_size + (group_size - 1) / group_size * float((found.product * cross).sum())
    push, truth = found.mean - m @ found.mean, found.levels - m @ found.levels
    norm2, truth2 = float(squares @ push**2), float(squares @ truth**2)
    variance = max(0.0, second - norm2)
    ratio = norm2 / variance if variance > 0 else (np.inf if norm2 > 0 else 0.0)
    dead = dead_share(rewards, probabilities, group_size)
    generated = ratio * _mixed_share(found, group_size) if mixed_only else ratio
    aligned = norm2 > 0 and truth2 > 0
    return GradientSignal(
        norm=float(np.sqrt(norm2)),
        variance=variance,
        per_group=float(ratio),
        per_kept_rollout=float(ratio) / group_size,
        per_generated_rollout=float(generated) / group_size,
        dead_share=dead,
        expected_advantage=found.expected_size,
        cosine=float(squares @ (push * truth) / np.sqrt(norm2 * truth2)) if aligned else None,
        scale=float(np.sqrt(norm2 / truth2)) if aligned else None,
    )


def _mixed_share(found: Moments, group_size: int) -> float:
    return kept_share(found.masses, found.levels, group_size, "mixed")


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
    The mean does not depend on b, so the second moment decides: b = E[r |s|^2] / E[|s|^2], s the score.

    Examples
    --------
    >>> round(best_constant_baseline([1, 0], [0.9, 0.1]), 12)  # the rarer answer has the longer score
    0.1
    """
    values, pi = real(rewards, "rewards"), distribution(probabilities, "probabilities")
    if values.ndim != 1 or values.shape != pi.shape:
        raise InputError(f"rewards of shape {values.shape} for probabilities {pi.shape}: give (N,) each")
    weight = pi * ((1 - pi) ** 2 + (pi**2).sum() - pi**2)
    if weight.sum() == 0:
        raise InputError("one answer has all of the probability: no baseline is better than another")
    return float(weight @ values / weight.sum())
