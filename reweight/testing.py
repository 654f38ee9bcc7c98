"""Hypothesis strategies for worlds of this package, for the tests of those who build on it.

Everything is small on purpose, so that plain enumeration can follow, and shrinks towards few answers, small groups and
fractions with small denominators.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from reweight.objectives import Advantage, Clip, Objective
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["advantages", "distributions", "find", "groups", "objectives", "policies", "problems", "reward_tables"]

Value = TypeVar("Value")


def distributions(size: int, *, positive: bool = True, largest: int = 12) -> SearchStrategy[list[Fraction]]:
    """Draw exact probability vectors with small integer odds."""
    from hypothesis import strategies as st

    odds = st.lists(st.integers(1 if positive else 0, largest), min_size=size, max_size=size)
    return odds.filter(any).map(lambda row: [Fraction(value, sum(row)) for value in row])


def reward_tables(size: int, *, levels: int = 3) -> SearchStrategy[list[Fraction]]:
    """Draw one reward an answer, with at most the given number of distinct values."""
    from hypothesis import strategies as st

    values = st.lists(st.fractions(-2, 2, max_denominator=6), min_size=1, max_size=levels, unique=True)
    return values.flatmap(lambda pool: st.lists(st.sampled_from(pool), min_size=size, max_size=size))


def groups(*, largest: int = 6, levels: int = 3) -> SearchStrategy[list[Fraction]]:
    """Draw the rewards of one group of at least two members."""
    from hypothesis import strategies as st

    return st.integers(2, largest).flatmap(lambda size: reward_tables(size, levels=levels))


def advantages(*, centred: bool = False) -> SearchStrategy[Advantage]:
    """Draw prompt-local advantages that need no lengths; `centred` ones sum to zero in every group."""
    from hypothesis import strategies as st

    baselines = ["mean", "leave_one_out"] if centred else ["mean", "leave_one_out", "second_best", "none"]
    scales = ["std", "none"] if centred else ["std", "leave_one_out_std", "none"]
    return st.builds(
        Advantage,
        baseline=st.sampled_from(baselines),
        scale=st.sampled_from(scales),
        ddof=st.sampled_from([0, 1]),
        eps=st.sampled_from([0.0, 1e-6, 1e-4, 0.5]),
        eps_rule=st.sampled_from(["added", "inside_root", "clamp"]),
    )


def objectives(*, largest_group: int = 6, clipped: bool = False) -> SearchStrategy[Objective]:
    """Draw objectives with a centred advantage and no KL."""
    from hypothesis import strategies as st

    clip = st.builds(Clip, st.sampled_from([0.1, 0.2]), st.sampled_from([0.2, 0.28])) if clipped else st.none()
    return st.builds(Objective, advantages(centred=True), st.integers(2, largest_group), clip=clip)


def problems(*, smallest: int = 2, largest: int = 5, binary: bool = False) -> SearchStrategy[Problem]:
    """Draw problems; binary ones have at least one correct and one wrong answer."""
    from hypothesis import strategies as st

    def table(size: int) -> SearchStrategy[Problem]:
        if not binary:
            return reward_tables(size).map(lambda rewards: Problem(np.array(rewards, dtype=object)))
        marks = st.lists(st.booleans(), min_size=size, max_size=size).filter(lambda row: 0 < sum(row) < len(row))
        return marks.map(lambda row: Problem([float(mark) for mark in row]))

    return st.integers(smallest, largest).flatmap(table)


def policies(problem: Problem) -> SearchStrategy[FlatPolicy]:
    """Draw table policies with full support for a problem."""
    return distributions(len(problem)).map(lambda row: FlatPolicy.from_probabilities([float(mass) for mass in row]))


def find(strategy: SearchStrategy[Value], predicate: Callable[[Value], Any]) -> Value | None:
    """Return the simplest value found that satisfies the predicate, or None where the search finds none.

    The search is derandomised: the same call gives the same answer. None is not a proof that there is no such value.

    Examples
    --------
    >>> find(distributions(2), lambda row: row[0] > row[1])
    [Fraction(2, 3), Fraction(1, 3)]
    """
    from hypothesis import HealthCheck, Phase, settings
    from hypothesis import find as hypothesis_find
    from hypothesis.errors import NoSuchExample

    calm = settings(
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=2000,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    try:
        return hypothesis_find(strategy, lambda value: bool(predicate(value)), settings=calm)
    except NoSuchExample:
        return None
