"""S-PG: what a trainer does - draw groups, and climb the gradient of their loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reweight.checks import integer, number
from reweight.errors import InputError
from reweight.groups.coefficients import sampled_coefficients
from reweight.objectives.objective import Objective
from reweight.policies.policy import Policy
from reweight.problems.problem import Problem, ProblemSet
from reweight.updates.update import LARGEST_STEP, AnyPolicy, prompts_of

__all__ = ["SampledPolicyGradient"]

MOST_DRAWS = 10_000_000


@dataclass(frozen=True)
class SampledPolicyGradient:
    """theta += step * (weighted sum over prompts of the gradient of drawn groups).

    Parameters
    ----------
    step : float
        Step size eta.
    groups : int
        Number of groups drawn an update and prompt; their gradients are averaged.
    inner_epochs : int
        How often one drawn batch is used.

    Notes
    -----
    Source: theory.md section 0 (map S-PG).
    """

    step: float
    groups: int = 1
    inner_epochs: int = 1

    def __post_init__(self) -> None:
        number(self.step, "step", at_least=0.0, at_most=LARGEST_STEP)
        integer(self.groups, "groups", at_least=1)
        integer(self.inner_epochs, "inner_epochs", at_least=1)

    @property
    def needs_rng(self) -> bool:
        """Whether the step draws samples: yes."""
        return True

    def apply(
        self,
        problem: Problem | ProblemSet,
        policy: AnyPolicy,
        objective: Objective,
        *,
        reference: Policy | None = None,
        rng: np.random.Generator | None = None,
    ) -> AnyPolicy:
        """Return the policy after one step from `policy`.

        Raises
        ------
        InputError
            If there is no generator.
        """
        if rng is None:
            raise InputError("a sampled update draws groups: give rng=numpy.random.default_rng(seed)")
        shape = (self.groups, objective.group_size)
        if self.groups * objective.group_size > MOST_DRAWS:
            raise InputError(
                f"{self.groups} groups of {objective.group_size} are more than {MOST_DRAWS:.0e} draws a step"
            )
        drawn = []
        for prompt, weight in prompts_of(problem):
            probabilities = policy.log_probs(prompt).probabilities
            draws = rng.choice(len(prompt), size=shape, p=probabilities / probabilities.sum())
            drawn.append((prompt, weight, draws))
        return self.apply_to_draws(drawn, policy, objective, reference=reference)

    def apply_to_draws(
        self,
        drawn: list[tuple[Problem, float, np.ndarray[tuple[int, ...], np.dtype[np.intp]]]],
        policy: AnyPolicy,
        objective: Objective,
        *,
        reference: Policy | None = None,
    ) -> AnyPolicy:
        """Return the policy after one step on given draws: (prompt, weight, answer indices of shape (groups, G))."""
        current = policy
        for _ in range(self.inner_epochs):
            gradient = np.zeros_like(current.parameters)
            for prompt, weight, draws in drawn:
                coefficients = sampled_coefficients(prompt, current, objective, draws, old=policy, reference=reference)
                gradient += weight * current.pull_back(prompt, coefficients)
            current = current.replace(current.parameters + self.step * gradient)
        return current
