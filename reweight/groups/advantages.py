"""Advantages of given groups of rewards, in float64 or exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.errors import InputError
from reweight.groups.exact_advantages import exact_advantages, zero_when_constant
from reweight.objectives.advantage import Advantage

__all__ = ["Sample", "advantages", "float_advantages", "regularised", "second_stage", "standardised"]

Floats = NDArray[np.float64]
LARGEST_REWARD = 1e300
LARGEST_BLOCK = 10_000_000


def advantages(rewards: ArrayLike, advantage: Advantage, *, lengths: ArrayLike | None = None) -> NDArray[Any]:
    """Compute the advantage of each sample of given groups.

    Parameters
    ----------
    rewards : array_like, shape (..., B, G) or (G,)
        One group a row; B groups are one batch; leading axes are independent batches. NaN is a missing reward. An array
        of objects (Fractions, integers) is computed exactly.
    advantage : Advantage
        The description of baseline, scale and conventions.
    lengths : array_like, same shape as `rewards`, optional
        Answer lengths in tokens; needed by the length-weighted baseline and by token whitening.

    Returns
    -------
    numpy.ndarray, same shape as `rewards`
        float64, or objects of type RadicalSum where the rewards were exact.

    Raises
    ------
    InputError
        If rewards are not numbers, lengths are needed and absent, or a rule of `advantage` says that this input is an
        error.

    Notes
    -----
    A constant group is decided by equality of its rewards, so it is exactly zero in every precision (H10).

    Examples
    --------
    >>> advantages([1.0, 0.0, 0.0, 0.0], Advantage()).round(4)
    array([ 1.7321, -0.5774, -0.5774, -0.5774])
    >>> from fractions import Fraction
    >>> print(*advantages([Fraction(1), Fraction(0), Fraction(0), Fraction(0)], Advantage()))
    1*sqrt(3) -1/3*sqrt(3) -1/3*sqrt(3) -1/3*sqrt(3)
    """
    values = np.asarray(rewards)
    if values.ndim == 0 or values.shape[-1] == 0:
        raise InputError("rewards hold no group: give an array whose last axis is the group")
    weights = None if lengths is None else _matching_lengths(lengths, values.shape)
    if (advantage.baseline == "length_weighted" or advantage.second == "token_whiten") and weights is None:
        raise InputError("a length-weighted baseline or token whitening needs lengths: give one length a reward")
    if values.dtype == object:
        return exact_advantages(values, advantage, lengths=weights)
    try:
        table = values.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"rewards of type {values.dtype} are not numbers: give floats or Fractions") from None
    if (np.abs(table) > LARGEST_REWARD).any():
        raise InputError("a reward is infinite or above 1e300: give finite rewards, or NaN for a missing one")
    batches = table.reshape((1, *table.shape)) if table.ndim == 1 else table
    shaped = None if weights is None else weights.reshape(batches.shape)
    first = float_advantages(batches, replace(advantage, second=None), shaped)
    return second_stage(first, np.isnan(batches) & (advantage.missing == "exclude"), advantage, shaped).reshape(
        table.shape
    )


def _matching_lengths(lengths: ArrayLike, shape: tuple[int, ...]) -> Floats:
    weights = np.asarray(lengths, dtype=np.float64)
    if weights.shape != shape:
        raise InputError(f"lengths have shape {weights.shape}, rewards {shape}: give one length a reward")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise InputError("a length is not a positive number: give lengths in tokens")
    return weights


def float_advantages(
    rewards: Floats,
    advantage: Advantage,
    lengths: Floats | None = None,
    *,
    members: Sequence[int] | None = None,
    batch: Sample | None = None,
) -> Floats:
    """Compute the advantages of the given members (all by default) of groups (..., B, G); shape (..., B, M).

    The vectorised twin of `exact_advantages` but for the second normalisation, which is `second_stage`. `batch` says
    what the batch is, by the given members alone in `centred`, where it is more than these groups. Everything is
    measured from the smallest of the rewards that it is about, in units of their range: so neither a common offset nor
    the unit of the rewards costs a digit.
    """
    missing = np.isnan(rewards)
    if missing.any():
        if advantage.missing == "error":
            raise InputError("a reward is missing (NaN): set missing to 'exclude' or 'zero', or give the reward")
        if advantage.missing == "zero":
            rewards, missing = np.where(missing, 0.0, rewards), np.zeros_like(missing)
    chosen = list(range(rewards.shape[-1])) if members is None else list(members)
    group = _sample(rewards, missing, -1, advantage.ddof)
    if batch is None:
        batch = _sample(rewards, missing, (-2, -1), advantage.ddof) if advantage.couples_prompts else group
        batch = replace(batch, centred=batch.centred[..., chosen])
    result = _scaled(rewards, missing, group, batch, advantage, lengths, chosen)
    if advantage.selection == "best":
        highest = np.where(missing, -np.inf, rewards).max(-1, keepdims=True)
        single = (rewards == highest).sum(-1, keepdims=True) == 1
        result = np.where(single & (rewards == highest)[..., chosen], result, 0.0)
    if zero_when_constant(advantage):
        result = np.where(group.constant, 0.0, result)
    result = np.where(missing[..., chosen], 0.0, result)
    return _apply_singleton_rule(result, rewards[..., chosen], missing[..., chosen], group.count, advantage)


def second_stage(values: Floats, missing: NDArray[np.bool_], advantage: Advantage, lengths: Floats | None) -> Floats:
    """Standardise advantages (..., B, G) once more over each batch, as `Advantage.second` says; equal ones are zero."""
    if advantage.second is None:
        return values
    axes = (-2, -1)
    whiten = advantage.second == "token_whiten"
    tokens = lengths if whiten and lengths is not None else np.ones_like(values)
    weights = np.where(missing, 0.0, tokens)
    sample = _sample(values, missing, axes, advantage.ddof)
    total = weights.sum(axes, keepdims=True)
    mean = (weights * sample.values).sum(axes, keepdims=True) / np.maximum(total, np.finfo(float).tiny)
    centred = sample.values - mean
    result = standardised(sample.unit, centred, (weights * centred**2).sum(axes, keepdims=True), total, advantage)
    return np.where(missing | sample.constant, 0.0, result)


def standardised(unit: Floats, centred: Floats, squares: Floats, total: Floats, advantage: Advantage) -> Floats:
    """Return z-scores of centred values, given the sum of weighted squares and of weights; zero without a spread."""
    variance = squares / np.maximum(total - advantage.ddof, np.finfo(float).tiny)
    std = np.where(total > advantage.ddof, np.sqrt(variance), 0.0)
    return np.where(std > 0, _divided(unit, centred, unit, std, advantage), 0.0)


@dataclass(frozen=True, eq=False)
class Sample:
    """Rewards seen from the smallest of them, in units of their range; statistics over the axis that was named."""

    unit: Floats
    values: Floats
    centred: Floats
    std: Floats
    count: Floats
    constant: NDArray[np.bool_]


def _sample(rewards: Floats, missing: NDArray[np.bool_], axis: int | tuple[int, ...], ddof: int) -> Sample:
    low = np.where(missing, np.inf, rewards).min(axis, keepdims=True)
    high = np.where(missing, -np.inf, rewards).max(axis, keepdims=True)
    constant = ~(high > low)
    count = (~missing).sum(axis, keepdims=True).astype(np.float64)
    unit = np.where(constant, 1.0, np.where(constant, 1.0, high) - np.where(constant, 0.0, low))
    values = np.where(missing | constant, 0.0, (rewards - np.where(constant, 0.0, low)) / unit)
    centred = np.where(missing, 0.0, values - values.sum(axis, keepdims=True) / np.maximum(count, 1))
    std = np.sqrt((centred**2).sum(axis, keepdims=True) / np.maximum(count - ddof, 1))
    return Sample(unit, values, centred, std, count, constant)


def _scaled(
    rewards: Floats,
    missing: NDArray[np.bool_],
    group: Sample,
    batch: Sample,
    advantage: Advantage,
    lengths: Floats | None,
    members: list[int],
) -> Floats:
    """(reward - baseline) / scale, each as a number times its unit."""
    scale, ddof = advantage.scale, advantage.ddof
    if advantage.baseline == "batch_mean":
        unit, centred = batch.unit, batch.centred
    else:
        unit, centred = _centred(rewards, missing, group, advantage.baseline, lengths)
        centred = centred[..., members]
    if scale == "none":
        return unit * centred
    if scale == "mean":
        mean_unit, mean = _exact_mean(rewards, missing)
        if advantage.eps > 0:
            mean_unit, mean = np.ones(1), mean_unit * mean + float(advantage.eps)
        return np.divide(centred, mean, out=np.zeros_like(centred), where=mean != 0) * (unit / mean_unit)
    if scale == "leave_one_out_std":
        std_unit, std = _leave_one_out(rewards, missing, ddof, members)
        return np.where(
            std > 0, _divided(unit, centred, std_unit, np.where(std > 0, std, 1.0), advantage), unit * centred
        )
    spread = batch if scale == "batch_std" else group
    return _divided(unit, centred, spread.unit, spread.std, advantage)


def _centred(
    rewards: Floats,
    missing: NDArray[np.bool_],
    group: Sample,
    baseline: str,
    lengths: Floats | None,
) -> tuple[Floats, Floats]:
    """Return a unit and reward minus baseline in that unit."""
    if baseline == "mean":
        return group.unit, group.centred
    if baseline == "leave_one_out":
        return group.unit, group.centred * (group.count / np.maximum(group.count - 1, 1))
    if baseline == "length_weighted":
        assert lengths is not None
        weights = np.where(missing, 0.0, lengths)
        total = np.maximum(weights.sum(-1, keepdims=True), np.finfo(float).tiny)
        return group.unit, group.values - (weights * group.values).sum(-1, keepdims=True) / total
    if baseline == "second_best":
        ordered = np.sort(np.where(missing, -np.inf, rewards), axis=-1)
        second = ordered[..., -2:-1] if rewards.shape[-1] > 1 else ordered
        unit = _power_of_two(rewards, missing)
        return unit, (rewards - np.where(np.isfinite(second), second, rewards)) / unit
    unit = _power_of_two(rewards, missing)
    return unit, rewards / unit


def _divided(unit: Floats, centred: Floats, std_unit: Floats, std: Floats, advantage: Advantage) -> Floats:
    eps = float(advantage.eps)
    if eps == 0:
        return np.where(std > 0, centred / np.where(std > 0, std, 1.0), 0.0) * (unit / std_unit)
    return np.asarray(unit * centred / regularised(std_unit * std, advantage))


def regularised(std: Floats, advantage: Advantage) -> Floats:
    """Return the divisor that a standard deviation gives under the rule for eps."""
    eps = float(advantage.eps)
    if advantage.eps_rule == "added":
        return std + eps
    return np.asarray((np.hypot if advantage.eps_rule == "inside_root" else np.maximum)(std, np.sqrt(eps)))


def _power_of_two(rewards: Floats, missing: NDArray[np.bool_]) -> Floats:
    """Return the power of two next to the largest absolute reward of the group: a unit that costs no rounding."""
    largest = np.where(missing, 0.0, np.abs(rewards)).max(-1, keepdims=True)
    exponent = np.frexp(largest)[1] - 1
    return np.asarray(np.ldexp(1.0, np.where(largest > 0, exponent, 0)))


def _exact_mean(rewards: Floats, missing: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return a unit and the group's mean in it, from a correctly rounded sum: zero exactly when the rewards cancel."""
    unit = _power_of_two(rewards, missing)
    total = np.apply_along_axis(math.fsum, -1, np.where(missing, 0.0, rewards / unit))
    return unit, np.asarray(total[..., None] / np.maximum((~missing).sum(-1, keepdims=True), 1))


