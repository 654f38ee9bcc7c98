"""Monte Carlo as fast as we can make it: groups of binary rewards drawn in a compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["groups_needed", "sampled_signal"]

Floats = NDArray[np.float64]
STARTS = 256


@njit(error_model="numpy")
def _mean(below: Any, start: Any, signal: Any, groups: int, rng: Any) -> float:
    """Mean of signal[K] over groups, K drawn by walking up its distribution function from a nearby start."""
    total = 0.0
    for _ in range(groups):
        draw = rng.random()
        k = start[int(draw * start.size)]
        while draw >= below[k]:
            k += 1
        total += signal[k]
    return total / groups


def sampled_signal(probabilities: Floats, signal: Floats, groups: int, seed: int = 0) -> float:
    """Estimate E[signal[K]], the number K of correct members having the given probabilities, shape (G + 1,)."""
    below = np.cumsum(probabilities)
    below[-1] = 1.0
    start = np.searchsorted(below, np.arange(STARTS) / STARTS, side="right")
    return float(_mean(below, start, signal, groups, np.random.default_rng(seed)))


def groups_needed(probabilities: Floats, signal: Floats, tolerance: float) -> int:
    """Groups for a relative standard error of `tolerance`, from the exact mean and variance."""
    mean = probabilities @ signal
    return int(np.ceil(probabilities @ (signal / mean - 1) ** 2 / tolerance**2))
