"""The expected weights of one objective as a table: what `reweight weights` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from reweight.checks import unit
from reweight.errors import InputError
from reweight.groups.advantages import regularised
from reweight.groups.binary import binary_weights, gap
from reweight.groups.weights import group_weights
from reweight.objectives.advantage import Advantage
from reweight.objectives.objective import Objective

__all__ = ["AnswerWeight", "BinaryWeight", "answer_table", "binary_table"]


@dataclass(frozen=True)
class BinaryWeight:
    """The push on a binary prompt.

    Attributes
    ----------
    pass_rate : float
        Probability p of a correct answer.
    correct, wrong : float or None
        w(1) and w(0), the expected advantages; None where no group is mixed and only mixed ones count.
    gap : float or None
        w(1) - w(0).
    signal : float or None
        p (1 - p) gap: the drift of the pass rate under a tilt, per unit of step size.
    dead_share : float
        Probability that a group is all correct or all wrong.
    infinite : float or None
        What the gap would be in infinite groups: 1 / (sqrt(p (1 - p)) + eps) where eps is added; for scale "std".
    exact_gap : str or None
        The gap as a sum of square roots, where exact arithmetic was asked for.
    """

    pass_rate: float
    correct: float | None
    wrong: float | None
    gap: float | None
    signal: float | None
    dead_share: float
    infinite: float | None
    exact_gap: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class AnswerWeight:
    """The push on one answer: reward, probability, w(y), pi(y) w(y), and w(y) exactly where that was asked for."""

    answer: int
    reward: float
    probability: float
    weight: float
    coefficient: float
    exact_weight: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


def binary_table(
    objective: Objective,
    pass_rates: Sequence[Fraction],
    *,
    tpr: Fraction = Fraction(1),
    fpr: Fraction = Fraction(0),
    mixed_only: bool = False,
    exact: bool = False,
) -> list[BinaryWeight]:
    """Compute the expected push on binary prompts, one row a pass rate.

    Parameters
    ----------
    objective : Objective
        Its advantage and group size are used.
    pass_rates : sequence of Fraction
        Probabilities of a correct answer.
    tpr, fpr : Fraction
        Probability that the verifier accepts a correct and a wrong answer.
    mixed_only : bool
        Condition on mixed groups.
    exact : bool
        Also give the gap as an exact number.

    Raises
    ------
    InputError
        If a probability is outside [0, 1] or the group is too small.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> row = binary_table(Objective(Advantage(), 2), [Fraction(1, 4)], exact=True)[0]
    >>> row.correct, row.wrong, row.exact_gap, row.dead_share
    (0.75, -0.25, '1', 0.625)
    """
    return [_binary_row(objective, rate, tpr, fpr, mixed_only, exact) for rate in pass_rates]


def _binary_row(
    objective: Objective, rate: Fraction, tpr: Fraction, fpr: Fraction, mixed_only: bool, exact: bool
) -> BinaryWeight:
    size, advantage = objective.group_size, objective.advantage
    unit(float(rate), "pass_rate")
    p, q = float(rate), float(1 - rate)
    correct, wrong = binary_weights(
        p, size, advantage, complement=q, tpr=float(tpr), fpr=float(fpr), mixed_only=mixed_only
    )
    difference = gap(p, size, advantage, complement=q, tpr=float(tpr), fpr=float(fpr), mixed_only=mixed_only)
    accepted, refused = (
        float(share) for share in (tpr * rate + fpr * (1 - rate), (1 - tpr) * rate + (1 - fpr) * (1 - rate))
    )
    limited = advantage.scale == "std" and 0 < p < 1 and not mixed_only and tpr == 1 and fpr == 0
    whole = exact and not (mixed_only and 0 in (accepted, refused))
    return BinaryWeight(
        pass_rate=p,
        correct=_finite(correct),
        wrong=_finite(wrong),
        gap=_finite(difference),
        signal=_finite(p * q * difference),
        dead_share=accepted**size + refused**size,
        infinite=_infinite_gap(p * q, advantage) if limited else None,
        exact_gap=str(gap(rate, size, advantage, tpr=tpr, fpr=fpr, mixed_only=mixed_only)) if whole else None,
    )


def _infinite_gap(variance: float, advantage: Advantage) -> float:
    """Return the gap in infinite groups, where the divisor is the prompt's own standard deviation with its eps."""
    return float(1 / regularised(np.sqrt(variance), advantage))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def answer_table(
    objective: Objective, rewards: Sequence[Fraction], probabilities: Sequence[Fraction], *, exact: bool = False
) -> list[AnswerWeight]:
    """Compute the expected push on each answer of one prompt.

    Parameters
    ----------
    objective : Objective
        Its advantage and group size are used.
    rewards, probabilities : sequence of Fraction, length N
        One of each an answer.
    exact : bool
        Also give the weights as exact numbers.

    Raises
    ------
    InputError
        If the lengths differ or the probabilities are not a distribution.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> half = Fraction(1, 2)
    >>> [round(row.weight, 12) for row in answer_table(Objective(Advantage(), 2), [1, 0], [half, half])]
    [0.5, -0.5]
    """
    if len(rewards) != len(probabilities):
        raise InputError(f"{len(rewards)} rewards for {len(probabilities)} probabilities: give one of each an answer")
    size, advantage = objective.group_size, objective.advantage
    values = np.array([float(reward) for reward in rewards])
    masses = np.array([float(mass) for mass in probabilities])
    weights = group_weights(values, masses, size, advantage)
    texts: list[str | None] = [None] * len(values)
    if exact:
        whole = group_weights(
            np.array(rewards, dtype=object),
            np.array(probabilities, dtype=object),
            size,
            advantage,
            precision="rational",
        )
        texts = [str(weight) for weight in whole]
    return [
        AnswerWeight(index, float(reward), float(mass), float(weight), float(mass * weight), text)
        for index, (reward, mass, weight, text) in enumerate(zip(values, masses, weights, texts, strict=True))
    ]
