"""What the frameworks are asked about: groups of rewards, batches of answers of unequal lengths, a batch of tokens."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

SEED = 0
SIZES = (2, 3, 4, 8, 16)
CONSTANT = [(value, size) for value in (0.1, 0.3, 0.7, 1.0, -1.7) for size in (2, 3, 5, 6, 7, 8, 12, 16)]
"""Degenerate groups (reward, size), many of which have a standard deviation that is not zero in floating point."""

BANDITS = [[1.0, 0.0, 0.0], [1.0, 0.3, 0.0]]
"""Rewards of three answers."""


def mixed_groups(count: int, seed: int = SEED) -> list[list[float]]:
    """Groups whose rewards are not all equal: in turn binary, of two decimals, Gaussian at scales from 0.01 to 100."""
    rng = np.random.default_rng(seed)
    found: list[list[float]] = []
    while len(found) < count:
        size = int(rng.choice(SIZES))
        kind = len(found) % 3
        if kind == 0:
            rewards = (rng.random(size) < rng.random()).astype(float)
        elif kind == 1:
            rewards = np.round(rng.random(size), 2)
        else:
            rewards = np.round(rng.normal(size=size) * 10.0 ** rng.integers(-2, 3), 6)
        if rewards.min() < rewards.max():
            found.append(rewards.tolist())
    return found


def all_groups(rewards: list[float]) -> list[list[float]]:
    """All 27 groups of three draws from three answers, in order, by their rewards."""
    return [list(group) for group in product(rewards, repeat=3)]


def batches(count: int, seed: int = SEED) -> list[dict[str, Any]]:
    """Batches of two groups of three answers, with the lengths of the answers; the last holds a degenerate group."""
    rng = np.random.default_rng(seed)
    found: list[dict[str, Any]] = [
        {"rewards": np.round(rng.normal(size=(2, 3)), 2).tolist(), "lengths": rng.integers(1, 9, (2, 3)).tolist()}
        for _ in range(count - 1)
    ]
    return [*found, {"rewards": [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]], "lengths": [[1, 2, 3], [4, 1, 2]]}]


def token_batch(seed: int = SEED) -> dict[str, Any]:
    """Two groups of three answers by token: log-probabilities now, of the old policy and of the reference.

    Ratios reach from 1/40 to 40 and the two signs of the advantage alternate, so that every branch of a clip is taken.
    """
    rng = np.random.default_rng(seed)
    lengths = [1, 4, 2, 5, 3, 5]
    now = np.round(rng.uniform(-4.0, -1.0, (6, 5)), 3)
    drift = rng.uniform(-1.0, 1.0, (6, 5)) * [[0.1], [0.3], [0.6], [1.2], [2.4], [3.7]]
    return {
        "lengths": lengths,
        "now": now.tolist(),
        "old": np.round(now - drift, 3).tolist(),
        "reference": np.round(now + rng.uniform(-4.0, 4.0, (6, 5)), 3).tolist(),
        "advantages": [1.25, -0.75, 0.5, -1.5, 2.0, -1.0],
    }
