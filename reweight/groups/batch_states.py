"""What a group tells the rest of its batch, in whole numbers that add up, and what their sums say again.

Rewards that are whole multiples of one number are told by their sum and the sum of their squares, both exact. Other
values, such as advantages already divided by a standard deviation, are told by counting how many groups have each
weight, mean and spread. Either way a spread is never a difference of two rounded numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.groups.advantages import regularised
from reweight.groups.expectation import compositions, multinomial_probabilities
from reweight.groups.filtering import filter_cost, kept
from reweight.groups.lattice import lattice_levels
from reweight.groups.outcomes import Outcomes
from reweight.groups.prompt import Prompt
from reweight.groups.terms import group_advantages
from reweight.objectives.objective import Objective

__all__ = ["BatchStates", "Groups", "Moments", "batch_states"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
LARGEST_WHOLE, LARGEST_PRODUCT, WORD_BITS = 2**31, 2**62, 62
MOST_MEMBERS = 20_000_000


@dataclass(frozen=True, eq=False)
class Groups:
    """All groups that a prompt can give a batch, up to order.

    Attributes
    ----------
    counts : ndarray of int, shape (M, L)
        How many members have each type.
    members : ndarray of int, shape (M, G)
        The types of the members, in increasing order.
    chances : ndarray, shape (M,)
        The probability of each, given that the filter keeps the group.
    share : float
        The probability that it does.
    """

    outcomes: Outcomes
    masses: Floats
    counts: Whole
    members: NDArray[np.intp]
    chances: Floats
    share: float

    @classmethod
    def of(cls, prompt: Prompt) -> Groups:
        """Return the groups of a prompt; InputError where they are too many or the filter keeps none."""
        outcomes, size, rule = prompt.outcomes, prompt.objective.group_size, prompt.objective.filter
        masses = outcomes.masses(prompt.drawn)
        counts = _counts(size, len(masses))
        chances = multinomial_probabilities(counts, masses)
        members = np.repeat(np.tile(np.arange(len(masses)), len(counts)), counts.ravel()).reshape(len(counts), size)
        if rule is None:
            return cls(outcomes, masses, counts, members, chances, 1.0)
        share = filter_cost(masses, outcomes.rewards, size, rule).share
        if share == 0:
            raise InputError("a prompt of the batch has no group that the filter keeps: leave the prompt out")
        keep = kept(outcomes.rewards[members], float(outcomes.rewards.max()), rule.keep)
        return cls(outcomes, masses, counts[keep], members[keep], chances[keep] / share, share)

    def beside(self, level: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """Return which groups hold a member of this type, their types with it first, and P(the others | it).

        The probability is that of the others and that the group is kept, over the probability that a group is kept.
        """
        rows = np.flatnonzero(self.counts[:, level])
        others = self.counts[rows].copy()
        others[:, level] -= 1
        types = self.members[rows]
        own = np.argmax(types == level, axis=1)[:, None]
        np.put_along_axis(types, own, types[:, :1], axis=1)
        types[:, 0] = level
        return rows, types, multinomial_probabilities(others, self.masses) / self.share


def _counts(size: int, types: int) -> Whole:
    if comb(size + types - 1, types - 1) * size > MOST_MEMBERS:
        raise InputError(
            f"{types} types of answers in groups of {size} are too many groups for a batch: "
            "use smaller groups, or fewer reward levels and lengths"
        )
    return compositions(size, types)


@dataclass(frozen=True, eq=False)
class Moments:
    """Weight, mean, and weighted sum of squared deviations of some values."""

    weight: Floats
    mean: Floats
    squares: Floats

    def beside(self, rest: Moments) -> Moments:
        """Return those of both together, without a difference of rounded squares; the shapes broadcast."""
        weight = self.weight + rest.weight
        apart = rest.mean - self.mean
        share = rest.weight / weight
        return Moments(weight, self.mean + share * apart, self.squares + rest.squares + self.weight * share * apart**2)


@dataclass(frozen=True, eq=False)
class Told:
    """Values of a batch as states that add up: `moments` of sums are in units of `unit` from `origin`."""

    states: list[Whole]
    moments: Callable[[Whole], Moments]
    origin: float
    unit: float


@dataclass(frozen=True, eq=False)
class BatchStates:
    """What the groups of each prompt tell: states, one array (M, C) a prompt, and how sums of them are read.

    Attributes
    ----------
    states : list of ndarray of int64
        One a prompt; the row is that of its :class:`Groups`.
    token_unit : float or None
        Tokens of one step of the first column; None where the batch's tokens do not enter.
    told : Told or None
        How the other columns were made; None where no statistic of values enters.
    """

    states: list[Whole]
    token_unit: float | None
    told: Told | None

    def tokens(self, sums: Whole) -> Floats | None:
        """Return the tokens that sums of states (R, C) stand for, shape (R,)."""
        return None if self.token_unit is None else np.asarray(sums[:, 0] * self.token_unit, dtype=np.float64)

    def moments(self, sums: Whole) -> Moments:
        """Return the moments that sums of states (R, C) stand for."""
        assert self.told is not None
        return self.told.moments(sums if self.token_unit is None else sums[:, 1:])


def batch_states(tables: Sequence[Groups], objective: Objective, batch: int) -> BatchStates:
    """Tell the groups of several prompts, of which a batch holds `batch`, in one language.

    Raises
    ------
    InputError
        If lengths are no whole multiples of one number.
    """
    advantage = objective.advantage
    lengths = _whole_lengths([table.outcomes for table in tables])
    states, token_unit, told = [], None, None
    if objective.aggregation == "token_mean":
        token_unit = lengths[1]
        states.append([row[table.members].sum(axis=1)[:, None] for row, table in zip(lengths[0], tables, strict=True)])
    if advantage.couples_prompts:
        weights = (
            [row[table.members] for row, table in zip(lengths[0], tables, strict=True)]
            if advantage.second == "token_whiten"
            else [np.ones_like(table.members) for table in tables]
        )
        unit = lengths[1] if advantage.second == "token_whiten" else 1.0
        told = _by_sums(tables, weights, unit, objective, batch) or _by_classes(tables, weights, unit, objective, batch)
        states.append(told.states)
    return BatchStates([np.hstack(rows) for rows in zip(*states, strict=True)], token_unit, told)


def _whole_lengths(outcomes: Sequence[Outcomes]) -> tuple[list[Whole], float]:
    every = np.unique(np.concatenate([[0.0], *(each.lengths for each in outcomes)]))
    found = lattice_levels(every, LARGEST_WHOLE)
    if found is None:
        raise InputError("the lengths of a batch are no small multiples of one number: give whole tokens")
    return [found[0][np.searchsorted(every, each.lengths)] for each in outcomes], found[1]


def _whole_rewards(tables: Sequence[Groups]) -> tuple[list[Whole], float, float] | None:
    """Return the rewards of the members as whole numbers, what 0 stands for, and the unit."""
    if tables[0].outcomes.rewards.ndim > 1:
        return None
    every = np.unique(np.concatenate([table.outcomes.rewards for table in tables]))
    found = lattice_levels(every, LARGEST_WHOLE)
    if found is None:
        return None
    whole = [found[0][np.searchsorted(every, table.outcomes.rewards)][table.members] for table in tables]
    return whole, float(every[0]), found[1]


def _takes_rewards(objective: Objective) -> bool:
    """Whether the batch compares rewards, not advantages."""
    return objective.advantage.baseline == "batch_mean" or objective.advantage.scale == "batch_std"


def _centred(objective: Objective) -> bool:
    """Whether a group's advantages are its rewards from their mean, times what is one number for the whole group."""
    advantage, rule = objective.advantage, objective.reward
    return (
        advantage.baseline in ("mean", "leave_one_out")
        and advantage.scale in ("std", "none")
        and advantage.selection == "all"
        and rule.transform is None
        and rule.order == "sum_then_normalise"
    )


