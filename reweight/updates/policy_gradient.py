"""PG: ascent along the exact expected gradient of the (clipped) surrogate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reweight.checks import integer, number
from reweight.groups.coefficients import expected_coefficients
from reweight.objectives.objective import Objective
from reweight.policies.policy import Policy
from reweight.problems.problem import Problem, ProblemSet
from reweight.updates.update import LARGEST_STEP, AnyPolicy, prompts_of

__all__ = ["PolicyGradient"]


@dataclass(frozen=True)
class PolicyGradient:
    """theta += step * (weighted sum over prompts of the expected gradient).

    Parameters
    ----------
    step : float
        Step size eta.
    inner_epochs : int
        Number of ascent steps on the exact expected surrogate at a frozen old policy.

    Notes
    -----
    Source: theory.md section 0 (map PG).
    """

    step: float
    inner_epochs: int = 1

    def __post_init__(self) -> None:
        number(self.step, "step", at_least=0.0, at_most=LARGEST_STEP)
        integer(self.inner_epochs, "inner_epochs", at_least=1)

    @property
    def needs_rng(self) -> bool:
        """Whether the step draws samples: no."""
        return False

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
        current = policy
        for _ in range(self.inner_epochs):
            gradient = np.zeros_like(current.parameters)
            for prompt, weight in prompts_of(problem):
                coefficients = expected_coefficients(prompt, current, objective, old=policy, reference=reference)
                gradient += weight * current.pull_back(prompt, coefficients)
            current = current.replace(current.parameters + self.step * gradient)
        return current
