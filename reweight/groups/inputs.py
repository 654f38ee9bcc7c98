"""What exact expectations over one group ask of their input."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from reweight.checks import SUM_TOLERANCE
from reweight.errors import InputError
from reweight.groups.exact_advantages import as_fraction
from reweight.objectives.advantage import Advantage, check_group_size

__all__ = ["check_needs_rewards_alone", "check_prompt_local", "exact_probabilities"]


def check_prompt_local(group_size: int, advantage: Advantage) -> None:
    """Raise InputError unless groups of this size of one prompt alone have this advantage."""
    check_group_size(group_size, advantage)
    if advantage.couples_prompts:
        raise InputError("a batch baseline or scale couples prompts: use a group statistic")


def check_needs_rewards_alone(group_size: int, advantage: Advantage) -> None:
    """Raise InputError unless this advantage is prompt-local and looks at nothing but rewards."""
    check_prompt_local(group_size, advantage)
    if advantage.baseline == "length_weighted":
        raise InputError(
            "a length-weighted baseline needs lengths: use expected_coefficients with a Problem that has them"
        )


def exact_probabilities(probabilities: NDArray[Any]) -> list[Fraction]:
    """Return a probability vector as Fractions that sum to one; refuse what differs from one by more than 1e-9."""
    masses = [as_fraction(mass) for mass in probabilities.tolist()]
    if any(mass < 0 for mass in masses):
        raise InputError("a probability is negative: give numbers between 0 and 1")
    total = sum(masses, Fraction(0))
    if abs(total - 1) > Fraction(repr(SUM_TOLERANCE)):
        raise InputError(f"the probabilities sum to {float(total):.12g}, not to 1: mend or normalise them first")
    return [mass / total for mass in masses]
