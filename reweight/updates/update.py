"""The contract of an update: from one policy to the next."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np

from reweight.objectives.objective import Objective
from reweight.policies.policy import Policy
from reweight.problems.problem import Problem, ProblemSet

__all__ = ["LARGEST_STEP", "AnyPolicy", "Update", "prompts_of"]

AnyPolicy = TypeVar("AnyPolicy", bound=Policy)
LARGEST_STEP = 1e12
"""Step sizes above this are refused: logits would leave float64 after a few updates."""


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
