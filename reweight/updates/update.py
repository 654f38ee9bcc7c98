"""The contract of an update: from one policy to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from reweight.objectives.objective import Objective
from reweight.policies.policy import Policy
from reweight.problems.problem import Problem, ProblemSet

__all__ = ["LARGEST_STEP", "AnyPolicy", "Update", "climbed", "prompts_of"]

AnyPolicy = TypeVar("AnyPolicy", bound=Policy)
LARGEST_STEP = 1e12
"""Step sizes above this are refused: logits would leave float64 after a few updates."""


class Update(Protocol):
    """One step of learning."""

    name: ClassVar[str]
    """What configuration files, the command line and bounds call it."""
    needs_rng: ClassVar[bool]
    """Whether the step draws samples."""

    def apply(
        self,
        problem: Problem | ProblemSet,
        policy: AnyPolicy,
        objective: Objective,
        *,
        old: AnyPolicy | None = None,
        reference: Policy | None = None,
        rng: np.random.Generator | None = None,
    ) -> AnyPolicy:
        """Return the policy after one step from `policy`.

        `old` drew the groups and is `policy` itself by default; `reference` is the policy of the KL penalty; `rng` is
        needed where samples are drawn. Raises InputError where the parts do not fit together.
        """


def prompts_of(problem: Problem | ProblemSet) -> list[tuple[Problem, float]]:
    """Return the prompts with their weights; a single Problem weighs one."""
    if isinstance(problem, ProblemSet):
        return list(zip(problem.problems, problem.weights.tolist(), strict=True))
    return [(problem, 1.0)]


def climbed(
    policy: AnyPolicy,
    step: float,
    problem: Problem | ProblemSet,
    coefficients: Sequence[NDArray[np.float64]],
) -> AnyPolicy:
    """Return the policy one step up the weighted sum over prompts of their pulled-back coefficients."""
    gradient = np.zeros_like(policy.parameters)
    for (prompt, weight), values in zip(prompts_of(problem), coefficients, strict=True):
        gradient += weight * policy.pull_back(prompt, values)
    return policy.replace(policy.parameters + step * gradient)
