"""Passes over one depth of a full prefix tree whose edges are kept child-major: (children, nodes above)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

__all__ = ["softmax_down", "update_up"]


@njit(cache=True, error_model="numpy")
def softmax_down(z: Any, mass_above: Any, pi: Any, mass: Any) -> None:
    """Fill conditional and absolute probabilities of the edges below each node."""
    children, nodes = z.shape
    for i in range(nodes):
        most = z[0, i]
        for c in range(1, children):
            most = max(most, z[c, i])
        total = 0.0
        for c in range(children):
            value = np.exp(z[c, i] - most)
            pi[c, i] = value
            total += value
        for c in range(children):
            pi[c, i] /= total
            mass[c, i] = pi[c, i] * mass_above[i]


@njit(cache=True, error_model="numpy")
def update_up(z: Any, pi: Any, mass: Any, value: Any, value_above: Any, rate: float) -> None:
    """Z += rate * mass * (value of the child - value of its node), the node's value being the mean of its children's."""
    children, nodes = z.shape
    for i in range(nodes):
        mean = 0.0
        for c in range(children):
            mean += pi[c, i] * value[c, i]
        value_above[i] = mean
        for c in range(children):
            z[c, i] += rate * mass[c, i] * (value[c, i] - mean)
