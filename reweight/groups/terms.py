"""What each member of given groups contributes: advantage times aggregation weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reweight.groups.advantages import float_advantages, second_stage
from reweight.groups.transforms import transformed
from reweight.objectives.objective import Objective

__all__ = ["aggregation_weights", "batch_advantages", "group_advantages"]

Floats = NDArray[np.float64]


def group_advantages(rewards: Floats, lengths: Floats, objective: Objective, members: Sequence[int]) -> Floats:
    """Return the advantages of the given members of groups, before any second normalisation.

    `rewards` has shape (..., B, G) or (..., B, G, K) with K channels that are normalised apart, `lengths` (..., B, G);
    the B groups are one batch if a statistic of the batch enters. The result has shape (..., B, members).
    """
    rule, advantage = objective.reward, replace(objective.advantage, second=None)
    if rewards.ndim == lengths.ndim:
        return float_advantages(transformed(rewards, rule), advantage, lengths, members=members)
    weights = (
        np.ones(rewards.shape[-1]) if rule.channel_weights is None else np.array(rule.channel_weights, dtype=float)
    )
    channels = [float_advantages(rewards[..., k], advantage, lengths, members=members) for k in range(len(weights))]
    return np.asarray(sum(float(weight) * channel for weight, channel in zip(weights, channels, strict=True)))


def batch_advantages(rewards: Floats, lengths: Floats, objective: Objective) -> Floats:
    """Return the advantages of whole batches, the second normalisation included; shapes as in `group_advantages`."""
    first = group_advantages(rewards, lengths, objective, range(lengths.shape[-1]))
    return second_stage(first, np.zeros(first.shape, dtype=bool), objective.advantage, lengths)


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
