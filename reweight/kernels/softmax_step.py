"""Exact policy gradient of a softmax over very many answers, at the speed of scaling an array in place.

A step is theta_y += eta pi(y) w(level of y). Kept as u = exp(theta - constant), it is u *= exp(g u) with g = eta w / Z
the same for all answers of a reward level: one read, one write, and no special function where g u is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweight.checks import Floats
from reweight.errors import InputError
from reweight.kernels.bernstein import PARALLEL_FROM

__all__ = ["LevelSoftmax", "softmax_step_twin"]

BLOCK = 8192
LARGEST = 1e250


class LevelSoftmax:
    """A softmax whose answers are sorted by reward level, changed in place.

    Parameters
    ----------
    weights : sequence of ndarray
        Positive unnormalised probabilities of the answers of each level; copied.

    Raises
    ------
    InputError
        If a weight is not positive and finite.

    Examples
    --------
    >>> policy = LevelSoftmax([np.array([0.25, 0.25]), np.array([0.5])])
    >>> policy.policy_gradient([1.0, -1.0], 0.1)
    >>> policy.masses.round(6)
    array([0.518741, 0.481259])
    """

    def __init__(self, weights: Sequence[Floats]) -> None:
        self.levels = [np.array(row, dtype=np.float64) for row in weights]
        if not all(row.size and np.isfinite(row).all() and (row > 0).all() for row in self.levels):
            raise InputError("the weights of a level are not positive and finite: give at least one answer a level")
        starts = [np.arange(0, row.size, BLOCK) for row in self.levels]
        self._sums = [np.add.reduceat(row, start) for row, start in zip(self.levels, starts, strict=True)]
        self._maxima = [np.maximum.reduceat(row, start) for row, start in zip(self.levels, starts, strict=True)]
        self._scales = np.ones(len(self.levels))

    @property
    def masses(self) -> NDArray[np.float64]:
        """Probability of each level, shape (K,)."""
        totals = np.array([fsum(row) for row in self._sums]) * self._scales
        return np.asarray(totals / totals.sum())

    def probabilities(self) -> list[Floats]:
        """Return the probabilities of the answers of each level."""
        total = fsum(fsum(row) * scale for row, scale in zip(self._sums, self._scales, strict=True))
        return [row * (scale / total) for row, scale in zip(self.levels, self._scales.tolist(), strict=True)]

    def tilt(self, level_weights: Sequence[float], step: float) -> None:
        """Multiply each level by exp(step * weight): no pass over the answers, one number a level."""
        exponent = step * np.asarray(level_weights, dtype=np.float64)
        self._scales = self._scales * np.exp(exponent - exponent.max())
        self._scales /= self._scales.max()

    def policy_gradient(self, level_weights: Sequence[float], step: float) -> None:
        """Move the logit of each answer by step times its probability times the weight of its level, in place."""
        from reweight.kernels.compiled import softmax_step as compiled

        self._fold()
        total = fsum(fsum(row) for row in self._sums)
        for row, weight, sums, maxima in zip(self.levels, level_weights, self._sums, self._maxima, strict=True):
            loop: Any = compiled.parallel if row.size >= PARALLEL_FROM else compiled.serial
            loop(row, step * float(weight) / total, sums, maxima)
        self._scales[:] = 1.0

    def _fold(self) -> None:
        """Put the scales of earlier tilts into the weights, and keep these far from overflow."""
        largest = max(float(maxima.max()) * scale for maxima, scale in zip(self._maxima, self._scales, strict=True))
        shrink = 1.0 / largest if largest > LARGEST or largest < 1 / LARGEST else 1.0
        for index, scale in enumerate(self._scales.tolist()):
            if scale * shrink != 1.0:
                for array in (self.levels[index], self._sums[index], self._maxima[index]):
                    np.multiply(array, scale * shrink, out=array)


def softmax_step_twin(log_probs: Floats, weights: Floats, step: float) -> Floats:
    """Return log-probabilities, shape (N,), after one step with the given weight of each answer, in numpy."""
    from scipy.special import log_softmax

    return np.asarray(log_softmax(log_probs + step * np.exp(log_probs) * weights))
