"""What the tables of expected weights say beside the weights: draws a kept group, signal a sample, exact texts."""

from __future__ import annotations

from math import ceil, log10
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.groups.expectation import composition_entries
from reweight.groups.filtering import filter_cost, kept_share
from reweight.groups.signal import LARGEST_SPREAD, gradient_signal
from reweight.objectives.filter import Filter
from reweight.objectives.objective import Objective

__all__ = [
    "Precision",
    "as_text",
    "digits",
    "draws_a_kept_group",
    "finite_or_none",
    "only_float64",
    "signal_a_sample",
    "with_wrong_answers",
]

Precision = Literal["float64", "rational", "ball"]
Floats = NDArray[np.float64]
MOST_SIGNAL_WORK = 12_000_000
"""Entries of groups that the signal may take: about a second."""

WRONG_ANSWERS = 4
"""Among how many equally likely wrong answers a binary prompt's signal is measured; with one there is hardly noise."""

LEAST_SHARE = 1e-200
"""Of kept groups: below it moments given a kept group leave float64."""

LARGEST_RATIO = 1e12
"""Above it the noise is that of rounding."""


def draws_a_kept_group(masses: Floats, rewards: Floats, size: int, rule: Filter) -> float:
    """Return the samples generated for each group that is kept; infinite where none ever is.

    `masses`, shape (L,), and `rewards`, shape (L,) or (L, K), are those of the types. Source: C17.

    Examples
    --------
    >>> round(draws_a_kept_group(np.array([0.5, 0.5]), np.array([0.0, 1.0]), 2, Filter("mixed")), 12)
    4.0
    """
    cost = filter_cost(masses, rewards, size, rule)
    return cost.expected_draws / cost.filled if cost.filled > 0 else float("inf")


def signal_a_sample(rewards: Floats, masses: Floats, objective: Objective) -> tuple[float | None, float | None]:
    """Return E|A| and the signal-to-noise ratio a generated sample; None where they take long or do not exist.

    `rewards` and `masses`, shape (N,), are those of the answers; the objective looks at nothing else, and has no filter
    but for mixed groups.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> found = signal_a_sample(np.array([1.0, 0.0]), np.array([0.5, 0.5]), Objective(Advantage(), 2))
    >>> [round(value, 12) for value in found]
    [0.5, 0.5]
    """
    levels, index = np.unique(rewards, return_inverse=True)
    size, mixed = objective.group_size, objective.filter is not None
    work = composition_entries(len(levels), size) * len(levels) * (len(levels) + 1)
    if work > MOST_SIGNAL_WORK or np.ptp(rewards) > LARGEST_SPREAD:
        return None, None
    by_level = np.bincount(index, weights=masses).astype(np.float64)
    if mixed and kept_share(by_level, levels, size, "mixed") < LEAST_SHARE:
        return None, None
    found = gradient_signal(rewards, masses, size, objective.advantage, mixed_only=mixed)
    ratio = found.per_generated_rollout
    return found.expected_advantage, ratio if ratio < LARGEST_RATIO else None


def with_wrong_answers(pass_rate: float, complement: float) -> tuple[Floats, Floats]:
    """Return rewards and probabilities of one correct and some equally likely wrong answers.

    Examples
    --------
    >>> with_wrong_answers(0.2, 0.8)
    (array([1., 0., 0., 0., 0.]), array([0.2, 0.2, 0.2, 0.2, 0.2]))
    """
    rewards = np.array([1.0, *[0.0] * WRONG_ANSWERS])
    return rewards, np.array([pass_rate, *[complement / WRONG_ANSWERS] * WRONG_ANSWERS])


def only_float64(precision: str) -> InputError:
    """Return the error of another precision than float64 where it cannot be had."""
    return InputError(
        f"precision {precision!r} is for objectives that look at all groups of one prompt and at rewards alone: "
        "leave it out"
    )


def digits(radius: float) -> int:
    """Return how many digits show a ball of this relative radius whole.

    Examples
    --------
    >>> digits(1e-20)
    22
    """
    return max(1, ceil(-log10(radius))) + 2


def as_text(value: Any, radius: float | None) -> str:
    """Return an exact number as text; a ball, which has a radius, with the digits that it was asked for.

    Raises
    ------
    InputError
        If the exact number has more digits than Python writes out.
    """
    if radius is not None:
        return str(value.str(digits(radius)))
    try:
        return str(value)
    except ValueError:
        raise InputError("the exact value has numbers of thousands of digits: ask for precision 'ball'") from None


def finite_or_none(value: float) -> float | None:
    """Return a float, or None for what is no finite number."""
    return float(value) if np.isfinite(value) else None