def _by_sums(
    tables: Sequence[Groups], weights: list[Whole], weight_unit: float, objective: Objective, batch: int
) -> Told | None:
    """Tell weight, sum and sum of squares, where values are whole multiples of one number and all products fit."""
    advantage, size = objective.advantage, objective.group_size
    centred = _centred(objective) and advantage.scale == "none" and not _takes_rewards(objective)
    raw = _takes_rewards(objective) or (
        (advantage.baseline, advantage.scale, advantage.selection, objective.reward.transform)
        == ("none", "none", "all", None)
    )
    found = _whole_rewards(tables) if centred or raw else None
    if found is None:
        return None
    whole, low, unit = found
    top = max(int(row.max()) for row in whole) * (size if centred else 1)
    heaviest = batch * size * max(int(row.max()) for row in weights)
    if (heaviest * max(top, 1)) ** 2 >= LARGEST_PRODUCT:
        return None
    if centred:
        whole = [size * row - row.sum(axis=1, keepdims=True) for row in whole]
        low, unit = 0.0, unit / (size - (advantage.baseline == "leave_one_out"))
    states = [
        np.stack([w.sum(axis=1), (w * row).sum(axis=1), (w * row**2).sum(axis=1)], axis=1)
        for w, row in zip(weights, whole, strict=True)
    ]

    def moments(sums: Whole) -> Moments:
        weight, first, second = sums.T
        divisor = np.maximum(weight, 1)
        squares = (weight * second - first**2) / divisor  # the difference is of whole numbers, so exact
        return Moments(weight * weight_unit, first / divisor, squares * weight_unit)

    return Told(states, moments, low, unit)


