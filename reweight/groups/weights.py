"""Expected advantage of each answer: what an on-policy group pushes, for any rewards."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import SUM_TOLERANCE, distribution, real
from reweight.errors import InputError
from reweight.groups.advantages import LARGEST_REWARD, float_advantages
from reweight.groups.exact_advantages import as_fraction, exact_advantages
from reweight.groups.expectation import distinct_types, expect_given_type, expect_given_type_exactly, type_masses
from reweight.objectives.advantage import Advantage, check_group_size

__all__ = ["check_needs_rewards_alone", "check_prompt_local", "exact_probabilities", "group_weights"]


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


def group_weights(
    rewards: ArrayLike,
    probabilities: ArrayLike,
    group_size: int,
    advantage: Advantage,
    *,
    precision: Literal["float64", "rational"] = "float64",
) -> NDArray[Any]:
    """Compute w(y) = E[A_1 | y_1 = y] for a group of independent draws.

    The expected on-policy gradient of one group is the sum over y of pi(y) w(y) grad log pi(y).

    Parameters
    ----------
    rewards : array_like, shape (N,)
        Reward of each answer.
    probabilities : array_like, shape (..., N)
        Probability of each answer; leading axes are a batch of policies (float64 only).
    group_size : int
        Number of draws G in a group.
    advantage : Advantage
        A prompt-local advantage: no batch statistic, no length weighting.
    precision : {"float64", "rational"}
        "rational" takes every float as the binary fraction that it is and returns exact RadicalSum objects.

    Returns
    -------
    numpy.ndarray, shape (..., N)

    Raises
    ------
    InputError
        If the probabilities are not a distribution, the group is too small, or the advantage couples prompts or
        lengths.

    Notes
    -----
    Source: R01. The signed error in float64 is relative to E[|A_1| | y_1 = y].

    Examples
    --------
    >>> group_weights([1, 0, 0], [0.5, 0.25, 0.25], 2, Advantage())
    array([ 0.5, -0.5, -0.5])
    >>> from fractions import Fraction
    >>> third = Fraction(1, 3)
    >>> print(group_weights([1, 0], [third, 2 * third], 3, Advantage(), precision="rational"))
    [RadicalSum(2/3*sqrt(2)) RadicalSum(-1/3*sqrt(2))]
    """
    check_needs_rewards_alone(group_size, advantage)
    if precision == "rational":
        return _exact_weights(np.asarray(rewards), np.asarray(probabilities), group_size, advantage)
    if precision != "float64":
        raise InputError(f"precision is {precision!r}: choose 'float64' or 'rational'")
    values = real(np.asarray(rewards, dtype=np.float64), "rewards", at_least=-LARGEST_REWARD, at_most=LARGEST_REWARD)
    table = distribution(probabilities, "probabilities")
    if values.shape != table.shape[-1:]:
        raise InputError(f"{values.size} rewards for {table.shape[-1]} probabilities: give one reward a probability")
    types, index = distinct_types([values])
    levels = np.array([reward for (reward,) in types])
    rows = table.reshape(-1, table.shape[-1])
    expected = expect_given_type(
        type_masses(rows, index, len(types)),
        group_size,
        lambda groups: float_advantages(levels[groups], advantage, members=[0]),
    )
    return expected[:, index, 0].reshape(table.shape)


def _exact_weights(
    rewards: NDArray[Any], probabilities: NDArray[Any], group_size: int, advantage: Advantage
) -> NDArray[Any]:
    values = [as_fraction(reward) for reward in rewards.tolist()]
    if probabilities.ndim != 1 or len(probabilities) != len(values):
        raise InputError(
            f"{probabilities.size} probabilities for {len(values)} rewards: exact weights take one distribution"
        )
    masses = exact_probabilities(probabilities)
    levels = sorted(set(values))
    level_masses = [
        sum((m for m, v in zip(masses, values, strict=True) if v == level), Fraction(0)) for level in levels
    ]

    def first_advantage(group: tuple[int, ...]) -> Any:
        return exact_advantages(np.array([levels[i] for i in group], dtype=object), advantage)[0]

    expected = expect_given_type_exactly(level_masses, group_size, first_advantage)
    result = np.empty(len(values), dtype=object)
    result[:] = [expected[levels.index(value)] for value in values]
    return result


def exact_probabilities(probabilities: NDArray[Any]) -> list[Fraction]:
    """Return a probability vector as Fractions that sum to one; refuse what differs from one by more than 1e-9."""
    masses = [as_fraction(mass) for mass in probabilities.tolist()]
    if any(mass < 0 for mass in masses):
        raise InputError("a probability is negative: give numbers between 0 and 1")
    total = sum(masses, Fraction(0))
    if abs(total - 1) > Fraction(repr(SUM_TOLERANCE)):
        raise InputError(f"the probabilities sum to {float(total):.12g}, not to 1: mend or normalise them first")
    return [mass / total for mass in masses]
