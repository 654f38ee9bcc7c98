"""The expected weights of the answers of one prompt as a table: `reweight weights --rewards`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from reweight.checks import choice
from reweight.errors import InputError
from reweight.groups.coefficients import conditional_coefficients
from reweight.groups.exact_advantages import as_fraction
from reweight.groups.moments import dead_share
from reweight.groups.outcomes import observe
from reweight.groups.table_facts import (
    Precision,
    as_text,
    digits,
    draws_a_kept_group,
    finite_or_none,
    only_float64,
    signal_a_sample,
)
from reweight.groups.weights import group_weights, weigh
from reweight.objectives.filter import Filter
from reweight.objectives.objective import Objective
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem

__all__ = ["AnswerTable", "AnswerWeight", "answer_table", "earned", "expected_weights", "has_plain_signal"]

Floats = NDArray[np.float64]


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


@dataclass(frozen=True)
class AnswerTable:
    """The push on every answer of a prompt, and what a run would like to know of it.

    Attributes
    ----------
    rows : tuple of AnswerWeight
    method : str
        How the weights were computed.
    error_bound : float or None
        What the method promises, relative to E|A|, where it promises something of its own.
    dead_share : float or None
        Probability that all observed rewards of a group are equal; None for groups of one.
    draws : float or None
        Expected number of generated samples for each group that is kept, where there is a filter; infinite is None.
    expected_advantage, signal_to_noise : float or None
        E|A|, and squared norm of the expected gradient over its variance for each generated sample; None where more
        than rewards matters.
    """

    rows: tuple[AnswerWeight, ...]
    method: str
    error_bound: float | None
    dead_share: float | None
    draws: float | None
    expected_advantage: float | None
    signal_to_noise: float | None

    @property
    def facts(self) -> dict[str, str | float | None]:
        """All but the rows."""
        return {name: value for name, value in asdict(self).items() if name != "rows"}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {"rows": [row.to_dict() for row in self.rows], **self.facts}


def answer_table(
    objective: Objective,
    problem: Problem,
    probabilities: Sequence[Fraction],
    *,
    precision: Precision = "float64",
    radius: float | None = None,
) -> AnswerTable:
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
        If the lengths differ, the probabilities are not a distribution, or another precision than float64 is asked of
        an objective that looks at more than the rewards of one prompt.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> half = Fraction(1, 2)
    >>> found = answer_table(Objective(Advantage(), 2), Problem([1, 0]), [half, half])
    >>> [round(row.weight, 12) for row in found.rows], found.method, found.dead_share
    ([0.5, -0.5], 'pairs', 0.5)
    """
    choice(precision, "precision", get_args(Precision))
    if len(problem) != len(probabilities):
        raise InputError(f"{len(problem)} rewards for {len(probabilities)} probabilities: give one of each an answer")
    objective = replace(objective, kl=None)
    masses = np.array([float(mass) for mass in probabilities])
    weights, method, error_bound = expected_weights(objective, problem, masses)
    rewards = earned(problem, objective)
    texts: list[str | None] = [None] * len(masses)
    if precision != "float64":
        texts = _exact_weights(objective, problem, probabilities, precision, radius)
    lengths: list[float | None] = [None] * len(masses) if problem.lengths is None else list(problem.lengths.tolist())
    columns = zip(rewards, masses.tolist(), lengths, weights.tolist(), texts, strict=True)
    rows = [AnswerWeight(i, float(r), m, length, w, m * w, text) for i, (r, m, length, w, text) in enumerate(columns)]
    size, ratio = None, None
    if has_plain_signal(objective, problem) and objective.filter in (None, Filter("mixed")):
        size, ratio = signal_a_sample(np.array([float(reward) for reward in rewards]), masses, objective)
    return AnswerTable(tuple(rows), method, error_bound, *_waste(problem, masses, objective), size, ratio)


def expected_weights(objective: Objective, problem: Problem, masses: Floats) -> tuple[Floats, str, float | None]:
    """Return the weights of the answers, the method, and what it promises; by rewards alone where that suffices.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> expected_weights(Objective(Advantage(scale="none"), 2), Problem([1, 0]), np.array([0.5, 0.5]))
    (array([ 0.25, -0.25]), 'linear', 1e-14)
    """
    objective = replace(objective, kl=None)
    factors = _own_factors(problem, objective)
    if factors is not None and objective.filter is None and _looks_at_rewards_alone(problem, objective):
        rewards = [float(reward) for reward in earned(problem, objective)]
        found = weigh(rewards, masses, objective.group_size, objective.advantage)
        return found.weights * [float(factor) for factor in factors], found.method, found.error_bound
    (weights,) = conditional_coefficients(problem, FlatPolicy.from_probabilities(masses), objective)
    return weights, "whole batch" if objective.couples_prompts else "composition", None


