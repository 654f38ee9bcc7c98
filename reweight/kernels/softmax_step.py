"""Exact updates of a softmax over very many answers that fall into few reward levels.

A policy-gradient step moves theta_y by eta pi(y) w(level of y). Kept as u = exp(theta - constant of the level), it is
u *= exp(g u) with one g for all answers of a level: one read, one write, and no special function where g u is small.
A tilt multiplies a whole level by one factor, so it changes one number a level and no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, fsum, log2

import numpy as np
from numpy.typing import ArrayLike

from reweight.checks import Floats, number, real
from reweight.errors import InputError
from reweight.kernels.bernstein import PARALLEL_FROM

__all__ = ["LevelSoftmax", "softmax_step_twin"]

BLOCK = 8192
LONGEST = 300.0
"""A logit may move by this many nats a step: exp of it, times the largest weight kept, is within float64."""
LARGEST = 1e100


class LevelSoftmax:
    """A softmax whose answers are sorted by reward level, changed in place.

    Parameters
    ----------
    weights : sequence of K arrays, k-th of shape (N_k,)
        Positive unnormalised probabilities of the answers of each level; copied.

    Attributes
    ----------
    levels : list of K arrays
        The stored weights; those of level k are proportional to the probabilities by a factor of the level's own.

    Raises
    ------
    InputError
        If a level has no answer, or a weight is not a positive finite number.

    Notes
    -----
    A step costs 16 bytes of memory traffic an answer; its result does not depend on the number of threads. An answer
    is lost once it is less than about 1e-200 as likely as the likeliest one of its level. Sources: maps PG and TILT,
    R07 and R08.

    Examples
    --------
    >>> policy = LevelSoftmax([[0.25, 0.25], [0.5]])
    >>> policy.policy_gradient([1.0, -1.0], 0.1)
    >>> policy.masses.round(6)
    array([0.518741, 0.481259])
    >>> for _ in range(1000):
    ...     policy.tilt([0.001, 0.0], 1.0)
    >>> policy.masses.round(6)
    array([0.745547, 0.254453])
    """

    def __init__(self, weights: Sequence[ArrayLike]) -> None:
        rows = [_positive(row, level) for level, row in enumerate(weights)]
        if not rows:
            raise InputError("weights holds no reward level; give one array of positive numbers a level.")
        self._answers = np.concatenate(rows)
        ends = np.cumsum([row.size for row in rows])
        self.levels: list[Floats] = np.split(self._answers, ends[:-1])
        blocks = [np.append(np.arange(end - row.size, end, BLOCK), end) for row, end in zip(rows, ends, strict=True)]
        self._starts = np.concatenate([edges[:-1] for edges in blocks])
        self._ends = np.concatenate([edges[1:] for edges in blocks])
        self._level_of_block = np.repeat(np.arange(len(rows)), [edges.size - 1 for edges in blocks])
        self._first_blocks = np.flatnonzero(np.diff(self._level_of_block, prepend=-1))
        self._maxima = np.maximum.reduceat(self._answers, self._starts)
        self._sums = np.empty_like(self._maxima)
        self._log_scales = np.zeros(len(rows))
        self._keep_in_range()
        self._sums[:] = np.add.reduceat(self._answers, self._starts)

    @property
    def masses(self) -> Floats:
        """Probability of each level, shape (K,)."""
        logs = self._log_totals()
        return np.asarray(np.exp(logs - _log_sum(logs)))

    def probabilities(self) -> list[Floats]:
        """Return the probabilities of the answers of each level, K arrays of shape (N_k,)."""
        return [row * factor for row, factor in zip(self.levels, self._factors(), strict=True)]

    def tilt(self, level_weights: ArrayLike, step: float) -> None:
        """Multiply the probabilities of each level by exp(step * weight), up to normalisation.

        Parameters
        ----------
        level_weights : array_like, shape (K,)
        step : float
            Step size eta.

        Raises
        ------
        InputError
            If the weights are not K finite numbers, or the step is not a finite number.
        """
        self._log_scales += self._logit_moves(level_weights, step)
        self._log_scales -= self._log_scales.max()

    def policy_gradient(self, level_weights: ArrayLike, step: float) -> None:
        """Move the logit of each answer by step * its probability * the weight of its level.

        Parameters
        ----------
        level_weights : array_like, shape (K,)
            Expected weights under the present policy.
        step : float
            Step size eta.

        Raises
        ------
        InputError
            If the weights are not K finite numbers, the step is not a finite number, or a logit would move by more
            than 300 nats.
        """
        from reweight.kernels.compiled import softmax_step as compiled

        rates = self._logit_moves(level_weights, step) * self._factors()
        longest = float((np.abs(rates) * self._level_maxima()).max())
        if longest > LONGEST:
            raise InputError(f"The step moves a logit by {longest:.3g} nats; make it {longest / LONGEST:.3g}x smaller.")
        loop = compiled.parallel if self._answers.size >= PARALLEL_FROM else compiled.serial
        rate_of_block = rates[self._level_of_block]
        loop(self._answers, self._starts, self._ends, rate_of_block, self._sums, self._maxima)
        self._keep_in_range()

    def _logit_moves(self, level_weights: ArrayLike, step: float) -> Floats:
        """Step * weight of each level."""
        weights = real(level_weights, "level_weights")
        if weights.shape != self._log_scales.shape:
            raise InputError(f"level_weights has shape {weights.shape} for {len(self.levels)} levels; give one each")
        with np.errstate(over="ignore", invalid="ignore"):  # told below
            moves = number(step, "step") * weights
        if not np.isfinite(moves).all():
            raise InputError("step * level_weights is not finite; give finite weights and a finite step.")
        return np.asarray(moves)

    def _log_totals(self) -> Floats:
        """Logarithm of the sum of each level, scale included; sums of blocks are added without rounding."""
        parts = np.split(self._sums, self._first_blocks[1:])
        return np.asarray(np.log([fsum(part.tolist()) for part in parts]) + self._log_scales)

    def _factors(self) -> Floats:
        """What the stored weights of each level are multiplied with to give probabilities."""
        return np.asarray(np.exp(self._log_scales - _log_sum(self._log_totals())))

    def _level_maxima(self) -> Floats:
        return np.maximum.reduceat(self._maxima, self._first_blocks)

    def _keep_in_range(self) -> None:
        """Divide levels that have become very large or small by a power of two, which rounds nothing."""
        for level, largest in enumerate(self._level_maxima().tolist()):
            if not 1 / LARGEST < largest < LARGEST:
                octaves = ceil(log2(largest))
                self._multiply(level, 2.0 ** -(octaves // 2))
                self._multiply(level, 2.0 ** -(octaves - octaves // 2))
                self._log_scales[level] += octaves * np.log(2.0)

    def _multiply(self, level: int, factor: float) -> None:
        self.levels[level] *= factor
        blocks = self._level_of_block == level
        self._sums[blocks] *= factor
        self._maxima[blocks] *= factor


def softmax_step_twin(log_probs: Floats, weights: Floats, step: float) -> Floats:
    """Return log-probabilities, shape (N,), after one step with the given weight of each answer, in numpy."""
    from scipy.special import log_softmax

    return np.asarray(log_softmax(log_probs + step * np.exp(log_probs) * weights))


def _positive(row: ArrayLike, level: int) -> Floats:
    name = f"weights of level {level}"
    numbers = real(row, name)
    if numbers.ndim != 1 or not numbers.size:
        raise InputError(f"{name} must be a list of at least one number, got shape {numbers.shape}.")
    if not (numbers.min() > 0 and numbers.max() < np.inf):
        raise InputError(f"{name} must be positive and finite, got {numbers.min():g} to {numbers.max():g}.")
    return numbers


def _log_sum(logs: Floats) -> float:
    """Logarithm of the sum of exponentials; scipy's own takes longer than a step over few answers."""
    largest = logs.max()
    return float(largest + np.log(np.exp(logs - largest).sum()))
