"""The three numbers through which a group reaches the gradient, in expectation or for given draws.

Given that answer y was sampled, the group enters through the expected positive and negative parts of advantage times
aggregation weight, and the expected aggregation weight. A drawn batch gives the same three numbers by counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reweight.groups.expectation import (
    MOST_ENTRIES,
    composition_entries,
    multinomial_probabilities,
    tabulate_by_type,
)
from reweight.groups.filtering import filter_cost, kept, stop_probability
from reweight.groups.lattice import (
    advantages_from_sums,
    lattice_advantages,
    lattice_fits,
    lattice_levels,
    sums_suffice,
)
from reweight.groups.outcomes import Outcomes, lengths_matter
from reweight.groups.sum_law import SumLaw
from reweight.groups.terms import aggregation_weights, group_advantages
from reweight.groups.weights import weigh
from reweight.objectives.objective import Objective

__all__ = ["GroupSums", "answered", "counted", "expected_sums", "sampled_sums", "split"]

Floats = NDArray[np.float64]
KEPT_TABLES, LARGEST_LENGTH = 16, 2**31


@dataclass(frozen=True, eq=False)
class GroupSums:
    """What a group gives each answer: E[(A W)+], E[(A W)-] and E[W], with W the aggregation weight.

    The first two have shape (N, T), or (N, 1) where a token's place in the answer does not matter; the third (N, 1).
    """

    positive: Floats
    negative: Floats
    weight: Floats


def split(signed: Floats, weight: Floats, shifts: Floats) -> Floats:
    """Return, stacked in the last axis, (A - b)+ W and (A - b)- W for every shift b, and W.

    `signed` and `weight` have any one shape; that of the result has 2 K + 1 more, for K shifts.
    """
    moved = (signed[..., None] - shifts) * weight[..., None]
    return np.concatenate([np.maximum(moved, 0), np.maximum(-moved, 0), weight[..., None]], axis=-1)


def expected_sums(
    outcomes: Outcomes,
    probabilities: Floats,
    lengths: Floats,
    objective: Objective,
    shifts: Floats,
    *,
    difference_only: bool = False,
) -> GroupSums:
    """Compute the three numbers for groups drawn from `probabilities`, shape (N,).

    `lengths`, shape (N,), are in tokens; `shifts`, shape (N, T) or (N, 1), is what a KL term takes from each token's
    advantage. Where `difference_only`, the positive and the negative part are wanted for their difference alone, as
    without a clip in force; groups too large for enumeration then take the methods of `weigh`, otherwise the law of
    sums where rewards are multiples of one number.
    """
    large = _too_large(outcomes, objective)
    equal = bool((outcomes.lengths == outcomes.lengths[0]).all())
    if large and equal and difference_only and not shifts.any():
        return _by_weights(outcomes, probabilities, lengths, objective)
    distinct, position = np.unique(shifts, return_inverse=True)
    masses = outcomes.masses(probabilities)
    if large and equal and lattice_fits(outcomes.rewards, objective.group_size, objective.advantage):
        values = _by_lattice(outcomes, masses, objective, distinct)
    elif large and _whole(outcomes, objective) is not None:
        values = _by_sums(outcomes, masses, objective, distinct)
    elif objective.filter is None:
        values = _expected(outcomes, masses, objective.group_size, objective, distinct)
    else:
        values = _filtered(outcomes, masses, objective, distinct)
    return answered(outcomes, values, lengths, objective, position.reshape(shifts.shape))


def _too_large(outcomes: Outcomes, objective: Objective) -> bool:
    """Whether enumeration is out of reach, and the group plain enough for other ways."""
    plain = outcomes.rewards.ndim == 1 and objective.reward.transform is None and objective.filter is None
    entries = composition_entries(len(outcomes.rewards), objective.group_size)
    return entries > MOST_ENTRIES and plain and not objective.advantage.couples_prompts


def _by_weights(outcomes: Outcomes, probabilities: Floats, lengths: Floats, objective: Objective) -> GroupSums:
    masses = outcomes.masses(probabilities)
    values = weigh(outcomes.rewards, masses / masses.sum(), objective.group_size, objective.advantage).weights
    own = np.full((1, objective.group_size), outcomes.lengths[0])
    weight = np.full(len(masses), aggregation_weights(own, objective, [0])[0, 0])
    signed = values * weight
    by_type = np.stack([np.maximum(signed, 0), np.maximum(-signed, 0), weight], axis=1)
    return answered(outcomes, by_type, lengths, objective, np.zeros((len(lengths), 1), dtype=np.intp))


def _by_lattice(outcomes: Outcomes, masses: Floats, objective: Objective, shifts: Floats) -> Floats:
    """Return E[split | member 1 has type a] by the law of the others' sums, shape (L, S), for equal lengths."""
    mass, values = lattice_advantages(outcomes.rewards, masses, objective.group_size, objective.advantage)
    own = np.full((1, objective.group_size), outcomes.lengths[0])
    weight = np.full(len(mass), aggregation_weights(own, objective, [0])[0, 0])
    return np.stack([mass @ split(row, weight, shifts) for row in values])


def _whole(outcomes: Outcomes, objective: Objective) -> tuple[NDArray[np.int64], float, float] | None:
    """Return reward and length of each type as whole numbers, (L, 2), and their units; None where sums do not do."""
    levels, tokens = np.unique(outcomes.rewards), np.unique(np.append(outcomes.lengths, 0.0))
    rewards, lengths = lattice_levels(levels), lattice_levels(tokens, LARGEST_LENGTH)
    if rewards is None or lengths is None or not sums_suffice(objective.advantage):
        return None
    columns = (
        rewards[0][np.searchsorted(levels, outcomes.rewards)],
        lengths[0][np.searchsorted(tokens, outcomes.lengths)],
    )
    return np.stack(columns, axis=1), rewards[1], lengths[1]


