"""Dynamic sampling: which groups are kept, how often, and what that costs in draws."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from reweight.objectives.filter import Filter

__all__ = ["FilterCost", "filter_cost", "kept", "kept_share", "stop_probability"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FilterCost:
    """What a filter costs one prompt.

    Attributes
    ----------
    share : float
        Probability that one group of G draws is kept.
    filled : float
        Probability that the prompt gives a group within the filter's rounds.
    expected_draws : float
        Expected number of samples generated for the prompt; infinite where no group is ever kept and nothing limits the
        rounds.
    """

    share: float
    filled: float
    expected_draws: float


def kept(rewards: Floats, best: float, keep: str) -> NDArray[np.bool_]:
    """Return which groups are kept; `rewards` has shape (M, G) or (M, G, K), `best` is the highest reward there is."""
    if keep == "solved":
        return np.asarray((rewards == best).any(axis=1))
    mixed = rewards.max(axis=1) > rewards.min(axis=1)
    return np.asarray(mixed if mixed.ndim == 1 else mixed.any(axis=1))


def kept_share(masses: Floats, rewards: Floats, size: int, keep: str) -> float:
    """Return the probability that a group of independent draws is kept, accurate also where it is small.

    `masses`, shape (L,), and `rewards`, shape (L,) or (L, K), are those of the types.
    """
    _, level = np.unique(rewards, axis=0, return_inverse=True)
    by_level = np.bincount(level.ravel(), weights=masses)
    if keep == "solved":
        best = by_level[-1]
        return float(-np.expm1(size * np.log1p(-best))) if best < 1 else 1.0
    others = [float(np.delete(by_level, index).sum()) for index in range(len(by_level))]
    largest = int(np.argmax(by_level))
    rest = others[largest]  # 1 - m^G for the largest, without the difference
    unequal = -np.expm1(size * np.log1p(-rest)) if rest < 1 else 1.0
    return float(max(0.0, unequal - sum(m**size for i, m in enumerate(by_level.tolist()) if i != largest)))


def filter_cost(masses: Floats, rewards: Floats, group_size: int, rule: Filter) -> FilterCost:
    """Compute what a filter costs one prompt in draws.

    Parameters
    ----------
    masses : ndarray, shape (L,)
        Probabilities of the reward levels.
    rewards : ndarray, shape (L,)
        The levels.
    group_size : int
        Draws a round.
    rule : Filter

    Notes
    -----
    Redrawing is geometric: with share u and R rounds it fills with 1 - (1 - u)^R and takes G (1 - (1 - u)^R) / u draws.
    Pooling has not stopped after k rounds exactly when k G draws would not be kept. Source: R24, C17.

    Examples
    --------
    >>> cost = filter_cost(np.array([0.002, 0.998]), np.array([1.0, 0.0]), 8, Filter())
    >>> round(cost.expected_draws / 8, 10)
    62.9388138085
    """
    share = kept_share(masses, rewards, group_size, rule.keep)
    rounds = rule.max_rounds
    if rule.rounds == "pool":
        assert rounds is not None
        going_on = [1.0] + [1.0 - kept_share(masses, rewards, k * group_size, rule.keep) for k in range(1, rounds)]
        filled = kept_share(masses, rewards, rounds * group_size, rule.keep)
        return FilterCost(share, filled, group_size * sum(going_on))
    if rounds is None:
        return FilterCost(share, float(share > 0), group_size / share if share > 0 else float("inf"))
    filled = -np.expm1(rounds * np.log1p(-share)) if share < 1 else 1.0
    return FilterCost(share, float(filled), group_size * (float(filled) / share if share > 0 else rounds))


def stop_probability(rewards: Floats, best: float, rule: Filter, round_size: int) -> Floats:
    """Return the probability that pooled draws stop exactly when they are these, given them in no order; shape (M,).

    `rewards` has shape (M, n), with n a whole number of rounds. All orders being equally likely, the first n - G draws
    hold no kept group with probability sum over levels of C(count, n - G) / C(n, n - G) for "mixed" (all alike), and
    C(n - solved, n - G) / C(n, n - G) for "solved".
    """
    size = rewards.shape[1]
    before = size - round_size
    stops = kept(rewards, best, rule.keep).astype(np.float64)
    if before == 0:
        return stops
    ways = np.array([comb(count, before) / comb(size, before) for count in range(size + 1)])
    if rule.keep == "solved":
        return np.asarray(stops * ways[size - (rewards == best).sum(axis=1)])
    alike = np.zeros(len(rewards))
    for level in np.unique(rewards):
        alike += ways[(rewards == level).sum(axis=1)]
    return np.asarray(stops * alike)