def has_plain_signal(objective: Objective, problem: Problem) -> bool:
    """Whether the gradient is that of advantages of rewards alone, up to a constant, but for a filter."""
    factors = _own_factors(problem, objective)
    return factors is not None and len(set(factors)) == 1 and _looks_at_rewards_alone(problem, objective)


def _exact_weights(
    objective: Objective,
    problem: Problem,
    probabilities: Sequence[Fraction],
    precision: Precision,
    radius: float | None,
) -> list[str | None]:
    """Return the weights as texts: sums of square roots, or balls."""
    from flint import ctx

    factors = _own_factors(problem, objective)
    if factors is None or objective.filter is not None or not _looks_at_rewards_alone(problem, objective):
        raise only_float64(precision)
    exact = group_weights(
        np.array(earned(problem, objective), dtype=object),
        np.array(probabilities, dtype=object),
        objective.group_size,
        objective.advantage,
        precision=precision,
        radius=radius,
    )
    if radius is None:
        return [as_text(value * factor, None) for value, factor in zip(exact, factors, strict=True)]
    with ctx.workprec(4 * digits(radius) + 64):
        pairs = zip(exact, factors, strict=True)
        return [as_text(value * factor.numerator / factor.denominator, radius) for value, factor in pairs]


def _waste(problem: Problem, masses: Floats, objective: Objective) -> tuple[float | None, float | None]:
    """Return the probability of a dead group, and the draws a kept group takes where there is a filter."""
    lengths = np.ones(len(problem)) if problem.lengths is None else problem.lengths
    seen = observe(problem, lengths, objective, np.zeros(len(problem)))
    by_type = seen.masses(masses)
    level = np.unique(seen.rewards, axis=0, return_inverse=True)[1].ravel()
    dead = dead_share(level, by_type, objective.group_size) if objective.group_size > 1 else None
    if objective.filter is None:
        return dead, None
    return dead, finite_or_none(draws_a_kept_group(by_type, seen.rewards, objective.group_size, objective.filter))


def earned(problem: Problem, objective: Objective) -> list[Fraction]:
    """Return what each answer earns, exactly: channels added, bonus and length penalty in.

    Raises
    ------
    InputError
        If the channel weights do not fit the channels, or a bonus has no counts.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> from reweight.objectives.reward import RewardRule
    >>> rule = RewardRule(bonus=0.5)
    >>> earned(Problem([1, 0], counts=[0, 1]), Objective(Advantage(), 2, reward=rule))
    [Fraction(1, 1), Fraction(1, 2)]
    """
    rule = objective.reward
    table = problem.rewards.reshape(len(problem), -1)
    weights = [as_fraction(weight) for weight in rule.channel_weights or (1,) * table.shape[1]]
    if len(weights) != table.shape[1]:
        raise InputError(f"{len(weights)} channel weights for {table.shape[1]} reward channels: give one weight each")
    total = [sum((as_fraction(r) * w for r, w in zip(row, weights, strict=True)), Fraction(0)) for row in table]
    if rule.bonus:
        if problem.counts is None:
            raise InputError("the reward has a bonus for process events: give the problem's counts")
        bonus = Fraction(repr(float(rule.bonus)))
        total = [value + bonus * as_fraction(count) for value, count in zip(total, problem.counts, strict=True)]
    if rule.length_penalty is not None and problem.lengths is not None:
        lost = rule.length_penalty(problem.lengths)
        total = [value - as_fraction(each) for value, each in zip(total, lost, strict=True)]
    return total


def _looks_at_rewards_alone(problem: Problem, objective: Objective) -> bool:
    """Whether advantages are those of what the answers of this one prompt earn."""
    advantage = objective.advantage
    return (
        problem.verifier is None
        and objective.reward.transform is None
        and objective.reward.order == "sum_then_normalise"
        and not advantage.couples_prompts
        and advantage.baseline != "length_weighted"
    )


def _own_factors(problem: Problem, objective: Objective) -> list[Fraction] | None:
    """Return what each answer's advantage is multiplied by; None where the lengths of the others matter."""
    lengths = [Fraction(1)] * len(problem) if problem.lengths is None else [as_fraction(x) for x in problem.lengths]
    if objective.aggregation in ("token_mean", "prompt_token_mean") and len(set(lengths)) > 1:
        return None
    if objective.aggregation == "sequence_sum":
        weights = [Fraction(1)] * len(problem)
    elif objective.constant_length is not None:
        weights = [1 / as_fraction(objective.constant_length)] * len(problem)
    else:
        weights = [1 / length for length in lengths]
    repeats = lengths if objective.ratio.level == "sequence_product" else [Fraction(1)] * len(problem)
    return [weight * times for weight, times in zip(weights, repeats, strict=True)]
