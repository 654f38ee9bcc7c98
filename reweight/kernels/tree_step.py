"""One exact policy-gradient step of every softmax of a full prefix tree with right and wrong leaves.

The sum over leaves below an edge of pi(y) w(y) is its mass times the gap times (pass rate below - pass rate); so the
logit of the edge moves by step * gap * mass * (pass rate below the edge - pass rate below its node) (R08).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from reweight.checks import Floats
from reweight.errors import InputError

__all__ = ["tree_step", "tree_step_twin"]


def tree_step(logits: Sequence[Floats], correct: Floats, step: float, gap: Callable[[float], float]) -> float:
    """Move all logits one step, in place, and return the pass rate before it; compiled.

    Parameters
    ----------
    logits : sequence of ndarray, d-th of shape (V, V^(d-1))
        Logits of the edges into depth d = 1..D: entry [c, i] is that of child c of node i, and the child is node
        c V^(d-1) + i of depth d.
    correct : ndarray, shape (V^D,)
        1.0 for right leaves, 0.0 for wrong ones.
    step : float
        Step size eta.
    gap : callable
        w(correct) - w(wrong) at a pass rate.

    Raises
    ------
    InputError
        If the shapes do not make a full tree.

    Examples
    --------
    >>> logits = [np.zeros((2, 1)), np.zeros((2, 2))]
    >>> tree_step(logits, np.array([1.0, 0.0, 0.0, 0.0]), 1.0, lambda p: 1.0)
    0.25
    >>> logits[0][:, 0]
    array([ 0.125, -0.125])
    """
    from reweight.kernels.compiled.tree_step import softmax_down, update_up

    _check(logits, correct)
    pis, masses = [np.empty_like(z) for z in logits], [np.empty_like(z) for z in logits]
    above, scratch = np.ones(1), np.empty((2, logits[-1].shape[1]))
    for z, pi, mass in zip(logits, pis, masses, strict=True):
        softmax_down(z, above, pi, mass, *scratch)
        above = mass.ravel()
    pass_rate = float(above @ correct)
    rate, value = step * gap(pass_rate), correct
    for z, pi, mass in zip(reversed(logits), reversed(pis), reversed(masses), strict=True):
        below, value = value.reshape(z.shape), np.empty(z.shape[1])
        update_up(z, pi, mass, below, value, rate)
    return pass_rate


def tree_step_twin(
    logits: Sequence[Floats], correct: Floats, step: float, gap: Callable[[float], float]
) -> tuple[list[Floats], float]:
    """Return new logits and the pass rate before the step, in numpy."""
    _check(logits, correct)
    shifted = [np.exp(z - z.max(axis=0)) for z in logits]
    pis = [e / e.sum(axis=0) for e in shifted]
    masses = [np.ones(1)]
    for pi in pis:
        masses.append((pi * masses[-1]).ravel())
    values = [correct]
    for pi in reversed(pis):
        values.append((pi * values[-1].reshape(pi.shape)).sum(axis=0))
    values.reverse()
    pass_rate = float(values[0][0])
    rate = step * gap(pass_rate)
    moved = [
        z + rate * mass.reshape(z.shape) * (below.reshape(z.shape) - above)
        for z, mass, below, above in zip(logits, masses[1:], values[1:], values[:-1], strict=True)
    ]
    return moved, pass_rate


def _check(logits: Sequence[Floats], correct: Floats) -> None:
    nodes = 1
    for z in logits:
        if z.ndim != 2 or z.shape[1] != nodes:
            raise InputError(f"logits of shape {z.shape} below {nodes} nodes: give (children, {nodes})")
        nodes = z.size
    if correct.shape != (nodes,):
        raise InputError(f"correct has shape {correct.shape} for {nodes} leaves: give one a leaf")
