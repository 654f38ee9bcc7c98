"""Which rewards mean "correct": a stated rule, or a refusal, never a guess."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from reweight.errors import InputError
from reweight.terminal import quoted

__all__ = ["Rule", "checked_reward", "correctness_rule"]

EXACT_FLOATS = 2**53
"""Up to this every whole number is a float of its own."""


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
        raise InputError(f"{where}: the reward {quoted(value)} is not a number; write a number, true, false or null")
    if isinstance(value, int):
        if abs(value) > EXACT_FLOATS:
            raise InputError(f"{where}: the reward {quoted(value)} has more digits than a float holds; write fewer")
    elif math.isnan(value):
        return None
    elif math.isinf(value):
        raise InputError(f"{where}: the reward is infinite; write a finite number, or null where it is missing")
    return float(value)


def correctness_rule(rewards: Iterable[float | bool], threshold: float | None, source: str) -> Rule:
    """Decide what is correct from all rewards of a file.

    Booleans say it themselves; a threshold of the user comes next; then exactly two values, of which the larger is
    correct. One value only does not tell whether all are right or all are wrong.

    Raises
    ------
    InputError
        If none of these holds, or the threshold is not finite or is given for booleans.

    Examples
    --------
    >>> rule = correctness_rule([-1.0, 1.0, -1.0], None, "a.jsonl")
    >>> rule.is_correct(1.0), rule.sentence
    (True, 'two reward values, -1 and 1: the larger means correct')
    """
    rewards = list(rewards)
    if threshold is not None and not math.isfinite(threshold):
        raise InputError(f"the threshold {threshold} is not a finite number; give for example 0.5")
    if not rewards:
        raise InputError(f"{source}: no sample has a reward; give a file with at least one")
    booleans = sum(isinstance(value, bool) for value in rewards)
    if booleans and booleans < len(rewards):
        raise InputError(f"{source}: some rewards are numbers and some are true or false; write them all in one way")
    if booleans:
        if threshold is not None:
            raise InputError(f"{source}: the rewards are true or false, so --threshold says nothing; leave it out")
        return Rule(bool, "correct is what the file says: true")
    if threshold is not None:
        sentence = f"correct means a reward of at least {_short(threshold)} (--threshold)"
        return Rule(lambda value: value >= threshold, sentence)
    values = sorted(set(rewards))
    if len(values) == 2:
        smaller, larger = values
        sentence = f"two reward values, {_short(smaller)} and {_short(larger)}: the larger means correct"
        return Rule(lambda value: value == larger, sentence)
    if len(values) == 1:
        found = f"all rewards are {_short(values[0])}"
    else:
        found = f"there are {len(values)} different rewards between {_short(values[0])} and {_short(values[-1])}"
    raise InputError(f"{source}: {found}, so it is not clear which mean correct; say so with --threshold")


def _short(number: float) -> str:
    """All digits of a number, so that two different ones never read alike."""
    return repr(float(number)).removesuffix(".0")
