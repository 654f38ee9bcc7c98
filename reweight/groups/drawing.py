"""Groups drawn at random, as a trainer draws them: verdicts of the verifier and rounds of the filter included."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.groups.filtering import kept
from reweight.groups.prompt import Prompt

__all__ = ["draw_groups"]

Indices = NDArray[np.intp]
MOST_ROUNDS = 100_000


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
