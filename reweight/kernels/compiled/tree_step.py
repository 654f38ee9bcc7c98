"""Passes over one depth of a full prefix tree whose edges are kept child-major: (children, nodes above)."""

from __future__ import annotations

from typing import Any

from numba import njit

from reweight.kernels.compiled.arithmetic import exp_of_minus

__all__ = ["softmax_down", "update_up"]


@njit(cache=True, error_model="numpy")
def softmax_down(z: Any, mass_above: Any, pi: Any, mass: Any, most: Any, total: Any) -> None:
    """Fill conditional and absolute probabilities of the edges below each node; the last two arrays are scratch."""
    children, nodes = z.shape
    most[:nodes] = z[0]
    total[:nodes] = 0.0
    for c in range(1, children):
        row = z[c]
        for i in range(nodes):
            most[i] = max(most[i], row[i])
    for c in range(children):
        row, out = z[c], pi[c]
        for i in range(nodes):
            value = exp_of_minus(most[i] - row[i])
            out[i] = value
            total[i] += value
    for i in range(nodes):
        total[i] = 1.0 / total[i]
    for c in range(children):
        out, product = pi[c], mass[c]
        for i in range(nodes):
            out[i] *= total[i]
            product[i] = out[i] * mass_above[i]


@njit(cache=True, error_model="numpy")
def update_up(z: Any, pi: Any, mass: Any, value: Any, value_above: Any, rate: float) -> None:
    """Add rate * mass * (value of the child - value of its node) to each logit, from the leaves up."""
    children, nodes = z.shape
    value_above[:] = 0.0
    for c in range(children):
        share, below = pi[c], value[c]
        for i in range(nodes):
            value_above[i] += share[i] * below[i]
    for c in range(children):
        row, weight, below = z[c], mass[c], value[c]
        for i in range(nodes):
            row[i] += rate * weight[i] * (below[i] - value_above[i])
