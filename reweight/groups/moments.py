"""More than the mean: exact second moments of the advantage, its whole distribution, and how often a group is dead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import distribution, integer, number, real
from reweight.errors import InputError
from reweight.groups.advantages import LARGEST_REWARD, float_advantages
from reweight.groups.expectation import expect_given_type, multinomial_probabilities, tabulate_by_type, type_masses
from reweight.groups.filtering import kept_share
from reweight.groups.inputs import check_needs_rewards_alone
from reweight.objectives.advantage import Advantage

__all__ = ["AdvantageDistribution", "Moments", "advantage_distribution", "by_level", "dead_share", "moments"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Moments:
    """Exact moments of the advantages of one group, by reward level.

    Attributes
    ----------
    levels, masses : ndarray, shape (L,)
        Distinct rewards and their probabilities.
    mean, size, square : ndarray, shape (L,)
        E[A_1 | r_1], E[|A_1| | r_1] and E[A_1^2 | r_1].
    product : ndarray, shape (L, L)
        E[A_1 A_2 | r_1, r_2]; zero for groups of one.
    level_of : ndarray of int, shape (N,)
        Level of each answer.
    """

    levels: Floats
    masses: Floats
    mean: Floats
    size: Floats
    square: Floats
    product: Floats
    level_of: NDArray[np.intp]

    @property
    def expected_size(self) -> float:
        """E|A_1|."""
        return float(self.masses @ self.size)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values, level by level."""
        names = ("levels", "masses", "mean", "size", "square", "product")
        return {name: getattr(self, name).tolist() for name in names} | {"expected_size": self.expected_size}


def moments(
    rewards: ArrayLike,
    probabilities: ArrayLike,
    group_size: int,
    advantage: Advantage,
    *,
    mixed_only: bool = False,
) -> Moments:
    """Compute first and second moments of the advantages of a group of independent draws.

    Parameters
    ----------
    rewards : array_like, shape (N,)
    probabilities : array_like, shape (N,)
    group_size : int
        Number of draws G in a group.
    advantage : Advantage
        A prompt-local advantage that needs no lengths.
    mixed_only : bool
        Given that the group's rewards are not all equal.

    Raises
    ------
    InputError
        If the parts do not fit together, no group is mixed and only mixed ones count, or there are too many groups.

    Examples
    --------
    >>> found = moments([1, 0], [0.5, 0.5], 2, Advantage())
    >>> found.mean, found.square, found.product
    (array([-0.5,  0.5]), array([0.5, 0.5]), array([[ 0., -1.],
           [-1.,  0.]]))
    """
    check_needs_rewards_alone(group_size, advantage)
    levels, masses, index = by_level(rewards, probabilities)

    def first(groups: NDArray[np.int64]) -> Floats:
        values = float_advantages(levels[groups], advantage, members=[0])[:, 0]
        return np.stack([values, np.abs(values), values**2], axis=1) * _counts(groups, mixed_only)[:, None]

    single = expect_given_type(masses[None, :], group_size, first)[0]
    product = np.zeros((len(levels), len(levels)))
    if group_size > 1:
        for second in range(len(levels)):
            product[:, second] = _beside(second, levels, masses, group_size, advantage, mixed_only)
    if mixed_only:
        share = kept_share(masses, levels, group_size, "mixed")
        if share == 0:
            raise InputError("no group is mixed: the rewards that have a probability are all equal")
        single, product = single / share, product / share
    mean, size, square = single.T
    return Moments(levels, masses, mean, size, square, product, index)


def _beside(
    second: int, levels: Floats, masses: Floats, group_size: int, advantage: Advantage, mixed_only: bool
) -> Floats:
    """Return E[A_1 A_2 | r_1 = a, r_2] for every level a, by the compositions of the other G - 2 members."""

    def pair(groups: NDArray[np.int64]) -> Floats:
        whole = np.hstack([groups, np.full((len(groups), 1), second, dtype=np.int64)])
        values = float_advantages(levels[whole], advantage, members=[0, group_size - 1])
        return (values[:, 0] * values[:, 1] * _counts(whole, mixed_only))[:, None]

    return np.asarray(expect_given_type(masses[None, :], group_size - 1, pair)[0, :, 0])


def _counts(groups: NDArray[np.int64], mixed_only: bool) -> Floats:
    return (groups.max(axis=1) > groups.min(axis=1)).astype(np.float64) if mixed_only else np.ones(len(groups))


@dataclass(frozen=True, eq=False)
class AdvantageDistribution:
    """The exact distribution of the advantage of a sample with a given reward.

    Attributes
    ----------
    values, masses : ndarray, shape (M,)
        The values in increasing order, and their probabilities.
    """

    values: Floats
    masses: Floats

    @property
    def mean(self) -> float:
        """The expected advantage."""
        return float(self.masses @ self.values)

    def __str__(self) -> str:
        rows = zip(self.values.tolist(), self.masses.tolist(), strict=True)
        return "\n".join(f"{value:12.6g}  {mass:.6g}" for value, mass in rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {"values": self.values.tolist(), "masses": self.masses.tolist(), "mean": self.mean}


def advantage_distribution(
    rewards: ArrayLike, probabilities: ArrayLike, group_size: int, advantage: Advantage, reward: float
) -> AdvantageDistribution:
    """Compute the distribution of the advantage of a sample that earned `reward`.

    Parameters and errors are those of :func:`moments`; `reward` is one of the rewards.

    Examples
    --------
    >>> print(advantage_distribution([1, 0], [0.25, 0.75], 3, Advantage(scale="none"), 1))
               0  0.0625
        0.333333  0.375
        0.666667  0.5625
    """
    check_needs_rewards_alone(group_size, advantage)
    levels, masses, _ = by_level(rewards, probabilities)
    number(reward, "reward")
    found = np.flatnonzero(levels == float(reward))
    if not len(found):
        raise InputError(
            f"no answer has the reward {reward:g}: choose one of {', '.join(f'{r:g}' for r in levels[:8])}"
        )
    others, values = tabulate_by_type(
        len(levels), group_size, lambda groups: float_advantages(levels[groups], advantage, members=[0])
    )
    chances = multinomial_probabilities(others, masses)
    distinct, position = np.unique(values[int(found[0])][:, 0], return_inverse=True)
    return AdvantageDistribution(distinct, np.bincount(position.ravel(), weights=chances).astype(np.float64))


def dead_share(rewards: ArrayLike, probabilities: ArrayLike, group_size: int) -> float:
    """Compute the probability that all rewards of a group are equal, so that it teaches nothing.

    Raises
    ------
    InputError
        If the probabilities are not a distribution over the rewards.

    Examples
    --------
    >>> dead_share([1, 0.5, 0], [0.5, 0.25, 0.25], 2)
    0.375
    """
    integer(group_size, "group_size", at_least=1)
    levels, masses, _ = by_level(rewards, probabilities)
    return float((masses**group_size).sum()) if len(levels) > 1 else 1.0


def by_level(rewards: ArrayLike, probabilities: ArrayLike) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Return the distinct rewards in increasing order, their probabilities, and the level of each answer."""
    values = real(rewards, "rewards", at_least=-LARGEST_REWARD, at_most=LARGEST_REWARD)
    table = distribution(probabilities, "probabilities")
    if values.ndim != 1 or values.shape != table.shape:
        raise InputError(f"rewards of shape {values.shape} for probabilities {table.shape}: give (N,) each")
    levels, index = np.unique(values, return_inverse=True)
    return levels, type_masses(table[None, :], index, len(levels))[0], index
