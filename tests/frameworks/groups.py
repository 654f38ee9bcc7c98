"""The groups of rewards on which frameworks are asked for advantages; the same wherever this file is run."""

from __future__ import annotations

import numpy as np

SIZES = (2, 3, 4, 8, 16)


def mixed_groups(count: int, seed: int = 0) -> list[list[float]]:
    """Groups whose rewards are not all equal: binary, of two decimals, Gaussian."""
    rng = np.random.default_rng(seed)
    found = []
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


CONSTANT = [[value] * size for value in (0.1, 0.3, 0.7, 1.0) for size in (3, 5, 6, 7, 8, 12, 16)]
"""Degenerate groups, many of which have a standard deviation that is not zero in floating point."""
