"""The expected weights of one objective as a table: what `reweight weights` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from reweight.checks import choice, unit
from reweight.errors import InputError
from reweight.groups.advantages import regularised
from reweight.groups.binary import binary_weights, gap
from reweight.groups.coefficients import conditional_coefficients
from reweight.groups.exact_advantages import as_fraction
from reweight.groups.weights import group_weights, weigh
from reweight.objectives.advantage import Advantage
from reweight.objectives.objective import Objective
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem

__all__ = ["AnswerWeight", "BinaryWeight", "answer_table", "binary_table", "earned", "looks_at_rewards_alone"]

Precision = Literal["float64", "rational", "ball"]


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
    value : str or None
        The gap as a sum of square roots or a ball, where one was asked for.
    """

    pass_rate: float
    correct: float | None
    wrong: float | None
    gap: float | None
    signal: float | None
    dead_share: float
    infinite: float | None
    value: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class AnswerWeight:
    """The push on one answer.

    Attributes
    ----------
    answer : int
    reward : float
        What the answer earns, after channels, bonus and penalty, before any transform.
    probability : float
    length : float or None
        In tokens, where lengths were given.
    weight : float
        Expected advantage given that the answer was sampled, times its aggregation weight.
    coefficient : float
        Probability times weight: what multiplies grad log pi.
    value : str or None
        The weight as an exact number or a ball, where one was asked for.
    """

    answer: int
    reward: float
    probability: float
    length: float | None
    weight: float
    coefficient: float
    value: str | None = None

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
    precision: Precision = "float64",
    radius: float | None = None,
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
    precision : {"float64", "rational", "ball"}
        Also give the gap as a sum of square roots, or as a ball.
    radius : float, optional
        For "ball", relative to the gap.

    Raises
    ------
    InputError
        If a probability is outside [0, 1] or the group is too small.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> row = binary_table(Objective(Advantage(), 2), [Fraction(1, 4)], precision="rational")[0]
    >>> row.correct, row.wrong, row.value, row.dead_share
    (0.75, -0.25, '1', 0.625)
    """
    choice(precision, "precision", get_args(Precision))
    return [_binary_row(objective, rate, tpr, fpr, mixed_only, precision, radius) for rate in pass_rates]


def _binary_row(
    objective: Objective,
    rate: Fraction,
    tpr: Fraction,
    fpr: Fraction,
    mixed_only: bool,
    precision: Precision,
    radius: float | None,
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
    noise: dict[str, Any] = {"tpr": tpr, "fpr": fpr, "mixed_only": mixed_only}
    value = None
    if precision != "float64" and not (mixed_only and 0 in (accepted, refused)):
        if precision == "ball":
            noise |= {"precision": "ball", "radius": radius}
        value = str(gap(rate, size, advantage, **noise))
    return BinaryWeight(
        pass_rate=p,
        correct=_finite(correct),
        wrong=_finite(wrong),
        gap=_finite(difference),
        signal=_finite(p * q * difference),
        dead_share=accepted**size + refused**size,
        infinite=_infinite_gap(p * q, advantage) if limited else None,
        value=value,
    )


def _infinite_gap(variance: float, advantage: Advantage) -> float:
    """Return the gap in infinite groups, where the divisor is the prompt's own standard deviation with its eps."""
    return float(1 / regularised(np.sqrt(variance), advantage))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def answer_table(
    objective: Objective,
    problem: Problem,
    probabilities: Sequence[Fraction],
    *,
    precision: Precision = "float64",
    radius: float | None = None,
) -> tuple[list[AnswerWeight], str]:
    """Compute the expected push on each answer of one prompt, and the method that was used.

    Parameters
    ----------
    objective : Objective
        The policy is its own old policy, and the reference of a KL penalty, which is zero then and left out.
    problem : Problem
    probabilities : sequence of Fraction, length N
    precision : {"float64", "rational", "ball"}
        Also give the weights as sums of square roots, or as balls.
    radius : float, optional
        For "ball", relative to E|A|.

    Raises
    ------
    InputError
        If the lengths differ, the probabilities are not a distribution, or the precision is asked of an objective that
        looks at more than rewards.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> half = Fraction(1, 2)
    >>> rows, method = answer_table(Objective(Advantage(), 2), Problem([1, 0]), [half, half])
    >>> [round(row.weight, 12) for row in rows], method
    ([0.5, -0.5], 'pairs')
    """
    choice(precision, "precision", get_args(Precision))
    if len(problem) != len(probabilities):
        raise InputError(f"{len(problem)} rewards for {len(probabilities)} probabilities: give one of each an answer")
    masses = np.array([float(mass) for mass in probabilities])
    rewards = earned(problem, objective)
    plain = looks_at_rewards_alone(problem, objective)
    texts: list[str | None] = [None] * len(masses)
    if plain:
        found = weigh(np.array([float(r) for r in rewards]), masses, objective.group_size, objective.advantage)
        weights, method = found.weights, found.method
    else:
        policy = FlatPolicy.from_probabilities(masses)
        (weights,) = conditional_coefficients(problem, policy, replace(objective, kl=None))
        method = "composition"
    if precision != "float64":
        if not plain:
            raise InputError(f"precision {precision!r} is for objectives that look at the rewards of one prompt alone")
        exact = group_weights(
            np.array(rewards, dtype=object),
            np.array(probabilities, dtype=object),
            objective.group_size,
            objective.advantage,
            precision=precision,
            radius=radius,
        )
        texts = [str(value) for value in exact]
    lengths: list[float | None] = [None] * len(masses) if problem.lengths is None else list(problem.lengths.tolist())
    rows = zip(rewards, masses.tolist(), lengths, weights.tolist(), texts, strict=True)
    return [
        AnswerWeight(index, float(reward), mass, length, weight, mass * weight, text)
        for index, (reward, mass, length, weight, text) in enumerate(rows)
    ], method


def earned(problem: Problem, objective: Objective) -> list[Fraction]:
    """Return what each answer earns, exactly: channels added, bonus and length penalty in."""
    rule = objective.reward
    table = problem.rewards.reshape(len(problem), -1)
    weights = [as_fraction(weight) for weight in rule.channel_weights or (1,) * table.shape[1]]
    if len(weights) != table.shape[1]:
        raise InputError(f"{len(weights)} channel weights for {table.shape[1]} reward channels: give one weight each")
    total = [sum((as_fraction(r) * w for r, w in zip(row, weights, strict=True)), Fraction(0)) for row in table]
    if rule.bonus and problem.counts is not None:
        bonus = Fraction(repr(float(rule.bonus)))
        total = [value + bonus * as_fraction(count) for value, count in zip(total, problem.counts, strict=True)]
    if rule.length_penalty is not None and problem.lengths is not None:
        lost = rule.length_penalty(problem.lengths)
        total = [value - as_fraction(each) for value, each in zip(total, lost, strict=True)]
    return total


def looks_at_rewards_alone(problem: Problem, objective: Objective) -> bool:
    """Whether the push on a prompt is that of its rewards: no lengths, verdicts, filters or transforms."""
    advantage = objective.advantage
    return (
        problem.lengths is None
        and problem.verifier is None
        and objective.filter is None
        and objective.reward.transform is None
        and objective.reward.order == "sum_then_normalise"
        and not advantage.couples_prompts
        and advantage.baseline != "length_weighted"
        and objective.aggregation != "constant"
    )
