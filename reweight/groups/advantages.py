"""Advantages of given groups of rewards, in float64 or exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.errors import InputError
from reweight.groups.exact import exact_advantages
from reweight.objectives.advantage import Advantage

__all__ = ["advantages"]

Floats = NDArray[np.float64]


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
        Answer lengths in tokens; needed by the length-weighted baseline.

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
    A constant group is decided by equality of its rewards, so it is exactly zero in every precision (theory.md H10).

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
    if advantage.baseline == "length_weighted" and weights is None:
        raise InputError("the length-weighted baseline needs lengths: give one length a reward")
    if values.dtype == object:
        return exact_advantages(values, advantage, lengths=weights)
    try:
        table = values.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"rewards of type {values.dtype} are not numbers: give floats or Fractions") from None
    if np.isinf(table).any():
        raise InputError("a reward is infinite: give finite rewards, or NaN for a missing one")
    batches = table.reshape((1, *table.shape)) if table.ndim == 1 else table
    shaped = None if weights is None else weights.reshape(batches.shape)
    return _float_advantages(batches, advantage, shaped).reshape(table.shape)


def _matching_lengths(lengths: ArrayLike, shape: tuple[int, ...]) -> Floats:
    weights = np.asarray(lengths, dtype=np.float64)
    if weights.shape != shape:
        raise InputError(f"lengths have shape {weights.shape}, rewards {shape}: give one length a reward")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise InputError("a length is not a positive number: give lengths in tokens")
    return weights


def _float_advantages(rewards: Floats, advantage: Advantage, lengths: Floats | None) -> Floats:
    """Rewards (..., B, G): the vectorised twin of exact.exact_advantages."""
    missing = np.isnan(rewards)
    if missing.any():
        if advantage.missing == "error":
            raise InputError("a reward is missing (NaN): set missing to 'exclude' or 'zero', or give the reward")
        if advantage.missing == "zero":
            rewards, missing = np.where(missing, 0.0, rewards), np.zeros_like(missing)
    count = (~missing).sum(-1, keepdims=True)
    low = np.where(missing, np.inf, rewards).min(-1, keepdims=True)
    high = np.where(missing, -np.inf, rewards).max(-1, keepdims=True)
    constant = ~(high > low)
    # Shifting by the smallest reward is exact to one rounding and keeps a large common offset out of every mean.
    shifted = np.where(missing, 0.0, rewards - np.where(np.isfinite(low), low, 0.0))
    centred = _subtract_baseline(rewards, shifted, missing, count, advantage, lengths)
    result = _divide_by_scale(centred, rewards, shifted, missing, count, advantage)
    if advantage.selection == "best":
        best = ~missing & (rewards == high) & ((rewards == high).sum(-1, keepdims=True) == 1)
        result = np.where(best, result, 0.0)
    if advantage.baseline not in ("none", "batch_mean") or advantage.scale in ("std", "leave_one_out_std"):
        result = np.where(constant, 0.0, result)
    result = np.where(missing, 0.0, result)
    return _apply_singleton_rule(result, rewards, missing, count, advantage)


def _mean(values: Floats, missing: NDArray[np.bool_], axis: int | tuple[int, ...]) -> Floats:
    count = np.maximum((~missing).sum(axis, keepdims=True), 1)
    return np.asarray(np.where(missing, 0.0, values).sum(axis, keepdims=True) / count)


def _subtract_baseline(
    rewards: Floats,
    shifted: Floats,
    missing: NDArray[np.bool_],
    count: NDArray[np.int_],
    advantage: Advantage,
    lengths: Floats | None,
) -> Floats:
    baseline = advantage.baseline
    if baseline == "mean":
        return shifted - _mean(shifted, missing, -1)
    if baseline == "leave_one_out":
        return (shifted - _mean(shifted, missing, -1)) * (count / np.maximum(count - 1, 1))
    if baseline == "length_weighted":
        assert lengths is not None
        weights = np.where(missing, 0.0, lengths)
        total = np.maximum(weights.sum(-1, keepdims=True), np.finfo(float).tiny)
        return np.asarray(shifted - (weights * shifted).sum(-1, keepdims=True) / total)
    if baseline == "second_best":
        ordered = np.sort(np.where(missing, -np.inf, rewards), axis=-1)
        second = ordered[..., -2:-1] if rewards.shape[-1] > 1 else ordered
        return rewards - np.where(np.isfinite(second), second, rewards)
    if baseline == "batch_mean":
        return rewards - _mean(rewards, missing, (-2, -1))
    return rewards.copy()


def _divide_by_scale(
    centred: Floats,
    rewards: Floats,
    shifted: Floats,
    missing: NDArray[np.bool_],
    count: NDArray[np.int_],
    advantage: Advantage,
) -> Floats:
    scale = advantage.scale
    if scale == "none":
        return centred
    if scale == "mean":
        mean = _mean(rewards, missing, -1) + float(advantage.eps)
        return np.divide(centred, mean, out=np.zeros_like(centred), where=mean != 0)
    if scale == "leave_one_out_std":
        variance, constant = _leave_one_out_variance(shifted, missing, count, advantage.ddof)
        divisor = _regularised_root(variance, advantage)
        return np.where(constant, centred, centred / np.where(constant, 1.0, divisor))
    axes: int | tuple[int, ...] = (-2, -1) if scale == "batch_std" else -1
    values = rewards if scale == "batch_std" else shifted
    deviation = np.where(missing, 0.0, values - _mean(values, missing, axes))
    members = (~missing).sum(axes, keepdims=True)
    spread = np.abs(deviation).max(axes, keepdims=True)
    unit = np.where(spread > 0, spread, 1.0)
    variance = unit**2 * ((deviation / unit) ** 2).sum(axes, keepdims=True) / np.maximum(members - advantage.ddof, 1)
    divisor = _regularised_root(variance, advantage)
    return np.divide(centred, divisor, out=np.zeros_like(centred), where=divisor > 0)


def _regularised_root(variance: Floats, advantage: Advantage) -> Floats:
    eps = float(advantage.eps)
    if advantage.eps_rule == "added":
        return np.sqrt(variance) + eps
    return np.sqrt(variance + eps) if advantage.eps_rule == "inside_root" else np.sqrt(np.maximum(variance, eps))


def _leave_one_out_variance(
    shifted: Floats, missing: NDArray[np.bool_], count: NDArray[np.int_], ddof: int
) -> tuple[Floats, NDArray[np.bool_]]:
    """Variance of the other members, and where they are all equal or too few to have one; both (..., G)."""
    size = shifted.shape[-1]
    absent = missing[..., None, :] | np.eye(size, dtype=bool)
    others = np.broadcast_to(shifted[..., None, :], absent.shape)
    highest = np.where(absent, -np.inf, others).max(-1)
    lowest = np.where(absent, np.inf, others).min(-1)
    deviation = np.where(absent, 0.0, others - _mean(others, absent, -1))
    degrees = count - 1 - ddof
    variance = (deviation**2).sum(-1) / np.maximum(degrees, 1)
    return variance, ~(highest > lowest) | (degrees < 1)


def _apply_singleton_rule(
    result: Floats, rewards: Floats, missing: NDArray[np.bool_], count: NDArray[np.int_], advantage: Advantage
) -> Floats:
    lonely = count == 1
    if not (advantage.needs_group and lonely.any()):
        return result
    if advantage.singleton == "error":
        raise InputError("a group has one valid reward and no group statistic: set singleton to 'zero' or 'reward'")
    if advantage.singleton == "zero":
        return np.where(lonely, 0.0, result)
    divisor = _regularised_root(np.ones_like(rewards), advantage) if advantage.scale == "std" else 1.0
    return np.where(lonely & ~missing, rewards / divisor, result)
