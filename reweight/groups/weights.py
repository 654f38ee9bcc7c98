"""Expected advantage of each answer: what an on-policy group pushes, for any rewards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import choice, distribution, real
from reweight.errors import InputError
from reweight.groups.advantages import LARGEST_REWARD, float_advantages
from reweight.groups.balls import ball_weights
from reweight.groups.exact_advantages import as_fraction, exact_advantages
from reweight.groups.expectation import (
    MOST_ENTRIES,
    composition_entries,
    expect_given_type,
    expect_given_type_exactly,
    type_masses,
)
from reweight.groups.inputs import check_needs_rewards_alone, exact_probabilities
from reweight.groups.lattice import lattice_fits, lattice_weights
from reweight.groups.pair_form import pair_rows, pair_weights
from reweight.groups.quadrature import quadrature_weights
from reweight.objectives.advantage import Advantage

__all__ = [
    "GroupWeights",
    "group_weights",
    "weigh",
]

Method = Literal["auto", "linear", "pairs", "quadrature", "composition", "lattice"]
PROMISES = {"linear": 1e-14, "pairs": 1e-13, "quadrature": 2e-13, "composition": 1e-12, "lattice": 1e-12}
"""Error of each method relative to E[|A_1| | y_1 = y], in the order in which they are preferred."""
MOST_PAIR_ROWS, LARGEST_PAIR_GROUP = 4000, 256
CLOSEST = 1e-250


@dataclass(frozen=True, eq=False)
class GroupWeights:
    """Expected weights with the method that gave them.

    Attributes
    ----------
    weights : ndarray, shape (..., N)
        E[A_1 | y_1 = y].
    method : str
        "linear", "pairs", "quadrature", "composition" or "lattice".
    levels : int
        Number of distinct rewards.
    error_bound : float
        What the method promises: the error of w(y) relative to E[|A_1| | y_1 = y].
    """

    weights: NDArray[np.float64]
    method: str
    levels: int
    error_bound: float

    def __str__(self) -> str:
        shown = np.array2string(self.weights, precision=6, threshold=12)
        return f"{self.levels} reward levels by {self.method}, error at most {self.error_bound:g}\n{shown}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "weights": self.weights.tolist(),
            "method": self.method,
            "levels": self.levels,
            "error_bound": self.error_bound,
        }


def group_weights(
    rewards: ArrayLike,
    probabilities: ArrayLike,
    group_size: int,
    advantage: Advantage,
    *,
    precision: Literal["float64", "rational", "ball"] = "float64",
    radius: float | None = None,
    method: Method = "auto",
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
    precision : {"float64", "rational", "ball"}
        "rational" takes every float as the binary fraction that it is and returns exact RadicalSum objects; "ball" does
        so too and returns intervals (python-flint `arb`) that hold the true value.
    radius : float, optional
        For "ball": the largest radius, relative to E|A_1|.
    method : {"auto", "linear", "pairs", "quadrature", "composition", "lattice"}
        How the float64 sum is formed; see :func:`weigh`.

    Returns
    -------
    numpy.ndarray, shape (..., N)

    Raises
    ------
    InputError
        If the probabilities are not a distribution, the group is too small, the advantage couples prompts or lengths,
        or no method can do it.

    Notes
    -----
    Source: R01, R28. The signed error in float64 is relative to E[|A_1| | y_1 = y].

    Examples
    --------
    >>> group_weights([1, 0, 0], [0.5, 0.25, 0.25], 2, Advantage())
    array([ 0.5, -0.5, -0.5])
    >>> from fractions import Fraction
    >>> third = Fraction(1, 3)
    >>> print(group_weights([1, 0], [third, 2 * third], 3, Advantage(), precision="rational"))
    [RadicalSum(2/3*sqrt(2)) RadicalSum(-1/3*sqrt(2))]
    """
    choice(precision, "precision", ("float64", "rational", "ball"))
    if (precision == "ball") != (radius is not None):
        raise InputError("radius goes with precision 'ball': give both or neither")
    if precision != "float64" and method != "auto":
        raise InputError(f"method {method!r} is for float64: leave it out with precision {precision!r}")
    if radius is not None:
        return ball_weights(np.asarray(rewards), np.asarray(probabilities), group_size, advantage, radius)
    if precision == "rational":
        check_needs_rewards_alone(group_size, advantage)
        return _exact_weights(np.asarray(rewards), np.asarray(probabilities), group_size, advantage)
    return weigh(rewards, probabilities, group_size, advantage, method=method).weights


