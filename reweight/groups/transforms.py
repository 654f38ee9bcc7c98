"""Rewards of a group replaced by what they are worth to the group: shares in max@k, or ranks."""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from reweight.objectives.reward import RewardRule

__all__ = ["transformed"]

Floats = NDArray[np.float64]


def transformed(rewards: Floats, rule: RewardRule) -> Floats:
    """Return the transformed rewards of groups (..., G); equal rewards of a group stay exactly equal.

    Source: N13. "pass_at_k" is G times the share s_i of PKPO, so that the mean over the group of s_i grad log pi is an
    unbiased estimate of the gradient of max@k; "leave_one_out_pass_at_k" subtracts from it k times the estimate of the
    other members, a baseline that does not depend on the sample.

    Examples
    --------
    >>> transformed(np.array([1.0, 0.0, 0.0]), RewardRule("pass_at_k", k=2))
    array([2., 1., 1.])
    >>> transformed(np.array([1.0, 0.0, 0.0]), RewardRule("leave_one_out_pass_at_k", k=2))
    array([ 2., -1., -1.])
    >>> transformed(np.array([3.0, 1.0, 3.0]), RewardRule("rank"))
    array([0.75, 0.  , 0.75])
    """
    if rule.transform is None:
        return rewards
    if rule.transform == "rank":
        below = (rewards[..., None, :] < rewards[..., :, None]).sum(-1)
        tied = (rewards[..., None, :] == rewards[..., :, None]).sum(-1) - 1
        return np.asarray((below + tied / 2) / (rewards.shape[-1] - 1))
    assert rule.k is not None
    order = np.argsort(rewards, axis=-1, kind="stable")
    ascending = np.take_along_axis(rewards, order, -1)
    low = ascending[..., :1]  # a common offset moves max@k by itself: measure from the least reward
    values = (ascending - low) @ _shares(rewards.shape[-1], rule.k, rule.transform == "leave_one_out_pass_at_k").T
    if rule.transform == "pass_at_k":
        values = values + rule.k * low
    last_tie = (ascending[..., None, :] <= ascending[..., :, None]).sum(-1) - 1
    result = np.empty_like(values)
    np.put_along_axis(result, order, np.take_along_axis(values, last_tie, -1), -1)
    return result


def _shares(size: int, k: int, leave_one_out: bool) -> Floats:
    """Return the matrix that takes ascending rewards to their transformed values.

    Of the C(G, k) subsets of k members, C(j, k - 1) have member j (from 0) as their last; C(j - 1, k - 2) of these hold
    a given earlier member. Without member i, the others are G - 1, and those after i move down by one.
    """
    matrix = np.zeros((size, size))
    for i in range(size):
        for j in range(i, size):
            held = comb(j, k - 1) if j == i else comb(j - 1, k - 2) if k > 1 else 0
            matrix[i, j] = size * held / comb(size, k)
        if leave_one_out:
            for j in range(size):
                if j != i:
                    matrix[i, j] -= k * comb(j - (j > i), k - 1) / comb(size - 1, k)
    return matrix
