"""What each member of given groups contributes: advantage times aggregation weight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from reweight.groups.advantages import float_advantages
from reweight.groups.transforms import transformed
from reweight.objectives.objective import Objective

__all__ = ["aggregation_weights", "group_advantages"]

Floats = NDArray[np.float64]


def group_advantages(rewards: Floats, lengths: Floats, objective: Objective, members: Sequence[int]) -> Floats:
    """Return the advantages of the given members of groups.

    `rewards` has shape (M, G) or (M, G, K) with K channels that are normalised apart, `lengths` (M, G); the result has
    shape (M, members). Options that couple prompts are not this function's.
    """
    rule, advantage = objective.reward, objective.advantage
    if rewards.ndim == 2:
        return float_advantages(transformed(rewards, rule), advantage, lengths, members=members)
    weights = np.ones(rewards.shape[2]) if rule.channel_weights is None else np.array(rule.channel_weights, dtype=float)
    channels = [float_advantages(rewards[:, :, k], advantage, lengths, members=members) for k in range(len(weights))]
    return np.asarray(sum(weight * channel for weight, channel in zip(weights, channels, strict=True)))


def aggregation_weights(lengths: Floats, objective: Objective, members: Sequence[int]) -> Floats:
    """Return the weight of each token of the given members, relative to 1/G; shape (M, members).

    `lengths` has shape (M, G). A token mean is over the group here.
    """
    shape = (len(lengths), len(members))
    if objective.aggregation in ("token_mean", "prompt_token_mean"):
        return np.broadcast_to(lengths.shape[1] / lengths.sum(axis=1, keepdims=True), shape)
    if objective.aggregation == "sequence_mean":
        return 1.0 / lengths[:, members]
    if objective.aggregation == "sequence_sum":
        return np.ones(shape)
    assert objective.constant_length is not None
    return np.full(shape, 1.0 / objective.constant_length)
