"""One exact policy-gradient step of every softmax of a full prefix tree with right and wrong leaves.

The sum over leaves below an edge of pi(y) w(y) is its mass times the gap times (pass rate below - pass rate); so the
logit of the edge moves by step * gap * mass * (pass rate below the edge - pass rate below its node) (R08). One pass
from the leaves up finds the pass rates, one from the root down the masses and the new logits; each makes its softmaxes
anew, which costs less than to keep and read the probabilities of all edges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweight.checks import Floats, number
from reweight.errors import InputError
from reweight.kernels.bernstein import PARALLEL_FROM

__all__ = ["TreeScratch", "tree_step", "tree_step_twin"]

BLOCK = 4096
"""Edges that one thread works on at a time: their logits and exponentials stay in its caches."""
FEWEST_NODES = 512
"""The loops over the nodes of a block should be long."""


class TreeScratch:
    """Memory that :func:`tree_step` needs for trees of one shape; many steps may share it.

    Parameters
    ----------
    logits : sequence of ndarray
        As in :func:`tree_step`.

    Raises
    ------
    InputError
        If the shapes do not make a full tree.
    """

    def __init__(self, logits: Sequence[Floats]) -> None:
        from numba import get_num_threads

        _check_tree(logits)
        self.values = [np.empty(z.shape[1]) for z in logits]
        self.masses = [np.ones(1), *(np.empty(z.size) for z in logits[:-1])]
        widest = max(z.shape[0] for z in logits)
        self.block = max(FEWEST_NODES, BLOCK // widest)
        self.rows = np.empty((get_num_threads(), widest + 2, self.block))


def tree_step(
    logits: Sequence[Floats],
    correct: NDArray[Any],
    step: float,
    gap: Callable[[float], float],
    *,
    scratch: TreeScratch | None = None,
) -> float:
    """Move all logits one step, in place, and return the pass rate before it; compiled.

    Parameters
    ----------
    logits : sequence of ndarray, d-th of shape (V_d, V_1 ... V_(d-1))
        Logits of the edges into depth d = 1..D: entry [c, i] is that of child c of node i, and the child is node
        c V_1 ... V_(d-1) + i of depth d.
    correct : ndarray of bool or float, shape (V_1 ... V_D,)
        One (True) for right leaves, zero for wrong ones.
    step : float
        Step size eta.
    gap : callable
        w(correct) - w(wrong) at a pass rate; where the two weights are known, a function that returns their difference.
    scratch : TreeScratch, optional
        Memory to be used again; by default new.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If the shapes do not make a full tree, a logit is not finite, a leaf is neither right nor wrong, or the step
        times the gap is not finite.

    Notes
    -----
    The pass rate is a sum by the tree itself, so its rounding grows with the depth and not with the leaves; the number
    of threads changes no bit. Source: R08.

    Examples
    --------
    >>> logits = [np.zeros((2, 1)), np.zeros((2, 2))]
    >>> tree_step(logits, np.array([True, False, False, False]), 1.0, lambda p: 1.0)
    0.25
    >>> logits[0][:, 0]
    array([ 0.125, -0.125])
    """
    _check_leaves(logits, correct)
    scratch = scratch or TreeScratch(logits)
    if [z.shape[1] for z in logits] != [value.size for value in scratch.values]:
        raise InputError("scratch was made for a tree of another shape; make TreeScratch of these logits.")
    from reweight.kernels.compiled import tree_step as compiled

    values = [*scratch.values, correct]
    for z, value, below in zip(reversed(logits), reversed(values[:-1]), reversed(values), strict=False):
        rise: Any = compiled.rise_parallel if z.size >= PARALLEL_FROM else compiled.rise
        rise(z, below.reshape(z.shape), value, scratch.rows, scratch.block)
    pass_rate = float(values[0][0])
    if not np.isfinite(pass_rate):
        raise InputError("The logits of the tree are not all finite; give numbers.")
    rate = _rate(step, gap, pass_rate)
    nothing = np.empty((0, 0))
    for z, mass, value, below, after in zip(
        logits, scratch.masses, values, values[1:], [*scratch.masses[1:], None], strict=False
    ):
        move: Any = compiled.move_parallel if z.size >= PARALLEL_FROM else compiled.move
        kept = nothing if after is None else after.reshape(z.shape)
        move(z, below.reshape(z.shape), value, mass, kept, rate, scratch.rows, scratch.block)
    return pass_rate


def tree_step_twin(
    logits: Sequence[Floats], correct: NDArray[Any], step: float, gap: Callable[[float], float]
) -> tuple[list[Floats], float]:
    """Return new logits and the pass rate before the step, in numpy."""
    _check_leaves(logits, correct)
    shifted = [np.exp(z - z.max(axis=0)) for z in logits]
    pis = [e / e.sum(axis=0) for e in shifted]
    masses = [np.ones(1)]
    for pi in pis:
        masses.append((pi * masses[-1]).ravel())
    values = [np.asarray(correct, dtype=np.float64)]
    for pi in reversed(pis):
        values.append((pi * values[-1].reshape(pi.shape)).sum(axis=0))
    values.reverse()
    pass_rate = float(values[0][0])
    rate = _rate(step, gap, pass_rate)
    moved = [
        z + rate * mass.reshape(z.shape) * (below.reshape(z.shape) - above)
        for z, mass, below, above in zip(logits, masses[1:], values[1:], values[:-1], strict=True)
    ]
    return moved, pass_rate


def _rate(step: float, gap: Callable[[float], float], pass_rate: float) -> float:
    rate = number(step, "step") * number(gap(pass_rate), "gap")
    if not np.isfinite(rate):
        raise InputError(f"step times gap is {rate} at pass rate {pass_rate}; give a finite step and gap.")
    return rate


def _check_tree(logits: Sequence[Floats]) -> None:
    if not len(logits):
        raise InputError("logits holds no depth; give one array of shape (children, nodes above) a depth.")
    nodes = 1
    for depth, z in enumerate(logits, start=1):
        if np.ndim(z) != 2 or z.shape[1] != nodes or not z.size:
            raise InputError(f"logits of depth {depth} have shape {np.shape(z)}; give (children, {nodes}).")
        if z.dtype != np.float64 or not z.flags.c_contiguous:
            raise InputError(f"logits of depth {depth} must be a contiguous array of float64, as they change in place.")
        nodes = z.size


def _check_leaves(logits: Sequence[Floats], correct: NDArray[Any]) -> None:
    _check_tree(logits)
    leaves = logits[-1].size
    if np.shape(correct) != (leaves,):
        raise InputError(f"correct has shape {np.shape(correct)} for {leaves} leaves; give one a leaf.")
    if correct.dtype != np.bool_ and not ((correct == 0) | (correct == 1)).all():
        raise InputError("correct must hold True and False (or 1 and 0) only.")
