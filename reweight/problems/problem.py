"""What can be answered, and what each answer earns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import real
from reweight.errors import InputError
from reweight.problems.verifier import Verifier

__all__ = ["Problem", "ProblemSet"]


@dataclass(frozen=True, eq=False, init=False)
class Problem:
    """One prompt with a finite answer set.

    Parameters
    ----------
    rewards : array_like, shape (N,) or (N, channels)
        Reward of each answer: floats, or Fractions for exact work.
    correct : array_like of bool, shape (N,), optional
        Which answers are correct. By default those with the larger reward, when there is one channel and it has exactly
        two reward values.
    answers : sequence of str, length N, optional
        Names of the answers, for tables and figures.
    lengths : array_like, shape (N,), optional
        Length of each answer in tokens, whole numbers; where it is absent the policy's own token count is used.
    counts : array_like, shape (N,), optional
        Process events of each answer (tool calls, steps), for the bonus of a RewardRule.
    verifier : Verifier, optional
        The distribution of the observed reward given the answer; without one, the reward is observed. `rewards` stay
        the true ones.

    Attributes
    ----------
    prompt : int
        Position of the prompt in its ProblemSet (0 outside one); a table policy finds its row by it.

    Raises
    ------
    InputError
        If there is no answer, a reward is not finite, a length is no whole number of tokens, or the arrays have
        different lengths.

    Examples
    --------
    >>> problem = Problem([1, 0, 0], answers=["42", "41", "no idea"])
    >>> problem.correct
    array([ True, False, False])
    """

    rewards: NDArray[Any]
    answers: tuple[str, ...]
    lengths: NDArray[np.float64] | None
    counts: NDArray[np.float64] | None
    verifier: Verifier | None
    prompt: int
    _correct: NDArray[np.bool_] | None

    def __init__(
        self,
        rewards: ArrayLike,
        *,
        correct: ArrayLike | None = None,
        answers: Sequence[str] | None = None,
        lengths: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        verifier: Verifier | None = None,
    ) -> None:
        table = _reward_array(rewards)
        size = len(table)
        names = tuple(str(i) for i in range(size)) if answers is None else tuple(answers)
        if len(names) != size:
            raise InputError(f"{len(names)} answers for {size} rewards: give one name a reward")
        if not all(isinstance(name, str) and name.isprintable() for name in names) or len(set(names)) < size:
            raise InputError("the answers' names are not distinct printable texts: give each answer a name of its own")
        object.__setattr__(self, "rewards", table)
        object.__setattr__(self, "answers", names)
        object.__setattr__(self, "lengths", None if lengths is None else _length_array(lengths, size))
        object.__setattr__(self, "counts", None if counts is None else _count_array(counts, size))
        object.__setattr__(self, "verifier", _checked_verifier(verifier, table))
        object.__setattr__(self, "prompt", 0)
        object.__setattr__(self, "_correct", _correct_set(table, correct))

    def __len__(self) -> int:
        return len(self.rewards)

    @property
    def float_rewards(self) -> NDArray[np.float64]:
        """The rewards in float64, shape (N,) or (N, channels)."""
        return self.rewards.astype(np.float64)

    @property
    def has_correct_set(self) -> bool:
        """Whether it is known which answers are correct."""
        return self._correct is not None

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Which answers are correct, shape (N,).

        Raises
        ------
        InputError
            If it was not given and the rewards do not have exactly two values.
        """
        if self._correct is None:
            found = (
                "several channels" if self.rewards.ndim > 1 else f"{len(set(self.rewards.tolist()))} values, not two"
            )
            raise InputError(f"the rewards have {found}: say which answers are correct with correct=...")
        return self._correct


