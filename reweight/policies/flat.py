"""A table: one softmax over the answers of each prompt, nothing shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import distribution
from reweight.errors import InputError
from reweight.policies.policy import LogProbs
from reweight.problems.problem import Problem

__all__ = ["FlatPolicy"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FlatPolicy:
    """One row of logits a prompt; an answer is one token.

    Parameters
    ----------
    parameters : ndarray, shape (sum of sizes,)
        The logits of all rows, one after the other. A logit of -inf is a probability of exactly zero, which no update
        moves.
    sizes : tuple of int
        Number of answers of each row; a Problem uses the row of its position `prompt`.

    Examples
    --------
    >>> policy = FlatPolicy.from_probabilities([0.5, 0.3, 0.2])
    >>> policy.log_probs(Problem([1, 0, 0])).probabilities.round(12)
    array([0.5, 0.3, 0.2])
    """

    parameters: Floats
    sizes: tuple[int, ...]

    @classmethod
    def from_probabilities(cls, probabilities: ArrayLike | Sequence[ArrayLike]) -> FlatPolicy:
        """Make the policy with the given probabilities: one row, or a sequence of rows for several prompts.

        Raises
        ------
        InputError
            If a row is empty, has a negative or NaN entry, or its sum differs from 1 by more than 1e-9.
        """
        items = list(cast(Sequence[ArrayLike], probabilities))
        rows: list[Any] = items if items and all(np.ndim(item) for item in items) else [items]
        tables = [distribution(row, "probabilities") for row in rows]
        with np.errstate(divide="ignore"):
            return cls(np.log(np.concatenate(tables)), tuple(len(table) for table in tables))

    def replace(self, parameters: Floats) -> FlatPolicy:
        """Return the policy with other logits, shape (sum of sizes,)."""
        values = np.asarray(parameters, dtype=np.float64)
        if values.shape != self.parameters.shape:
            raise InputError(f"parameters have shape {values.shape}, this policy {self.parameters.shape}")
        return FlatPolicy(values, self.sizes)

    def log_probs(self, problem: Problem, answers: NDArray[np.intp] | None = None) -> LogProbs:
        """Return log pi of the given answers (all for None), shape (N, 1), in nats."""
        logits = self.parameters[self._row(problem)]
        values = _log_softmax(logits)
        chosen = values if answers is None else values[answers]
        return LogProbs(chosen[:, None], np.ones((len(chosen), 1), dtype=bool))

    def pull_back(self, problem: Problem, coefficients: Floats, answers: NDArray[np.intp] | None = None) -> Floats:
        """Return sum over y of c_y grad log pi(y) = c - pi sum(c) in the prompt's row, zero elsewhere."""
        row = self._row(problem)
        by_answer = np.asarray(coefficients, dtype=np.float64)
        by_answer = by_answer[:, 0] if by_answer.ndim == 2 else by_answer
        gradient = np.zeros_like(self.parameters)
        if answers is None:
            gradient[row] = by_answer
        else:
            np.add.at(gradient[row], answers, by_answer)
        gradient[row] -= self.log_probs(problem).probabilities * by_answer.sum()
        return gradient

    def tilt(self, problem: Problem, exponents: Floats) -> FlatPolicy:
        """Return the policy pi exp(exponents) / Z in the prompt's row; exponents are by answer, shape (N,)."""
        parameters = self.parameters.copy()
        parameters[self._row(problem)] += exponents
        return self.replace(parameters)

    def _row(self, problem: Problem) -> slice:
        if problem.prompt >= len(self.sizes):
            raise InputError(
                f"the policy has {len(self.sizes)} rows, the problem is prompt {problem.prompt}: give a row a prompt"
            )
        if self.sizes[problem.prompt] != len(problem):
            raise InputError(
                f"the policy has {self.sizes[problem.prompt]} probabilities for prompt {problem.prompt}, "
                f"the problem {len(problem)} answers: give one probability an answer"
            )
        start = sum(self.sizes[: problem.prompt])
        return slice(start, start + len(problem))


def _log_softmax(logits: Floats) -> Floats:
    """Return log-probabilities; the largest keeps its digits where it is close to one."""
    largest = int(np.argmax(logits))
    relative = logits - logits[largest]
    weights = np.exp(relative)
    weights[largest] = 0.0
    return np.asarray(relative - np.log1p(weights.sum()))