def weigh(
    rewards: ArrayLike,
    probabilities: ArrayLike,
    group_size: int,
    advantage: Advantage,
    *,
    method: Method = "auto",
) -> GroupWeights:
    """Compute expected weights in float64 and say by which method.

    Parameters and errors are those of :func:`group_weights`.

    Notes
    -----
    "linear": closed form where nothing is divided by a statistic of the group. "pairs": one all-positive table over the
    compositions of G - 2, for any number of policies at once. "quadrature": two-fold integral under which the group
    factorises, so that its cost hardly grows with G. "composition": every composition of G - 1, for any advantage.
    "lattice": exact law of two sums where rewards are whole multiples of one number. "auto" takes the first that can
    do it, with pairs up to 4000 compositions.

    Examples
    --------
    >>> print(weigh([1, 0.5, 0], [0.2, 0.3, 0.5], 64, Advantage()))
    3 reward levels by pairs, error at most 1e-13
    [ 1.640913  0.390487 -0.890658]
    """
    check_needs_rewards_alone(group_size, advantage)
    choice(method, "method", ("auto", *PROMISES))
    values = real(np.asarray(rewards, dtype=np.float64), "rewards", at_least=-LARGEST_REWARD, at_most=LARGEST_REWARD)
    table = distribution(probabilities, "probabilities")
    if values.shape != table.shape[-1:]:
        raise InputError(f"{values.size} rewards for {table.shape[-1]} probabilities: give one reward a probability")
    levels, index = np.unique(values, return_inverse=True)
    if len(levels) > 1 and np.diff(levels).min() < CLOSEST * (levels[-1] - levels[0]):
        raise InputError(f"two rewards differ by less than {CLOSEST:g} of the rewards' range: make them equal")
    masses = type_masses(table.reshape(-1, table.shape[-1]), index, len(levels))
    names = tuple(PROMISES) if method == "auto" else (method,)
    reasons = {}
    for name in names:
        reasons[name] = _obstacle(name, levels, group_size, advantage)
        if reasons[name] is None:
            result = _METHODS[name](levels, masses, group_size, advantage)
            return GroupWeights(result[:, index].reshape(table.shape), name, len(levels), PROMISES[name])
    last = "composition" if method == "auto" else method
    raise InputError(f"{len(levels)} reward levels in groups of {group_size} by {last}: {reasons[last]}")


def _obstacle(method: str, levels: NDArray[np.float64], group_size: int, advantage: Advantage) -> str | None:
    """Return why a method cannot serve, or None where it can."""
    count, plain = len(levels), advantage.selection == "all"
    if method == "linear":
        serves = advantage.scale == "none" and advantage.baseline in ("mean", "leave_one_out", "none") and plain
        return None if serves else "something is divided by a group statistic, or depends on the order of rewards"
    if method == "composition":
        entries = composition_entries(count, group_size)
        return None if entries <= MOST_ENTRIES else f"{entries:.1e} entries are too many, use a smaller group"
    if method == "lattice":
        fits = lattice_fits(levels, group_size, advantage)
        return None if fits else "rewards are not multiples of one number, or their sums take too many values"
    if advantage.baseline not in ("mean", "leave_one_out") or advantage.scale != "std" or not plain or count < 2:
        return "it needs the mean of the group or of the others, the group's std, and two levels"
    if method == "quadrature":
        return "a clamped std is not smooth" if advantage.eps > 0 and advantage.eps_rule == "clamp" else None
    rows = pair_rows(count, group_size)
    fits = rows <= MOST_PAIR_ROWS and group_size <= LARGEST_PAIR_GROUP
    return None if fits else f"{rows:.1e} compositions in groups of {group_size} are too many, use quadrature"


def _linear(levels: NDArray[np.float64], masses: NDArray[np.float64], size: int, advantage: Advantage) -> Any:
    """w_a = share * sum_b pi_b (l_a - l_b), summed along the sorted levels so that only one difference is taken."""
    if advantage.baseline == "none":
        return np.broadcast_to(levels, masses.shape).copy()
    gaps = np.diff(levels)
    below = np.cumsum(masses, axis=1)[:, :-1] * gaps
    above = np.cumsum(masses[:, ::-1], axis=1)[:, ::-1][:, 1:] * gaps
    zero = np.zeros((len(masses), 1))
    ahead = np.concatenate([zero, np.cumsum(below, axis=1)], axis=1)
    behind = np.concatenate([np.cumsum(above[:, ::-1], axis=1)[:, ::-1], zero], axis=1)
    return (ahead - behind) * ((size - 1) / size if advantage.baseline == "mean" else 1.0)


def _composition(levels: NDArray[np.float64], masses: NDArray[np.float64], size: int, advantage: Advantage) -> Any:
    return expect_given_type(masses, size, lambda groups: float_advantages(levels[groups], advantage, members=[0]))[
        :, :, 0
    ]


def _lattice(levels: NDArray[np.float64], masses: NDArray[np.float64], size: int, advantage: Advantage) -> Any:
    return np.stack([lattice_weights(levels, row, size, advantage) for row in masses])


_METHODS: dict[str, Callable[..., Any]] = {
    "linear": _linear,
    "pairs": pair_weights,
    "quadrature": quadrature_weights,
    "composition": _composition,
    "lattice": _lattice,
}


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
