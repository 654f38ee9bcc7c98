"""What a group can see of an answer: its observed reward, and its length where lengths matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.groups.expectation import type_masses
from reweight.objectives.objective import Objective
from reweight.problems.problem import Problem

__all__ = ["Outcomes", "observe"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The types that the answers of one prompt can show.

    Attributes
    ----------
    types : ndarray of int, shape (N, V)
        Type of answer y when its v-th verdict falls; V = 1 without a verifier that errs.
    chances : ndarray, shape (N, V)
        Probability of the v-th verdict.
    rewards : ndarray, shape (L,) or (L, K)
        Observed reward of each type; K channels where they are normalised apart.
    lengths : ndarray, shape (L,)
        Length of each type in tokens; ones where lengths do not matter.
    """

    types: NDArray[np.intp]
    chances: Floats
    rewards: Floats
    lengths: Floats

    def masses(self, probabilities: Floats) -> Floats:
        """Return the probability of each type, shape (L,), from those of the answers, shape (N,)."""
        spread = (probabilities[:, None] * self.chances).reshape(1, -1)
        masses: Floats = type_masses(spread, self.types.ravel(), len(self.rewards))[0]
        return masses

    def average(self, values: Floats) -> Floats:
        """Return the mean over verdicts of what each type gets, shape (N, S), from values of shape (L, S)."""
        if self.types.shape[1] == 1:
            return np.asarray(values[self.types[:, 0]])
        return np.asarray(np.einsum("nv,nvs->ns", self.chances, values[self.types]))

    def shown(self, draws: NDArray[np.intp], verdicts: NDArray[np.intp] | None) -> NDArray[np.intp]:
        """Return the types of drawn answers, given which verdict fell for each."""
        if verdicts is None:
            if self.types.shape[1] > 1:
                raise InputError("the verifier errs: say with verdicts which of its levels was observed for each draw")
            verdicts = np.zeros_like(draws)
        return np.asarray(self.types[draws, verdicts])


def observe(problem: Problem, lengths: Floats, objective: Objective, penalty: Floats) -> Outcomes:
    """Return the types of a prompt's answers under an objective.

    `lengths`, shape (N,), are in tokens; `penalty`, shape (N,), is what a KL term in the reward subtracts.

    Raises
    ------
    InputError
        If the objective's reward rule does not fit the problem's channels, or needs counts that are absent.
    """
    rewards, chances = _rewards(problem, objective)
    rule = objective.reward
    added = -penalty
    if rule.bonus:
        if problem.counts is None:
            raise InputError("the reward has a bonus for process events: give the problem's counts")
        added = added + rule.bonus * problem.counts
    if rule.length_penalty is not None:
        added = added - rule.length_penalty(lengths)
    if added.any():
        if rewards.shape[2] > 1:
            raise InputError("a KL term in the reward needs one reward: use order 'sum_then_normalise'")
        rewards = rewards + added[:, None, None]
    seen = lengths if lengths_matter(objective) else np.ones_like(lengths)
    columns = np.concatenate([rewards, np.broadcast_to(seen[:, None, None], (*rewards.shape[:2], 1))], axis=2)
    rows, index = _distinct_rows(columns.reshape(-1, columns.shape[2]))
    values = rows[:, :-1] if objective.reward.order == "normalise_then_sum" else rows[:, 0]
    return Outcomes(index.reshape(chances.shape), chances, values, rows[:, -1])


def _distinct_rows(table: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the distinct rows in increasing order and the index of each row, much faster than by sorting rows."""
    code = np.zeros(len(table), dtype=np.intp)
    for column in table.T:
        values, position = np.unique(column, return_inverse=True)
        if len(values) > 1:
            code = np.unique(code * len(values) + position, return_inverse=True)[1]
    return table[np.unique(code, return_index=True)[1]], code


def lengths_matter(objective: Objective) -> bool:
    """Whether lengths of the other members enter what a member gets."""
    return (
        objective.aggregation in ("token_mean", "prompt_token_mean")
        or objective.advantage.baseline == "length_weighted"
        or objective.advantage.second == "token_whiten"
    )


def _rewards(problem: Problem, objective: Objective) -> tuple[Floats, Floats]:
    """Return observed rewards, shape (N, V, K), and the chances of the verdicts, shape (N, V)."""
    rule, size = objective.reward, len(problem)
    if problem.verifier is not None:
        rewards = np.broadcast_to(problem.verifier.levels[None, :, None], (*problem.verifier.probabilities.shape, 1))
        chances = problem.verifier.probabilities
    else:
        table = problem.float_rewards
        rewards = table.reshape(size, 1, -1)
        chances = np.ones((size, 1))
    channels = rewards.shape[2]
    weights = np.ones(channels) if rule.channel_weights is None else np.array(rule.channel_weights, dtype=np.float64)
    if len(weights) != channels:
        raise InputError(f"{len(weights)} channel weights for {channels} reward channels: give one weight a channel")
    if rule.order == "sum_then_normalise" and (channels > 1 or rule.channel_weights is not None):
        rewards = (rewards * weights).sum(axis=2, keepdims=True)
    return rewards, chances
