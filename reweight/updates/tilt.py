"""TILT: exponential tilting, which is natural gradient ascent and mirror descent on a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from reweight.checks import integer, number
from reweight.errors import InputError
from reweight.groups.behaviour import behaviour
from reweight.groups.coefficients import conditional_coefficients
from reweight.objectives.objective import Objective
from reweight.policies.policy import Policy
from reweight.problems.problem import Problem, ProblemSet
from reweight.updates.update import LARGEST_STEP, AnyPolicy, prompts_of

__all__ = ["Tilt"]


@runtime_checkable
class Tiltable(Protocol):
    """A policy with one free parameter an answer, so that a tilt stays inside its family."""

    def tilt(self, problem: Problem, exponents: NDArray[np.float64]) -> Self:
        """Return pi exp(exponents) / Z on one prompt; exponents are by answer, (N,), or by token, (N, T)."""


@dataclass(frozen=True)
class Tilt:
    """pi <- pi exp(step * w) / Z, with w the expected coefficient per draw; exact for table policies.

    Parameters
    ----------
    step : float
        Step size eta, in nats per unit of advantage. Every prompt of a ProblemSet is tilted by the whole step: in the
        Fisher metric of the weighted set the weights cancel.
    inner_epochs : int
        Natural-gradient steps at a frozen old policy: each tilts by step * c(y) / pi(y), where c are the expected
        coefficients of the present policy.

    Notes
    -----
    Source: map TILT of docs/theory.md, R07, N29.
    """

    name: ClassVar[str] = "tilt"
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
        """Return the policy after one step from `policy`; see :class:`reweight.updates.update.Update`.

        Raises
        ------
        InputError
            If the policy is not a table.
        """
        if not isinstance(policy, Tiltable):
            raise InputError(f"{type(policy).__name__} has no exact tilt: use PolicyGradient")
        drawn_by, current = policy if old is None else old, policy
        for _ in range(self.inner_epochs):
            found = conditional_coefficients(problem, current, objective, old=drawn_by, reference=reference)
            for (prompt, _weight), given in zip(prompts_of(problem), found, strict=True):
                drawn, now = behaviour(drawn_by.log_probs(prompt)), current.log_probs(prompt).total
                importance = np.exp(np.subtract(drawn, now, out=np.zeros_like(now), where=np.isfinite(drawn)))
                weighted = given * (importance if given.ndim == 1 else importance[:, None])
                current = current.tilt(prompt, self.step * weighted)
        return current
