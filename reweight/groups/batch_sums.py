"""Prompts that share a batch: the rest of the batch enters through the exact law of its sums.

What one group must know of the others depends on the option that couples them: how often each type occurs in the batch
(batch mean and std), the batch's tokens (token mean), or the sums of the others' advantages and of their squares
(second normalisation). The law of these over all other groups is built by convolution; equal states are merged, whole
numbers being compared as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.groups.advantages import regularised
from reweight.groups.expectation import compositions, multinomial_probabilities
from reweight.groups.filtering import filter_cost, kept
from reweight.groups.group_sums import GroupSums, answered, counted, split
from reweight.groups.outcomes import Outcomes
from reweight.groups.prompt import Prompt
from reweight.groups.terms import aggregation_weights, batch_advantages, group_advantages
from reweight.objectives.objective import Objective

__all__ = ["batch_sums", "sampled_batch_sums"]

Floats = NDArray[np.float64]
MOST_STATES, MOST_CELLS, BLOCK_CELLS = 2_000_000, 200_000_000, 4_000_000


@dataclass(frozen=True, eq=False)
class Law:
    """A distribution over vectors: states (M, S) and their masses (M,)."""

    states: Floats
    masses: Floats

    def merged(self) -> Law:
        """Return the same law with equal states added up."""
        rows = np.ascontiguousarray(self.states + 0.0)  # no negative zeros
        keys = rows.view([("", np.float64)] * rows.shape[1]).ravel()
        _, first, position = np.unique(keys, return_index=True, return_inverse=True)
        masses: Floats = np.bincount(position.ravel(), weights=self.masses).astype(np.float64)
        return Law(rows[first], masses)

    def plus(self, other: Law) -> Law:
        """Return the law of the sum of two independent vectors."""
        cells = len(self.masses) * len(other.masses)
        if cells > MOST_STATES * 10:
            raise InputError(
                f"the law of the batch's sums has more than {MOST_STATES * 10:.0e} cells: "
                "use fewer prompts, smaller groups, or fewer reward levels and lengths"
            )
        states = self.states[:, None, :] + other.states[None, :, :]
        masses = self.masses[:, None] * other.masses[None, :]
        return Law(states.reshape(cells, -1), masses.ravel()).merged()


def batch_sums(prompts: Sequence[Prompt], weights: Floats) -> list[GroupSums]:
    """Compute the three numbers of `group_sums` for every prompt of a batch.

    `weights`, shape (P,), are the shares of the prompts.

    Raises
    ------
    InputError
        If the batch rule does not fit the weights, an option has no law of this kind, or the law grows too large.
    """
    objective = prompts[0].objective
    _check(prompts, weights)
    groups = [_Groups(prompt, prompts) for prompt in prompts]
    laws = [group.law() for group in groups]
    assert objective.batch is not None
    if objective.batch.rule == "drawn":
        assert objective.batch.prompts is not None
        mixture = Law(
            np.concatenate([law.states for law in laws]),
            np.concatenate([weight * law.masses for weight, law in zip(weights, laws, strict=True)]),
        ).merged()
        rest = _power(mixture, objective.batch.prompts - 1)
        return [group.sums(rest, objective.batch.prompts) for group in groups]
    return [group.sums(rest, len(prompts)) for group, rest in zip(groups, _all_but_one(laws), strict=True)]


def _check(prompts: Sequence[Prompt], weights: Floats) -> None:
    objective = prompts[0].objective
    advantage, rule = objective.advantage, objective.filter
    batch_statistic = advantage.baseline == "batch_mean" or advantage.scale == "batch_std"
    if objective.batch is not None and objective.batch.rule == "every_prompt" and np.ptp(weights) > 1e-12:
        raise InputError("a batch of every prompt gives each the same share: leave the weights out")
    if rule is not None and rule.max_rounds is not None:
        raise InputError("a batch whose prompts may drop out is not computed: leave max_rounds out")
    if batch_statistic and advantage.second is not None:
        raise InputError("a batch baseline or scale and a second normalisation are not computed together: choose one")
    if batch_statistic and (objective.reward.transform or objective.reward.order == "normalise_then_sum"):
        raise InputError("a batch baseline or scale takes no transform and no channels that are normalised apart")


def _all_but_one(laws: list[Law]) -> list[Law]:
    """Return for each prompt the law of the sum over all other prompts."""
    nothing = Law(np.zeros((1, laws[0].states.shape[1])), np.ones(1))
    before, after = [nothing], [nothing]
    for law in laws[:-1]:
        before.append(before[-1].plus(law))
    for law in laws[:0:-1]:
        after.append(after[-1].plus(law))
    return [left.plus(right) for left, right in zip(before, after[::-1], strict=True)]


def _power(law: Law, count: int) -> Law:
    result = Law(np.zeros((1, law.states.shape[1])), np.ones(1))
    for _ in range(count):
        result = result.plus(law)
    return result


class _Groups:
    """The groups of one prompt, and what the rest of a batch sees of them."""

    def __init__(self, prompt: Prompt, prompts: Sequence[Prompt]) -> None:
        self.prompt, self.objective, self.outcomes = prompt, prompt.objective, prompt.outcomes
        self.masses = self.outcomes.masses(prompt.drawn)
        advantage = self.objective.advantage
        raw = (advantage.baseline, advantage.scale) == ("none", "none") and self.objective.reward.transform is None
        self.by_type = advantage.baseline == "batch_mean" or advantage.scale == "batch_std"
        self.by_type = self.by_type or (advantage.second is not None and raw and self.outcomes.rewards.ndim == 1)
        self.rows = _all_types([each.outcomes for each in prompts]) if self.by_type else None

    def _members(self, counts: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the types of the members of groups given by counts (M, L), shape (M, size)."""
        position = np.tile(np.arange(counts.shape[1]), len(counts))
        return np.repeat(position, counts.ravel()).reshape(len(counts), -1)

    def law(self) -> Law:
        """Return the law of what one whole group of this prompt tells the others."""
        counts = compositions(self.objective.group_size, len(self.masses))
        masses = multinomial_probabilities(counts, self.masses)
        members = self._members(counts)
        if self.objective.filter is not None:
            keep = kept(self.outcomes.rewards[members], float(self.outcomes.rewards.max()), self.objective.filter.keep)
            share = float(masses[keep].sum())
            if share == 0:
                raise InputError("a prompt of the batch has no group that the filter keeps: leave the prompt out")
            members, masses = members[keep], masses[keep] / share
        return Law(self._states(members), masses).merged()

    def _states(self, members: NDArray[np.intp]) -> Floats:
        rewards, lengths = self.outcomes.rewards[members], self.outcomes.lengths[members]
        if self.rows is not None:
            place = _positions(self.outcomes, self.rows)[members]
            return np.stack([(place == row).sum(axis=1) for row in range(len(self.rows))], axis=1).astype(np.float64)
        columns = [lengths.sum(axis=1)] if self.objective.aggregation == "token_mean" else []
        if self.objective.advantage.second is not None:
            values = group_advantages(rewards, lengths, self.objective, range(members.shape[1]))
            weights = lengths if self.objective.advantage.second == "token_whiten" else np.ones_like(lengths)
            columns += [weights.sum(axis=1), (weights * values).sum(axis=1), (weights * values**2).sum(axis=1)]
        return np.stack(columns, axis=1)

    def sums(self, rest: Law, batch: int) -> GroupSums:
        """Return the three numbers of this prompt beside the rest of its batch."""
        objective, size = self.objective, self.objective.group_size
        shifts, position = np.unique(self.prompt.shifts, return_inverse=True)
        counts = compositions(size - 1, len(self.masses))
        chances = multinomial_probabilities(counts, self.masses)
        others = self._members(counts) if size > 1 else np.zeros((1, 0), dtype=np.intp)
        cells = len(counts) * len(rest.masses) * (batch * size if self.rows is not None else 1)
        if cells * len(self.masses) > MOST_CELLS * 10:
            raise InputError(
                f"groups and the rest of their batch have {cells * len(self.masses):.0e} cells together: "
                "use fewer prompts, smaller groups, or fewer reward levels and lengths"
            )
        by_type = np.zeros((len(self.masses), 2 * len(shifts) + 1))
        block = max(1, BLOCK_CELLS // (max(1, cells // len(counts)) * (2 * len(shifts) + 1)))
        for level in range(len(self.masses)):
            for start in range(0, len(counts), block):
                part = others[start : start + block]
                members = np.concatenate([np.full((len(part), 1), level, dtype=np.intp), part], axis=1)
                signed, weight = self._terms(members, rest, batch)
                chance = chances[start : start + block]
                if objective.filter is not None:
                    best = float(self.outcomes.rewards.max())
                    chance = chance * kept(self.outcomes.rewards[members], best, objective.filter.keep)
                by_type[level] += np.einsum("m,r,mrs->s", chance, rest.masses, split(signed, weight, shifts))
        if objective.filter is not None:
            by_type /= filter_cost(self.masses, self.outcomes.rewards, size, objective.filter).share
        return answered(
            self.outcomes, by_type, self.prompt.lengths, objective, position.reshape(self.prompt.shifts.shape)
        )

    def _terms(self, members: NDArray[np.intp], rest: Law, batch: int) -> tuple[Floats, Floats]:
        """Return advantage and aggregation weight of the first members, shape (M, R)."""
        rewards, lengths = self.outcomes.rewards[members], self.outcomes.lengths[members]
        shape = (len(members), len(rest.masses))
        if self.rows is not None:
            return self._terms_by_type(rewards, lengths, rest, batch)
        states = self._states(members)
        total = states[:, None, :] + rest.states[None, :, :]
        signed = np.broadcast_to(group_advantages(rewards, lengths, self.objective, [0]), shape)
        if self.objective.advantage.second is not None:
            signed = _standardised(signed, total[..., -3:], self.objective)
        if self.objective.aggregation == "token_mean":
            return signed, batch * self.objective.group_size / total[..., 0]
        return signed, np.broadcast_to(self._own_weight(lengths), shape)

    def _own_weight(self, lengths: Floats) -> Floats:
        """Return the aggregation weight where it is the group's or the answer's own."""
        return aggregation_weights(lengths, self.objective, [0])

    def _terms_by_type(self, rewards: Floats, lengths: Floats, rest: Law, batch: int) -> tuple[Floats, Floats]:
        """The same by writing the whole batch out: what enters is how often each type occurs in it."""
        assert self.rows is not None
        size, (m, r) = self.objective.group_size, (len(rewards), len(rest.masses))
        other = self._members(rest.states.astype(np.int64)).reshape(r, (batch - 1) * size)
        table = np.empty((2, m, r, batch * size))
        for layer, own, column in ((0, rewards, self.rows[:, 0]), (1, lengths, self.rows[:, 1])):
            table[layer, :, :, :size] = own[:, None, :]
            table[layer, :, :, size:] = column[other][None, :, :]
        shaped = table.reshape(2, m * r, batch, size)
        signed = batch_advantages(shaped[0], shaped[1], self.objective)[:, 0, 0].reshape(m, r)
        if self.objective.aggregation == "token_mean":
            return signed, batch * size / table[1].sum(axis=-1)
        return signed, np.broadcast_to(self._own_weight(lengths), (m, r))


def _standardised(values: Floats, sums: Floats, objective: Objective) -> Floats:
    """Return z-scores, given the batch's weight, sum and sum of squares of advantages in the last axis of `sums`."""
    advantage = objective.advantage
    total, first, second = sums[..., 0], sums[..., 1], sums[..., 2]
    mean = first / total
    variance = np.maximum(second - first * mean, 0.0) / np.maximum(total - advantage.ddof, np.finfo(float).tiny)
    constant = (variance == 0) | (total <= advantage.ddof)
    divisor = np.where(constant, 1.0, regularised(np.sqrt(variance), advantage))
    return np.where(constant, 0.0, (values - mean) / divisor)


def _all_types(outcomes: Sequence[Outcomes]) -> Floats:
    """Return the distinct (reward, length) of several prompts, shape (L, 2)."""
    return np.unique(np.concatenate([np.stack([each.rewards, each.lengths], axis=1) for each in outcomes]), axis=0)


def _positions(outcomes: Outcomes, rows: Floats) -> NDArray[np.intp]:
    """Return where each type of one prompt stands among all."""
    own = np.stack([outcomes.rewards, outcomes.lengths], axis=1)
    return np.array([np.flatnonzero((rows == row).all(axis=1))[0] for row in own], dtype=np.intp)


def sampled_batch_sums(
    prompts: Sequence[Prompt], draws: Sequence[NDArray[np.intp]], verdicts: Sequence[NDArray[np.intp] | None]
) -> list[GroupSums]:
    """Count the three numbers over drawn batches: row m of every prompt's draws, (M, G), is batch m.

    Raises
    ------
    InputError
        If prompts are drawn rather than all there, the draws have unequal numbers of groups, or a group is not kept.
    """
    objective = prompts[0].objective
    assert objective.batch is not None
    if objective.batch.rule == "drawn":
        raise InputError("a sampled update has one group of every prompt: use Batch('every_prompt')")
    if len({each.shape for each in draws}) > 1:
        raise InputError("prompts of one batch need equal numbers of drawn groups")
    types = [each.outcomes.shown(row, verdict) for each, row, verdict in zip(prompts, draws, verdicts, strict=True)]
    rewards = np.stack([each.outcomes.rewards[row] for each, row in zip(prompts, types, strict=True)], axis=1)
    tokens = np.stack([each.lengths[row] for each, row in zip(prompts, draws, strict=True)], axis=1)
    if objective.filter is not None and not all(
        kept(rewards[:, p], float(each.outcomes.rewards.max()), objective.filter.keep).all()
        for p, each in enumerate(prompts)
    ):
        raise InputError("a drawn group is not one that the filter keeps: draw again")
    signed = batch_advantages(rewards, tokens, objective)
    members = range(objective.group_size)
    if objective.aggregation == "token_mean":
        weight = np.broadcast_to(tokens[0].size / tokens.sum(axis=(1, 2), keepdims=True), tokens.shape)
    else:
        weight = np.stack([aggregation_weights(tokens[:, p], objective, members) for p in range(len(prompts))], axis=1)
    return [
        counted(row, signed[:, p], weight[:, p], each.shifts)
        for p, (each, row) in enumerate(zip(prompts, draws, strict=True))
    ]
