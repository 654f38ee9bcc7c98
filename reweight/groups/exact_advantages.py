"""The readable specification of every group advantage: one group at a time, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.groups.radicals import RadicalSum, square_root
from reweight.objectives.advantage import Advantage

__all__ = ["as_fraction", "exact_advantages", "member_parts", "zero_when_constant"]

ZERO = RadicalSum()


def as_fraction(value: Any) -> Fraction:
    """Return a number as the Fraction that it is; a float is its binary value.

    Raises
    ------
    InputError
        If `value` is not a finite number.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, RadicalSum):
        rational = value.rational
        if rational is None:
            raise InputError(f"{value} is irrational: give rewards and probabilities as Fractions")
        return rational
    try:
        return Fraction(value.item() if isinstance(value, np.generic) else value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{value!r} is not a finite number: give a Fraction, an integer or a float") from None


def exact_advantages(
    rewards: NDArray[Any], advantage: Advantage, *, lengths: NDArray[Any] | None = None
) -> NDArray[np.object_]:
    """Return the advantages of groups of exact rewards, shape (..., B, G) or (G,), as RadicalSum objects.

    ``None`` and NaN are missing rewards. The rules are those of :func:`reweight.groups.advantages.advantages`.
    """
    batches = rewards.reshape((-1, *((1, *rewards.shape) if rewards.ndim == 1 else rewards.shape)[-2:]))
    weights = None if lengths is None else lengths.reshape(batches.shape)
    result = np.empty(batches.shape, dtype=object)
    for index, batch in enumerate(batches):
        groups = [_valid(row, advantage) for row in batch]
        everyone = [reward for row in groups for reward in row if reward is not None]
        for position, group in enumerate(groups):
            row_lengths = None if weights is None else [as_fraction(length) for length in weights[index, position]]
            result[index, position] = _one_group(group, everyone, advantage, row_lengths)
        if advantage.second is not None:
            present = np.array([[reward is not None for reward in group] for group in groups])
            result[index][present] = _second_stage(
                list(result[index][present]), None if weights is None else weights[index][present], advantage
            )
    return result.reshape(rewards.shape)


def _second_stage(values: list[RadicalSum], lengths: NDArray[Any] | None, advantage: Advantage) -> NDArray[np.object_]:
    """Standardise the advantages of one batch once more, where their variance is rational."""
    whiten = advantage.second == "token_whiten"
    assert lengths is not None or not whiten
    weights = (
        [as_fraction(length) for length in lengths] if whiten and lengths is not None else [Fraction(1)] * len(values)
    )
    total = sum(weights, Fraction(0))
    mean = RadicalSum.total(value * weight for value, weight in zip(values, weights, strict=True)) / total
    centred = [value - mean for value in values]
    squares = RadicalSum.total(value * value * weight for value, weight in zip(centred, weights, strict=True)).rational
    if squares is None:
        raise InputError("a second normalisation of these advantages is no sum of square roots: use float64")
    result = np.empty(len(values), dtype=object)
    if not squares or total <= advantage.ddof:
        result[:] = [ZERO] * len(values)
        return result
    root = _regularised_root(squares / (total - advantage.ddof), advantage)
    result[:] = [value / root for value in centred]
    return result


def zero_when_constant(advantage: Advantage) -> bool:
    """Whether a group of equal rewards has advantages of zero."""
    return advantage.baseline not in ("none", "batch_mean") or advantage.scale in ("std", "leave_one_out_std")


def _valid(row: Sequence[Any], advantage: Advantage) -> list[Fraction | None]:
    values = [None if reward is None or reward != reward else as_fraction(reward) for reward in row]
    if None in values and advantage.missing == "error":
        raise InputError("a reward is missing (NaN): set missing to 'exclude' or 'zero', or give the reward")
    return [Fraction(0) if value is None and advantage.missing == "zero" else value for value in values]


def _one_group(
    group: list[Fraction | None], batch: list[Fraction], advantage: Advantage, lengths: list[Fraction] | None
) -> list[RadicalSum]:
    members = [index for index, reward in enumerate(group) if reward is not None]
    rewards = [reward for reward in group if reward is not None]
    result = [ZERO] * len(group)
    if len(rewards) == 1 and advantage.needs_group:
        if advantage.singleton == "error":
            raise InputError("a group has one valid reward and no group statistic: set singleton to 'zero' or 'reward'")
        if advantage.singleton == "reward":
            divisor = _regularised_root(Fraction(1), advantage) if advantage.scale == "std" else RadicalSum.of(1)
            result[members[0]] = RadicalSum.of(rewards[0]) / divisor
        return result
    if not rewards or (zero_when_constant(advantage) and len(set(rewards)) == 1):
        return result
    weights = None if lengths is None else [lengths[index] for index in members]
    for position, index in enumerate(members):
        result[index] = _one_member(position, rewards, batch, advantage, weights)
    return result


def _one_member(
    i: int, rewards: list[Fraction], batch: list[Fraction], advantage: Advantage, lengths: list[Fraction] | None
) -> RadicalSum:
    numerator, variance = member_parts(i, rewards, batch, advantage, lengths)
    if variance is None:
        return RadicalSum.of(numerator)
    root = _regularised_root(variance, advantage)
    return RadicalSum.of(numerator) / root if root else ZERO


def member_parts(
    i: int, rewards: list[Fraction], batch: list[Fraction], advantage: Advantage, lengths: list[Fraction] | None
) -> tuple[Fraction, Fraction | None]:
    """Return the rational parts of one member's advantage: what is divided, and the variance whose root divides it.

    The second is None where nothing irrational divides. The group is not constant if a statistic of the group enters.
    """
    others = rewards[:i] + rewards[i + 1 :]
    if advantage.selection == "best" and (rewards[i] != max(rewards) or rewards[i] in others):
        return Fraction(0), None
    centred = rewards[i] - _baseline(rewards, others, batch, advantage, lengths)
    if advantage.scale == "none":
        return centred, None
    if advantage.scale == "mean":
        divisor = _mean(rewards) + advantage.exact_eps
        return (centred / divisor if divisor else Fraction(0)), None
    if advantage.scale == "leave_one_out_std":
        if len(set(others)) == 1 or len(others) <= advantage.ddof:
            return centred, None
        return centred, _variance(others, advantage.ddof)
    return centred, _variance(batch if advantage.scale == "batch_std" else rewards, advantage.ddof)


def _baseline(
    rewards: list[Fraction],
    others: list[Fraction],
    batch: list[Fraction],
    advantage: Advantage,
    lengths: list[Fraction] | None,
) -> Fraction:
    if advantage.baseline == "mean":
        return _mean(rewards)
    if advantage.baseline == "leave_one_out":
        return _mean(others)
    if advantage.baseline == "batch_mean":
        return _mean(batch)
    if advantage.baseline == "second_best":
        return sorted(rewards)[-2]
    if advantage.baseline == "length_weighted":
        assert lengths is not None
        return sum((length * reward for length, reward in zip(lengths, rewards, strict=True)), Fraction(0)) / sum(
            lengths
        )
    return Fraction(0)


def _mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def _variance(values: list[Fraction], ddof: int) -> Fraction:
    mean = _mean(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / max(len(values) - ddof, 1)


def _regularised_root(variance: Fraction, advantage: Advantage) -> RadicalSum:
    eps = advantage.exact_eps
    if advantage.eps_rule == "added":
        return square_root(variance) + eps
    return square_root(variance + eps) if advantage.eps_rule == "inside_root" else square_root(max(variance, eps))