def _leave_one_out(rewards: Floats, missing: NDArray[np.bool_], ddof: int, members: list[int]) -> tuple[Floats, Floats]:
    """Return the unit and the standard deviation in it of the members but one, (..., M); zero where it is undefined."""
    rows = rewards.reshape(-1, rewards.shape[-1])
    absent = missing.reshape(rows.shape)
    left_out = np.zeros((len(members), rows.shape[1]), dtype=bool)
    left_out[np.arange(len(members)), members] = True
    block = max(1, LARGEST_BLOCK // max(left_out.size, 1))
    units, deviations = [], []
    for start in range(0, len(rows), block):
        part = slice(start, start + block)
        without = absent[part, None, :] | left_out
        others = _sample(np.broadcast_to(rows[part, None, :], without.shape), without, -1, ddof)
        units.append(others.unit[..., 0])
        deviations.append(np.where(others.count[..., 0] > ddof, others.std[..., 0], 0.0))
    shape = (*rewards.shape[:-1], len(members))
    return np.concatenate(units).reshape(shape), np.concatenate(deviations).reshape(shape)


def _apply_singleton_rule(
    result: Floats, rewards: Floats, missing: NDArray[np.bool_], count: Floats, advantage: Advantage
) -> Floats:
    lonely = count == 1
    if not (advantage.needs_group and lonely.any()):
        return result
    if advantage.singleton == "error":
        raise InputError("a group has one valid reward and no group statistic: set singleton to 'zero' or 'reward'")
    if advantage.singleton == "zero":
        return np.where(lonely, 0.0, result)
    divisor = regularised(np.ones_like(rewards), advantage) if advantage.scale == "std" else 1.0
    return np.where(lonely & ~missing, rewards / divisor, result)
