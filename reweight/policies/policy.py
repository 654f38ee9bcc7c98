"""The contract between a policy and everything else: four members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from reweight.problems.problem import Problem

__all__ = ["LogProbs", "Policy"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LogProbs:
    """Log-probabilities of answers, by token.

    Attributes
    ----------
    tokens : ndarray, shape (N, T)
        log pi(y_t | y_<t) in nats; whatever stands where `mask` is False is ignored.
    mask : ndarray of bool, shape (N, T)
        Which tokens an answer has.
    """

    tokens: Floats
    mask: NDArray[np.bool_]

    @property
    def total(self) -> Floats:
        """The log-probability log pi(y) of each answer, shape (N,), in nats."""
        return np.asarray(np.where(self.mask, self.tokens, 0.0).sum(axis=1))

    @property
    def probabilities(self) -> Floats:
        """The probability pi(y) of each answer, shape (N,)."""
        return np.exp(self.total)


@runtime_checkable
class Policy(Protocol):
    """A distribution over answers that depends on one vector of parameters; an immutable value.

    An answer is a sequence of tokens; for a flat policy it is one token.
    """

    @property
    def parameters(self) -> Floats:
        """All parameters as one vector."""

    def replace(self, parameters: Floats) -> Self:
        """Return the same policy with other parameters."""

    def log_probs(self, problem: Problem, answers: NDArray[np.intp] | None = None) -> LogProbs:
        """Return the log-probabilities of the given answers of `problem` (all of them for None)."""

    def pull_back(self, problem: Problem, coefficients: Floats, answers: NDArray[np.intp] | None = None) -> Floats:
        """Return the sum over answers y and tokens t of c_yt grad log pi(y_t | y_<t), shaped like `parameters`.

        `coefficients` are by answer, shape (N,), or by token, shape (N, T); nothing is assumed of their sum.
        """
