"""The start of a run in a world: prompts whose base pass rates the world draws."""

from __future__ import annotations

import numpy as np

from reweight.checks import integer
from reweight.emitting.worlds import WORLDS, World
from reweight.errors import InputError
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem, ProblemSet

__all__ = ["start_in", "world_named"]

MOST_PROMPTS = 100_000
ANSWERS = ("42", "41", "24", "7")
"""The first one is correct."""
WRONG_SHARES = (0.5, 0.3, 0.2)
"""Of the probability that is left, for the others."""


def world_named(name: str) -> World:
    """Return one of WORLDS.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if name not in WORLDS:
        raise InputError(f"there is no world {name!r}: choose one of {', '.join(WORLDS)}")
    return WORLDS[name]


def start_in(world: World, prompts: int, rng: np.random.Generator) -> tuple[ProblemSet, FlatPolicy]:
    """Draw prompts of a world, each with one correct and three wrong answers, and the policy with their pass rates.

    Raises
    ------
    InputError
        If the number of prompts is not between 1 and 1e5.

    Examples
    --------
    >>> problem, policy = start_in(WORLDS["two-point"], 3, np.random.default_rng(0))
    >>> [round(float(policy.log_probs(each).probabilities[0]), 12) for each in problem]
    [0.6, 0.05, 0.05]
    """
    if integer(prompts, "prompts", at_least=1) > MOST_PROMPTS:
        raise InputError(f"{prompts} prompts are above {MOST_PROMPTS}: take fewer")
    rates = world.draw(rng, prompts)
    rows = np.column_stack([rates, (1 - rates)[:, None] * np.array(WRONG_SHARES)])
    problem = Problem([1, 0, 0, 0], answers=ANSWERS)
    return ProblemSet([problem] * prompts), FlatPolicy.from_probabilities(list(rows))
