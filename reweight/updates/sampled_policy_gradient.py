"""S-PG: what a trainer does - draw groups, and climb the gradient of their loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reweight.checks import integer, number
from reweight.errors import InputError
from reweight.groups.coefficients import sampled_coefficients
from reweight.groups.drawing import Drawn, draw_batch
from reweight.objectives.objective import Objective
from reweight.policies.policy import Policy
from reweight.problems.problem import Problem, ProblemSet
from reweight.updates.update import LARGEST_STEP, AnyPolicy, climbed

__all__ = ["SampledPolicyGradient"]


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
    Source: map S-PG of docs/theory.md.
    """

    name: ClassVar[str] = "sampled_policy_gradient"
    needs_rng: ClassVar[bool] = True
    step: float
    groups: int = 1
    inner_epochs: int = 1

    def __post_init__(self) -> None:
        number(self.step, "step", at_least=0.0, at_most=LARGEST_STEP)
        integer(self.groups, "groups", at_least=1)
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
        if rng is None:
            raise InputError("a sampled update draws groups: give rng=numpy.random.default_rng(seed)")
        drawn = self.draw(problem, policy if old is None else old, objective, reference=reference, rng=rng)
        return self.apply_to_draws(
            problem, drawn.draws, policy, objective, verdicts=drawn.verdicts, old=old, reference=reference
        )

    def draw(
        self,
        problem: Problem | ProblemSet,
        policy: Policy,
        objective: Objective,
        *,
        rng: np.random.Generator,
        reference: Policy | None = None,
    ) -> Drawn:
        """Return the groups that :meth:`apply` would draw from a policy, for who wants to see them.

        Followed by :meth:`apply_to_draws` it is :meth:`apply`, with the same generator to the last bit.

        Raises
        ------
        InputError
            If there are more than 1e7 draws a prompt, or the filter keeps no group.

        Examples
        --------
        >>> from reweight.objectives import Advantage
        >>> from reweight.policies.flat import FlatPolicy
        >>> start, objective = FlatPolicy.from_probabilities([0.5, 0.5]), Objective(Advantage(), 4)
        >>> drawn = SampledPolicyGradient(0.1).draw(Problem([1, 0]), start, objective, rng=np.random.default_rng(0))
        >>> drawn.draws[0].shape
        (1, 4)
        """
        return draw_batch(problem, policy, objective, self.groups, rng, reference=reference)

    def apply_to_draws(
        self,
        problem: Problem | ProblemSet,
        draws: Mapping[int, NDArray[np.intp]],
        policy: AnyPolicy,
        objective: Objective,
        *,
        verdicts: Mapping[int, NDArray[np.intp]] | None = None,
        old: AnyPolicy | None = None,
        reference: Policy | None = None,
    ) -> AnyPolicy:
        """Return the policy after one step on given draws.

        Parameters
        ----------
        draws : mapping of int to ndarray of int, shape (groups, G)
            Answer indices by the prompt's position (0 for a single Problem).
        verdicts : mapping of int to ndarray of int, shape (groups, G), optional
            Which level of the problem's verifier was observed for each draw.

        Others are those of :meth:`apply`.
        """
        drawn_by, current = policy if old is None else old, policy
        for _ in range(self.inner_epochs):
            found = sampled_coefficients(
                problem, current, objective, draws, verdicts=verdicts, old=drawn_by, reference=reference
            )
            current = climbed(current, self.step, problem, found)
        return current
