"""The contract of an update: from one policy to the next."""

from __future__ import annotations

import math
from typing import Protocol, TypeVar

import numpy as np

from reweight.errors import InputError
from reweight.objectives.objective import Objective
from reweight.policies.policy import Policy
from reweight.problems.problem import Problem, ProblemSet

__all__ = ["AnyPolicy", "Update", "check_count", "check_step", "prompts_of"]

AnyPolicy = TypeVar("AnyPolicy", bound=Policy)


class Update(Protocol):
    """One step of learning."""

    @property
    def needs_rng(self) -> bool:
        """Whether the step draws samples."""

    def apply(
        self,
        problem: Problem | ProblemSet,
        policy: AnyPolicy,
        objective: Objective,
        *,
        reference: Policy | None = None,
        rng: np.random.Generator | None = None,
    ) -> AnyPolicy:
        """Return the policy after one step from `policy`."""


def prompts_of(problem: Problem | ProblemSet) -> list[tuple[Problem, float]]:
    """Return the prompts with their weights; a single Problem weighs one."""
    if isinstance(problem, ProblemSet):
        return list(zip(problem.problems, problem.weights.tolist(), strict=True))
    return [(problem, 1.0)]


def check_step(step: float) -> None:
    """Raise InputError unless a step size is finite and not negative."""
    if not (math.isfinite(step) and step >= 0):
        raise InputError(f"the step size is {step}: give a finite number that is not negative")


def check_count(value: int, name: str) -> None:
    """Raise InputError unless a count is a positive integer."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{name} is {value!r}: give a positive integer")