def _by_sums(outcomes: Outcomes, masses: Floats, objective: Objective, shifts: Floats) -> Floats:
    """Return E[split | member 1 has type a] by the law of the others' rewards, squares and tokens, shape (L, S)."""
    found = _whole(outcomes, objective)
    assert found is not None
    whole, unit, token = found
    size, low = objective.group_size, float(outcomes.rewards.min())
    law = SumLaw.of(np.column_stack([whole[:, 0], whole[:, 0] ** 2, whole[:, 1]]), masses).power(size - 1)
    first, second, others = law.states.T
    values = []
    for reward, length in whole.tolist():
        signed = advantages_from_sums(reward, first, second, unit, low, size, objective.advantage)
        if objective.aggregation in ("token_mean", "prompt_token_mean"):
            weight = size / (token * (length + others))
        else:
            own = np.array([[token * length]])
            weight = np.broadcast_to(aggregation_weights(own, objective, [0])[0], signed.shape)
        values.append(law.masses @ split(signed, weight, shifts))
    return np.stack(values)


def answered(
    outcomes: Outcomes, by_type: Floats, lengths: Floats, objective: Objective, position: NDArray[np.intp]
) -> GroupSums:
    """Turn the columns of :func:`split` by type, shape (L, 2 K + 1), into numbers by answer and token."""
    by_answer = outcomes.average(by_type)
    if not lengths_matter(objective) and objective.aggregation == "sequence_mean":
        by_answer = by_answer / lengths[:, None]
    count = by_answer.shape[1] // 2
    rows = np.arange(len(by_answer))[:, None]
    return GroupSums(by_answer[rows, position], by_answer[rows, count + position], by_answer[:, -1:])


def _filtered(outcomes: Outcomes, masses: Floats, objective: Objective, shifts: Floats) -> Floats:
    rule, size = objective.filter, objective.group_size
    assert rule is not None
    if rule.rounds == "pool":
        assert rule.max_rounds is not None
        return np.asarray(
            sum(_expected(outcomes, masses, k * size, objective, shifts) for k in range(1, rule.max_rounds + 1))
        )
    cost = filter_cost(masses, outcomes.rewards, size, rule)
    values = _expected(outcomes, masses, size, objective, shifts)
    return values * (cost.filled / cost.share) if cost.share > 0 else np.zeros_like(values)


def _expected(outcomes: Outcomes, masses: Floats, size: int, objective: Objective, shifts: Floats) -> Floats:
    """Return E[split | member 1 has type a, the group is kept at this size] P(kept at this size | a), shape (L, S)."""
    rewards, lengths = outcomes.rewards, outcomes.lengths
    others, values = _table(
        rewards.tobytes(), rewards.shape, lengths.tobytes(), np.asarray(shifts).tobytes(), objective, size
    )
    weights = multinomial_probabilities(others, masses)
    return np.stack([weights @ by_type for by_type in values])


@lru_cache(maxsize=KEPT_TABLES)
def _table(
    reward_bytes: bytes,
    shape: tuple[int, ...],
    length_bytes: bytes,
    shift_bytes: bytes,
    objective: Objective,
    size: int,
) -> tuple[NDArray[np.int64], list[Floats]]:
    """Return what does not depend on the policy, so that a run computes it once."""
    all_rewards, all_lengths = np.frombuffer(reward_bytes).reshape(shape), np.frombuffer(length_bytes)
    shifts, best = np.frombuffer(shift_bytes), float(all_rewards.max())

    def statistic(groups: NDArray[np.int64]) -> Floats:
        rewards, lengths = all_rewards[groups], all_lengths[groups]
        terms = split(
            group_advantages(rewards, lengths, objective, [0])[:, 0],
            aggregation_weights(lengths, objective, [0])[:, 0],
            shifts,
        )
        if objective.filter is None:
            return terms
        if objective.filter.rounds == "pool":
            return terms * stop_probability(rewards, best, objective.filter, objective.group_size)[:, None]
        return terms * kept(rewards, best, objective.filter.keep)[:, None]

    return tabulate_by_type(len(all_rewards), size, statistic)


def sampled_sums(
    outcomes: Outcomes,
    draws: NDArray[np.intp],
    verdicts: NDArray[np.intp] | None,
    lengths: Floats,
    objective: Objective,
    shifts: Floats,
) -> GroupSums:
    """Count the three numbers over drawn groups, shape (M, G), whose gradients are averaged."""
    types = outcomes.shown(draws, verdicts)
    rewards, tokens = outcomes.rewards[types], lengths[draws]
    members = range(draws.shape[1])
    signed = group_advantages(rewards, tokens, objective, members)
    weight = aggregation_weights(tokens, objective, members)
    if objective.filter is not None:  # what is not kept counts for nothing
        weight = weight * kept(rewards, float(outcomes.rewards.max()), objective.filter.keep)[:, None]
    return counted(draws, signed, weight, shifts)


def counted(draws: NDArray[np.intp], signed: Floats, weight: Floats, shifts: Floats) -> GroupSums:
    """Add up what drawn members (M, G) give each answer, divided by the number of draws."""
    size, flat = len(shifts), draws.ravel()
    columns = shifts if shifts.any() else shifts[:, :1]
    moved = (signed.ravel()[:, None] - columns[flat]) * weight.ravel()[:, None]
    parts = np.concatenate([np.maximum(moved, 0), np.maximum(-moved, 0), weight.ravel()[:, None]], axis=1)
    total = np.stack([np.bincount(flat, weights=column, minlength=size) for column in parts.T], axis=1) / draws.size
    width = columns.shape[1]
    return GroupSums(total[:, :width], total[:, width : 2 * width], total[:, -1:])
