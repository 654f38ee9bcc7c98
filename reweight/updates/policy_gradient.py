"""PG: ascent along the exact expected gradient of the (clipped) surrogate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reweight.checks import integer, number
from reweight.groups.coefficients import expected_coefficients
from reweight.objectives.objective import Objective
from reweight.policies.policy import Policy
from reweight.problems.problem import Problem, ProblemSet
from reweight.updates.update import LARGEST_STEP, AnyPolicy, climbed

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
    Source: map PG of docs/theory.md.
    """

    name: ClassVar[str] = "policy_gradient"
    needs_rng: ClassVar[bool] = False
    step: float
    inner_epochs: int = 1

    def __post_init__(self) -> None:
        number(self.step, "step", at_least=0.0, at_most=LARGEST_STEP)
        integer(self.inner_epochs, "inner_epochs", at_least=1)

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
        """Return the policy after one step from `policy`; see :class:`reweight.updates.update.Update`."""
        drawn_by, current = policy if old is None else old, policy
        for _ in range(self.inner_epochs):
            found = expected_coefficients(problem, current, objective, old=drawn_by, reference=reference)
            current = climbed(current, self.step, problem, found if isinstance(found, list) else [found])
        return current