@dataclass(frozen=True, eq=False, init=False)
class ProblemSet:
    """Several prompts with weights.

    Parameters
    ----------
    problems : sequence of Problem
        The prompts; each is given its position as `prompt`.
    weights : array_like, shape (P,), optional
        Share of each prompt in the objective; normalised to one; equal by default.

    Raises
    ------
    InputError
        If there is no problem, or the weights are negative, all zero, or not one a problem.

    Examples
    --------
    >>> prompts = ProblemSet([Problem([1, 0]), Problem([1, 0, 0])], weights=[3, 1])
    >>> [problem.prompt for problem in prompts], prompts.weights
    ([0, 1], array([0.75, 0.25]))
    """

    problems: tuple[Problem, ...]
    weights: NDArray[np.float64]

    def __init__(self, problems: Sequence[Problem], weights: ArrayLike | None = None) -> None:
        if not problems:
            raise InputError("a ProblemSet needs at least one problem")
        numbered = tuple(_with_prompt(problem, index) for index, problem in enumerate(problems))
        shares = np.ones(len(numbered)) if weights is None else np.asarray(weights, dtype=np.float64)
        if shares.shape != (len(numbered),):
            raise InputError(f"{shares.size} weights for {len(numbered)} problems: give one weight a problem")
        if not (np.isfinite(shares).all() and (shares >= 0).all() and shares.sum() > 0):
            raise InputError("the weights of a ProblemSet must be finite, not negative, and not all zero")
        object.__setattr__(self, "problems", numbered)
        object.__setattr__(self, "weights", shares / shares.sum())

    def __len__(self) -> int:
        return len(self.problems)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems)


def _with_prompt(problem: Problem, index: int) -> Problem:
    numbered = copy(problem)
    object.__setattr__(numbered, "prompt", index)
    return numbered


def _reward_array(rewards: ArrayLike) -> NDArray[Any]:
    table = np.array(rewards)
    if table.ndim not in (1, 2) or table.size == 0:
        raise InputError(f"rewards have shape {table.shape}: give one reward an answer and channel, at least one")
    if table.dtype != object:
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError("a reward is not a number: give floats or Fractions") from None
    if not np.isfinite(table.astype(np.float64)).all():
        raise InputError("a reward is not finite: give one finite reward an answer")
    table.setflags(write=False)
    return table


def _length_array(lengths: ArrayLike, size: int) -> NDArray[np.float64]:
    table = np.array(lengths, dtype=np.float64)
    if table.shape != (size,):
        raise InputError(f"{table.size} lengths for {size} rewards: give one length an answer")
    if not (np.isfinite(table).all() and (table >= 1).all() and (table == np.floor(table)).all()):
        raise InputError("a length is not a positive number of tokens: give whole numbers from 1 on")
    table.setflags(write=False)
    return table


def _count_array(counts: ArrayLike, size: int) -> NDArray[np.float64]:
    table = np.array(real(counts, "counts", at_least=0.0))
    if table.shape != (size,) or not np.isfinite(table).all():
        raise InputError(f"counts of shape {table.shape} for {size} rewards: give one finite count an answer")
    table.setflags(write=False)
    return table


def _checked_verifier(verifier: Verifier | None, rewards: NDArray[Any]) -> Verifier | None:
    if verifier is not None and (rewards.ndim > 1 or len(verifier.probabilities) != len(rewards)):
        raise InputError(
            f"a verifier of {len(verifier.probabilities)} answers for rewards of shape {rewards.shape}: "
            "it judges one channel, with one row an answer"
        )
    return verifier


def _correct_set(rewards: NDArray[Any], correct: ArrayLike | None) -> NDArray[np.bool_] | None:
    if correct is None:
        levels = np.unique(rewards)
        single = rewards.ndim == 1 and len(levels) == 2
        return np.asarray(rewards == levels[1]).astype(bool) if single else None
    marks = np.array(correct)
    if marks.shape != rewards.shape[:1] or marks.dtype != bool:
        raise InputError(f"correct has shape {marks.shape} and type {marks.dtype}: give one bool an answer")
    marks.setflags(write=False)
    return marks
