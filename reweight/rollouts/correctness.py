"""Which rewards mean "correct": a stated rule, or a refusal, never a guess."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from reweight.errors import InputError

__all__ = ["Rule", "checked_reward", "correctness_rule"]


@dataclass(frozen=True)
class Rule:
    """A decision on rewards with the sentence that states it."""

    is_correct: Callable[[float], bool]
    sentence: str


def checked_reward(value: Any, where: str) -> float | bool | None:
    """A reward as it may be used: bool, finite float, or None for a missing one (null or NaN)."""
    if value is None or isinstance(value, bool):
        return value
    if not isinstance(value, int | float):
        raise InputError(f"{where}: the reward {value!r} is not a number; write a number, true, false or null")
    if math.isnan(value):
        return None
    if math.isinf(value):
        raise InputError(f"{where}: the reward is infinite; write a finite number, or null where it is missing")
    return float(value)


def correctness_rule(rewards: Iterable[float | bool], threshold: float | None, source: str) -> Rule:
    """Decide what is correct from all rewards of a file.

    Booleans say it themselves; a threshold of the user comes next; then exactly two values, of which the larger is
    correct. One value only does not tell whether all are right or all are wrong.

    Raises
    ------
    InputError
        If none of these holds, or a threshold is given for booleans.

    Examples
    --------
    >>> rule = correctness_rule([-1.0, 1.0, -1.0], None, "a.jsonl")
    >>> rule.is_correct(1.0), rule.sentence
    (True, 'two reward values, -1 and 1: the larger means correct')
    """
    rewards = list(rewards)
    booleans = sum(isinstance(value, bool) for value in rewards)
    if booleans and booleans < len(rewards):
        raise InputError(f"{source}: some rewards are numbers and some are true or false; write them all in one way")
    if booleans:
        if threshold is not None:
            raise InputError(f"{source}: the rewards are true or false, so --threshold says nothing; leave it out")
        return Rule(bool, "correct is what the file says: true")
    if threshold is not None:
        return Rule(lambda value: value >= threshold, f"correct means a reward of at least {threshold:g} (--threshold)")
    values = sorted(set(rewards))
    if len(values) == 2:
        larger = values[1]
        return Rule(
            lambda value: value == larger, f"two reward values, {values[0]:g} and {larger:g}: the larger means correct"
        )
    if len(values) == 1:
        found = f"all rewards are {values[0]:g}"
    elif values:
        found = f"there are {len(values)} different rewards between {values[0]:g} and {values[-1]:g}"
    else:
        raise InputError(f"{source}: no sample has a reward; give a file with at least one")
    raise InputError(f"{source}: {found}, so it is not clear which mean correct; say so with --threshold")
