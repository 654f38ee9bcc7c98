"""Groups drawn at random, as a trainer draws them: verdicts of the verifier and rounds of the filter included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.groups.filtering import kept
from reweight.groups.prompt import Prompt
from reweight.objectives.objective import Objective
from reweight.policies.policy import Policy
from reweight.problems.problem import Problem, ProblemSet

__all__ = ["Drawn", "draw_batch", "draw_groups"]

Indices = NDArray[np.intp]
MOST_ROUNDS = 100_000
MOST_DRAWS = 10_000_000


@dataclass(frozen=True, eq=False)
class Drawn:
    """The groups of one update.

    Attributes
    ----------
    draws : mapping of int to ndarray of int, shape (groups, G)
        Answer indices by the prompt's position (0 for a single Problem).
    verdicts : mapping of int to ndarray of int, shape (groups, G)
        Which level of the problem's verifier was observed; only for prompts whose verifier errs.
    """

    draws: Mapping[int, Indices]
    verdicts: Mapping[int, Indices]


def draw_batch(
    problem: Problem | ProblemSet,
    policy: Policy,
    objective: Objective,
    groups: int,
    rng: np.random.Generator,
    *,
    reference: Policy | None = None,
) -> Drawn:
    """Draw groups of every prompt, one prompt after the other.

    Raises
    ------
    InputError
        If a prompt would have more than 1e7 draws; others are those of :func:`draw_groups`.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> from reweight.policies.flat import FlatPolicy
    >>> start = FlatPolicy.from_probabilities([0.5, 0.5])
    >>> drawn = draw_batch(Problem([1, 0]), start, Objective(Advantage(), 4), 3, np.random.default_rng(0))
    >>> drawn.draws[0].shape, drawn.verdicts
    ((3, 4), {})
    """
    if groups * objective.group_size > MOST_DRAWS:
        raise InputError(f"{groups} groups of {objective.group_size} are above {MOST_DRAWS:.0e} draws a step")
    draws, verdicts = {}, {}
    for prompt in Prompt.of(problem, policy, objective, None, reference):
        position = prompt.problem.prompt
        draws[position], shown = draw_groups(prompt, groups, rng)
        if shown is not None:
            verdicts[position] = shown
    return Drawn(draws, verdicts)


def draw_groups(prompt: Prompt, groups: int, rng: np.random.Generator) -> tuple[Indices, Indices | None]:
    """Draw groups of a prompt, shape (groups, G), and the verdicts on them, None where the verifier never errs.

    Groups that the filter does not keep are drawn again; those that its rounds could not fill come back as they are.

    Raises
    ------
    InputError
        If rounds are pooled, or 1e5 rounds fill no group and nothing limits the rounds.
    """
    rule = prompt.objective.filter
    if rule is None:
        return _draw(prompt, groups, rng)
    if rule.rounds == "pool":
        raise InputError("pooled rounds give groups of unequal sizes, which are not drawn: use the expected gradient")
    draws, verdicts = _draw(prompt, groups, rng)
    for _ in range((rule.max_rounds or MOST_ROUNDS) - 1):
        types = prompt.outcomes.shown(draws, verdicts)
        rejected = ~kept(prompt.outcomes.rewards[types], float(prompt.outcomes.rewards.max()), rule.keep)
        if not rejected.any():
            break
        fresh, verdict = _draw(prompt, int(rejected.sum()), rng)
        draws[rejected] = fresh
        if verdicts is not None and verdict is not None:
            verdicts[rejected] = verdict
    else:
        if rule.max_rounds is None:
            raise InputError(f"no group was kept in {MOST_ROUNDS} rounds: give the filter max_rounds")
    return draws, verdicts


def _draw(prompt: Prompt, groups: int, rng: np.random.Generator) -> tuple[Indices, Indices | None]:
    shape = (groups, prompt.objective.group_size)
    draws = rng.choice(len(prompt.drawn), size=shape, p=prompt.drawn / prompt.drawn.sum())
    chances = prompt.outcomes.chances
    if chances.shape[1] == 1:
        return draws, None
    below = np.cumsum(chances, axis=1)[draws]
    return draws, np.minimum((rng.random(shape)[..., None] >= below).sum(-1), chances.shape[1] - 1)
