"""Prompts that share a batch: the rest of the batch enters through the exact law of its sums.

What one group must know of the others depends on the option that couples them: the batch's tokens (token mean), or the
weight, mean and spread of the batch's rewards (batch mean and std) or advantages (second normalisation). Groups tell
them in whole numbers (batch_states), whose law over all other groups is a convolution (sum_law).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.groups.advantages import Sample, float_advantages, standardised
from reweight.groups.batch_states import BatchStates, Groups, Moments, batch_states
from reweight.groups.filtering import kept
from reweight.groups.group_sums import GroupSums, answered, counted, split
from reweight.groups.prompt import Prompt
from reweight.groups.sum_law import SumLaw
from reweight.groups.terms import aggregation_weights, batch_advantages, group_advantages
from reweight.objectives.objective import Objective

__all__ = ["batch_sums", "sampled_batch_sums"]

Floats = NDArray[np.float64]
MOST_CELLS, BLOCK_CELLS = 1_000_000_000, 2_000_000


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
    assert objective.batch is not None
    batch = objective.batch.prompts or len(prompts)
    tables = [Groups.of(prompt) for prompt in prompts]
    told = batch_states(tables, objective, batch)
    laws = [SumLaw.of(states, table.chances) for states, table in zip(told.states, tables, strict=True)]
    rests = _all_but_one(laws) if objective.batch.rule == "every_prompt" else _drawn(laws, weights, batch)
    return [
        _sums(prompt, table, told, states, rest, batch)
        for prompt, table, states, rest in zip(prompts, tables, told.states, rests, strict=True)
    ]


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


def _all_but_one(laws: list[SumLaw]) -> list[SumLaw]:
    """Return for each prompt the law of the sum over all other prompts."""
    nothing = SumLaw.zero(laws[0].states.shape[1])
    before, after = [nothing], [nothing]
    for law in laws[:-1]:
        before.append(before[-1].plus(law))
    for law in laws[:0:-1]:
        after.append(after[-1].plus(law))
    return [left.plus(right) for left, right in zip(before, after[::-1], strict=True)]


def _drawn(laws: list[SumLaw], weights: Floats, batch: int) -> list[SumLaw]:
    """Return for each prompt the law of the sum over all other draws of a prompt."""
    masses = [weight * law.masses for weight, law in zip(weights, laws, strict=True)]
    one = SumLaw.of(np.concatenate([law.states for law in laws]), np.concatenate(masses))
    return [one.power(batch - 1)] * len(laws)


def _sums(
    prompt: Prompt, table: Groups, told: BatchStates, states: NDArray[np.int64], rest: SumLaw, batch: int
) -> GroupSums:
    """Return the three numbers of one prompt beside the rest of its batch."""
    shifts, position = np.unique(prompt.shifts, return_inverse=True)
    cells = int(np.count_nonzero(table.counts)) * len(rest.masses)
    if cells > MOST_CELLS:
        raise InputError(
            f"groups and the rest of their batch are {cells:.1e} pairs, above the limit of {MOST_CELLS:.0e}: "
            "use fewer prompts, smaller groups, or fewer reward levels and lengths"
        )
    terms = _Terms(prompt, told, rest, batch)
    block = max(1, BLOCK_CELLS // (len(rest.masses) * (2 * len(shifts) + 1)))
    by_type = np.zeros((len(table.masses), 2 * len(shifts) + 1))
    for level in range(len(table.masses)):
        rows, types, chances = table.beside(level)
        for start in range(0, len(rows), block):
            part = slice(start, start + block)
            values = split(*terms(types[part], states[rows[part]]), shifts)
            by_type[level] += np.einsum("m,r,mrs->s", chances[part], rest.masses, values)
    return answered(prompt.outcomes, by_type, prompt.lengths, prompt.objective, position.reshape(prompt.shifts.shape))


class _Terms:
    """Advantage and aggregation weight of the first members of groups beside the rest of the batch."""

    def __init__(self, prompt: Prompt, told: BatchStates, rest: SumLaw, batch: int) -> None:
        self.outcomes, self.objective, self.told = prompt.outcomes, prompt.objective, told
        self.members = batch * self.objective.group_size
        self.tokens = told.tokens(rest.states)
        self.rest = told.moments(rest.states) if told.told is not None else None

    def __call__(self, types: NDArray[np.intp], states: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return both, shape (M, R), for groups of types (M, G) that tell `states`, (M, C)."""
        rewards, lengths = self.outcomes.rewards[types], self.outcomes.lengths[types]
        own = self.told.tokens(states)
        if own is not None and self.tokens is not None:
            weight = self.members / (own[:, None] + self.tokens)
        else:
            weight = aggregation_weights(lengths, self.objective, [0])
        signed = self._advantages(rewards, lengths, states)
        shape = np.broadcast_shapes(signed.shape, weight.shape)
        return np.broadcast_to(signed, shape), np.broadcast_to(weight, shape)

    def _advantages(self, rewards: Floats, lengths: Floats, states: NDArray[np.int64]) -> Floats:
        if self.rest is None or self.told.told is None:
            return group_advantages(rewards, lengths, self.objective, [0])
        own, unit, origin = self.told.moments(states), self.told.told.unit, self.told.told.origin
        own = Moments(own.weight[:, None], own.mean[:, None], own.squares[:, None])
        whole = own.beside(self.rest)
        second = self.objective.advantage.second is not None
        values = group_advantages(rewards, lengths, self.objective, [0]) if second else rewards[:, :1]
        centred = ((values - origin) / unit - own.mean) + self.rest.weight / whole.weight * (own.mean - self.rest.mean)
        if second:
            return standardised(np.array(unit), centred, whole.squares, whole.weight, self.objective.advantage)
        return _beside_batch(rewards, lengths, unit, centred, whole, self.objective)


def _beside_batch(
    rewards: Floats, lengths: Floats, unit: float, centred: Floats, batch: Moments, objective: Objective
) -> Floats:
    """Return the advantages where the batch has these moments and the first member is `centred` in it, (M, R)."""
    advantage = objective.advantage
    std = np.sqrt(batch.squares / np.maximum(batch.weight - advantage.ddof, 1))
    rows, empty = (slice(None), slice(None), None, None), np.zeros(1)
    sample = Sample(np.array([unit]), empty, centred[rows], std[rows], batch.weight[rows], batch.squares[rows] == 0)
    apart = (slice(None), None, None)
    return float_advantages(rewards[apart], advantage, lengths[apart], members=[0], batch=sample)[..., 0, 0]


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
