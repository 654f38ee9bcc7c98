"""The seam between objective and policy: the exact expectation of everything that multiplies grad log pi.

Once the old policy is fixed, the clipped ratio and the KL term depend on the answer alone, and the group on its draws
alone (group_sums, batch_sums); so the coefficient is their product, and no other part of the program needs to know how
a group is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from reweight.checks import choice
from reweight.errors import InputError
from reweight.groups.ball_coefficients import ball_coefficients
from reweight.groups.batch_sums import batch_sums, sampled_batch_sums
from reweight.groups.group_sums import GroupSums, expected_sums, sampled_sums
from reweight.groups.prompt import Prompt
from reweight.objectives.objective import Objective
from reweight.policies.policy import Policy
from reweight.problems.problem import Problem, ProblemSet

__all__ = ["conditional_coefficients", "expected_coefficients", "sampled_coefficients"]

Floats = NDArray[np.float64]


@overload
def expected_coefficients(
    problem: Problem,
    policy: Policy,
    objective: Objective,
    *,
    old: Policy | None = None,
    reference: Policy | None = None,
    precision: Literal["float64", "ball"] = "float64",
    radius: float | None = None,
) -> NDArray[Any]: ...
@overload
def expected_coefficients(
    problem: ProblemSet,
    policy: Policy,
    objective: Objective,
    *,
    old: Policy | None = None,
    reference: Policy | None = None,
    precision: Literal["float64", "ball"] = "float64",
    radius: float | None = None,
) -> list[NDArray[Any]]: ...
@overload
def expected_coefficients(
    problem: Problem | ProblemSet,
    policy: Policy,
    objective: Objective,
    *,
    old: Policy | None = None,
    reference: Policy | None = None,
    precision: Literal["float64", "ball"] = "float64",
    radius: float | None = None,
) -> NDArray[Any] | list[NDArray[Any]]: ...
def expected_coefficients(
    problem: Problem | ProblemSet,
    policy: Policy,
    objective: Objective,
    *,
    old: Policy | None = None,
    reference: Policy | None = None,
    precision: Literal["float64", "ball"] = "float64",
    radius: float | None = None,
) -> NDArray[Any] | list[NDArray[Any]]:
    """Compute what multiplies grad log pi in the expected gradient of one group.

    Parameters
    ----------
    problem : Problem or ProblemSet
        The prompt, or the prompts, which a batch of the objective may couple.
    policy : Policy
        The policy that is differentiated.
    objective : Objective
        The description of a group's worth.
    old : Policy, optional
        The policy that drew the group and that the ratio is taken against; `policy` itself by default.
    reference : Policy, optional
        The policy of the KL penalty; needed exactly when the objective has one.
    precision : {"float64", "ball"}
        "ball" returns, for a single Problem, intervals (python-flint `arb`) that hold the true value, the policies'
        log-probabilities being exact inputs.
    radius : float, optional
        For "ball": the largest radius, relative to the expected size of advantage times aggregation weight.

    Returns
    -------
    ndarray, shape (N,) where every answer is one token, otherwise (N, T); a list with one a prompt for a ProblemSet
        ``policy.pull_back(problem, coefficients)`` is the expected ascent direction; over a ProblemSet it is the sum of
        the prompts' directions times their weights.

    Raises
    ------
    InputError
        If the parts do not fit together, or a KL penalty has no reference or an infinite value.

    Notes
    -----
    Source: R01 (on-policy, no KL: pi(y) w(y)), R16 (clip), R12 (KL), C19 (noisy verifier), C17 (filter).

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> from reweight.policies.flat import FlatPolicy
    >>> problem, policy = Problem([1, 0, 0]), FlatPolicy.from_probabilities([0.5, 0.25, 0.25])
    >>> expected_coefficients(problem, policy, Objective(Advantage(), 2))
    array([ 0.25 , -0.125, -0.125])
    """
    choice(precision, "precision", ("float64", "ball"))
    if (precision == "ball") != (radius is not None):
        raise InputError("radius goes with precision 'ball': give both or neither")
    prompts = Prompt.of(problem, policy, objective, old, reference)
    if radius is not None:
        if isinstance(problem, ProblemSet):
            raise InputError("balls are computed for one prompt at a time: give a Problem")
        return ball_coefficients(prompts[0], radius)
    given = [prompt.multiplied(sums) for prompt, sums in zip(prompts, _expected_sums(problem, prompts), strict=True)]
    result = [values * _columns(prompt.drawn, values) for prompt, values in zip(prompts, given, strict=True)]
    return result if isinstance(problem, ProblemSet) else result[0]


def conditional_coefficients(
    problem: Problem | ProblemSet,
    policy: Policy,
    objective: Objective,
    *,
    old: Policy | None = None,
    reference: Policy | None = None,
) -> list[Floats]:
    """Compute the same per draw: the expectation given that the answer was sampled, so not weighted by pi_old(y).

    Parameters, shapes and errors are those of :func:`expected_coefficients`, but it is always a list with one entry a
    prompt. On-policy and without KL this is w(y); it stays accurate for answers whose probability underflows.
    """
    prompts = Prompt.of(problem, policy, objective, old, reference)
    return [prompt.multiplied(sums) for prompt, sums in zip(prompts, _expected_sums(problem, prompts), strict=True)]


def sampled_coefficients(
    problem: Problem | ProblemSet,
    policy: Policy,
    objective: Objective,
    draws: Mapping[int, NDArray[np.intp]],
    *,
    verdicts: Mapping[int, NDArray[np.intp]] | None = None,
    old: Policy | None = None,
    reference: Policy | None = None,
) -> list[Floats]:
    """Compute what multiplies grad log pi for drawn groups instead of in expectation.

    Parameters
    ----------
    draws : mapping of int to ndarray of int, shape (M, G)
        By the prompt's position (0 for a single Problem): answer indices of M groups, whose gradients are averaged.
    verdicts : mapping of int to ndarray of int, shape (M, G), optional
        By the prompt's position: which level the verifier showed for each draw; needed where the problem has one.

    Other parameters and the errors are those of :func:`expected_coefficients`; a list with one entry a prompt.
    """
    prompts = Prompt.of(problem, policy, objective, old, reference)
    drawn, shown = [], []
    for prompt in prompts:
        position = prompt.problem.prompt
        groups = draws.get(position)
        if groups is None or groups.ndim != 2 or groups.shape[1] != objective.group_size:
            found = "none" if groups is None else str(groups.shape)
            raise InputError(f"draws of prompt {position} have shape {found}: give (groups, {objective.group_size})")
        drawn.append(groups)
        shown.append(None if verdicts is None else verdicts.get(position))
    if objective.couples_prompts:
        sums = sampled_batch_sums(prompts, drawn, shown)
    else:
        sums = [
            sampled_sums(prompt.outcomes, groups, verdict, prompt.lengths, objective, prompt.shifts)
            for prompt, groups, verdict in zip(prompts, drawn, shown, strict=True)
        ]
    return [prompt.multiplied(each) for prompt, each in zip(prompts, sums, strict=True)]


def _expected_sums(problem: Problem | ProblemSet, prompts: list[Prompt]) -> list[GroupSums]:
    if prompts[0].objective.couples_prompts:
        return batch_sums(prompts, problem.weights if isinstance(problem, ProblemSet) else np.ones(1))
    return [
        expected_sums(
            prompt.outcomes,
            prompt.drawn,
            prompt.lengths,
            prompt.objective,
            prompt.shifts,
            difference_only=prompt.on_policy,
        )
        for prompt in prompts
    ]


def _columns(drawn: Floats, values: Floats) -> Floats:
    return drawn if values.ndim == 1 else drawn[:, None]