def _by_classes(
    tables: Sequence[Groups], weights: list[Whole], weight_unit: float, objective: Objective, batch: int
) -> Told:
    """Count the groups of each weight, mean and spread, several counters to a number."""
    values = [_values(table, objective) for table in tables]
    origin = min(float(row.min()) for row in values)
    unit = max(float(row.max()) for row in values) - origin or 1.0
    rows = [
        _class_rows((row - origin) / unit, np.asarray(w * weight_unit, dtype=np.float64))
        for row, w in zip(values, weights, strict=True)
    ]
    if _centred(objective) and objective.advantage.second == "batch_standardise":
        _make_canonical(rows, tables, objective, origin, unit)
    classes, index = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    bits = batch.bit_length()
    place = np.arange(len(classes))
    counters = np.zeros((len(classes), place[-1] // (WORD_BITS // bits) + 1), dtype=np.int64)
    counters[place, place // (WORD_BITS // bits)] = 1 << (place % (WORD_BITS // bits) * bits)
    states = np.split(counters[index.ravel()], np.cumsum([len(row) for row in rows])[:-1])

    def counted(sums: Whole, position: int) -> Whole:
        column, slot = divmod(position, WORD_BITS // bits)
        return np.asarray((sums[:, column] >> (slot * bits)) & ((1 << bits) - 1))

    return Told(states, lambda sums: _class_moments(sums, classes, counted), origin, unit)


def _values(table: Groups, objective: Objective) -> Floats:
    if _takes_rewards(objective):
        return np.asarray(table.outcomes.rewards[table.members])
    rewards, lengths = table.outcomes.rewards[table.members], table.outcomes.lengths[table.members]
    return group_advantages(rewards, lengths, objective, range(objective.group_size))


def _class_rows(values: Floats, weights: Floats) -> Floats:
    """Return weight, mean and sum of squared deviations of each row, shape (M, 3); equal values have their own mean."""
    weight = weights.sum(axis=1)
    apart = values - values[:, :1]
    mean = values[:, 0] + (weights * apart).sum(axis=1) / weight
    squares = np.sort(weights * (values - mean[:, None]) ** 2, axis=1).sum(axis=1)
    return np.stack([weight, mean, squares], axis=1)


def _make_canonical(
    rows: list[Floats], tables: Sequence[Groups], objective: Objective, origin: float, unit: float
) -> None:
    """Write mean and spread of z-scores as functions of one whole number, so that what is equal is so to the last bit.

    With D = G sum k^2 - (sum k)^2, the squares of the centred rewards add up to D / G, and the variance is
    D / (G (G - ddof)).
    """
    advantage, size = objective.advantage, objective.group_size
    found = _whole_rewards(tables)
    if found is None:
        return
    factor = size / (size - 1) if advantage.baseline == "leave_one_out" else 1.0
    for row, whole in zip(rows, found[0], strict=True):
        spread = (size * (whole**2).sum(axis=1) - whole.sum(axis=1) ** 2).astype(np.float64)
        std = found[2] * np.sqrt(spread / (size * (size - advantage.ddof)))
        ratio = factor * found[2] / np.where(spread > 0, regularised(std, advantage), 1.0) / unit
        row[:, 1], row[:, 2] = -origin / unit, spread / size * ratio**2


def _class_moments(sums: Whole, classes: Floats, counted: Callable[[Whole, int], Whole]) -> Moments:
    """Return the moments of groups that are counted by class; values that are all equal are their own mean, exactly."""
    weight, first = np.zeros(len(sums)), np.zeros(len(sums))
    low, high = np.full(len(sums), np.inf), np.full(len(sums), -np.inf)
    for position, (own, mean, _) in enumerate(classes.tolist()):
        count = counted(sums, position)
        weight += count * own
        first += count * own * mean
        low = np.where(count > 0, np.minimum(low, mean), low)
        high = np.where(count > 0, np.maximum(high, mean), high)
    mean = np.where(low < high, first / np.maximum(weight, np.finfo(float).tiny), np.where(weight > 0, low, 0.0))
    squares = np.zeros(len(sums))
    for position, (own, centre, spread) in enumerate(classes.tolist()):
        squares += counted(sums, position) * (spread + own * (centre - mean) ** 2)
    return Moments(weight, mean, squares)
