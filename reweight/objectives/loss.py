"""The loss of one given batch, as a trainer computes it: ratios, token weights, value."""

from __future__ import annotations

from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import choice, integer, number, real
from reweight.errors import InputError
from reweight.objectives.clip import Clip, detached_weight, surrogate
from reweight.objectives.objective import Aggregation, Objective
from reweight.objectives.ratio import Level

__all__ = ["batch_loss", "multiplier", "sequence_ratio", "token_ratios", "token_weights"]

Floats = NDArray[np.float64]
LARGEST_LOG_RATIO = 700.0  # its exponential is the last that float64 holds


def sequence_ratio(log_ratios: ArrayLike, mask: ArrayLike | None = None) -> Floats:
    """Compute the length-normalised importance ratio of answers: the geometric mean of their token ratios (GSPO).

    Parameters
    ----------
    log_ratios : array_like, shape (..., T)
        log pi - log pi_old of each token, in nats.
    mask : array_like of bool, same shape, optional
        Which tokens count; all by default.

    Returns
    -------
    ndarray, shape (...,)

    Raises
    ------
    InputError
        If the shapes differ, a counted log-ratio is not finite, or an answer has no token.

    Notes
    -----
    Source: N08.

    Examples
    --------
    >>> sequence_ratio([[0.4, 0.0], [0.4, -0.2]], [[True, False], [True, True]]).round(6)
    array([1.491825, 1.105171])
    """
    table, counted = _tokens(log_ratios, mask)
    return np.asarray(np.exp(np.where(counted, table, 0.0).sum(-1) / counted.sum(-1)))


def token_ratios(log_ratios: Floats, mask: NDArray[np.bool_], level: Level) -> Floats:
    """Return the ratio in each token's term of the loss, shape (..., T); one where the mask is False."""
    table = np.where(mask, log_ratios, 0.0)
    if level in ("token", "detached_weight"):
        return np.exp(table)
    whole = table.sum(-1, keepdims=True)
    if level == "sequence_mean":
        whole = whole / mask.sum(-1, keepdims=True)
    return np.exp(np.where(mask, whole, 0.0))


def multiplier(ratio: Floats, sign: float, clip: Clip | None, level: Level) -> Floats:
    """Return what multiplies |advantage| * grad log(ratio) in a token's gradient, by the sign of the advantage."""
    if level == "detached_weight":
        return sign * detached_weight(ratio, clip)
    return np.asarray(ratio * surrogate(ratio, sign, clip)[1])


def token_weights(
    lengths: ArrayLike,
    aggregation: Aggregation = "token_mean",
    *,
    constant_length: float | None = None,
    group_size: int | None = None,
) -> Floats:
    """Compute the weight of each token of each answer in the loss of one batch.

    Parameters
    ----------
    lengths : array_like, shape (n,)
        Tokens of each answer of the batch.
    aggregation : {"token_mean", "prompt_token_mean", "sequence_mean", "sequence_sum", "constant"}
        As in Objective.
    constant_length : float, optional
        For "constant".
    group_size : int, optional
        For "prompt_token_mean": each prompt's answers are so many in a row.

    Returns
    -------
    ndarray, shape (n,)
        The loss is minus the sum over tokens of weight times term.

    Raises
    ------
    InputError
        If a length is not positive, or an option is missing.

    Examples
    --------
    >>> token_weights([1, 4]), token_weights([1, 4], "sequence_mean")
    (array([0.2, 0.2]), array([0.5  , 0.125]))
    """
    tokens = real(lengths, "lengths", at_least=0.0)
    choice(aggregation, "aggregation", get_args(Aggregation))
    if tokens.ndim != 1 or tokens.size == 0 or not (tokens > 0).all():
        raise InputError("lengths are no row of positive numbers of tokens: give one length an answer")
    count = len(tokens)
    if aggregation == "token_mean":
        return np.full(count, 1.0 / tokens.sum())
    if aggregation == "prompt_token_mean":
        size = count if group_size is None else group_size
        integer(size, "group_size", at_least=1)
        if count % size:
            raise InputError(f"{count} answers are no whole number of groups of {size}")
        totals = tokens.reshape(-1, size).sum(axis=1)
        return np.repeat(1.0 / (totals * len(totals)), size)
    if aggregation == "sequence_mean":
        return np.asarray(1.0 / (count * tokens))
    if aggregation == "sequence_sum":
        return np.full(count, 1.0 / count)
    if constant_length is None:
        raise InputError("aggregation 'constant' needs constant_length, in tokens")
    number(constant_length, "constant_length", above=0.0)
    return np.full(count, 1.0 / (count * constant_length))


def batch_loss(
    log_ratios: ArrayLike, advantages: ArrayLike, objective: Objective, *, mask: ArrayLike | None = None
) -> tuple[float, Floats]:
    """Compute the policy loss of one given batch, and what multiplies grad log pi of each of its tokens.

    Parameters
    ----------
    log_ratios : array_like, shape (n, T)
        log pi - log pi_old by token, in nats.
    advantages : array_like, shape (n,) or (n, T)
        Advantage of each answer, or of each token.
    objective : Objective
        Its ratio, clip and aggregation are used; a KL penalty is not part of this loss.
    mask : array_like of bool, shape (n, T), optional
        Which tokens are the policy's own; all by default.

    Returns
    -------
    value : float
        The loss: minus the aggregated surrogate.
    weights : ndarray, shape (n, T)
        minus d loss / d log pi of each token; zero where the mask is False.

    Raises
    ------
    InputError
        If the shapes do not fit together or a number is not finite.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> value, weights = batch_loss([[0.0], [0.0]], [1, -1], Objective(Advantage(), 2))
    >>> value, weights.tolist()
    (-0.0, [[0.5], [-0.5]])
    """
    table, counted = _tokens(log_ratios, mask)
    if table.ndim != 2:
        raise InputError(f"log_ratios have shape {table.shape}: give (answers, tokens)")
    a = real(advantages, "advantages")
    if a.shape not in (table.shape, table.shape[:1]):
        raise InputError(f"advantages of shape {a.shape} for log_ratios {table.shape}: give one an answer or token")
    a = np.broadcast_to(a if a.ndim == 2 else a[:, None], table.shape)
    level, clip = objective.ratio.level, objective.clip
    weight = token_weights(
        counted.sum(1),
        objective.aggregation,
        constant_length=objective.constant_length,
        group_size=objective.group_size if objective.aggregation == "prompt_token_mean" else None,
    )[:, None]
    ratio = token_ratios(table, counted, level)
    value = detached_weight(ratio, clip) * a if level == "detached_weight" else surrogate(ratio, a, clip)[0]
    terms = np.where(a > 0, a * multiplier(ratio, 1.0, clip, level), -a * multiplier(ratio, -1.0, clip, level))
    slopes = np.where(counted, weight * terms, 0.0)
    if level == "sequence_mean":  # each term holds 1/|y| of every token's log-ratio
        slopes = np.where(counted, slopes.sum(1, keepdims=True) / counted.sum(1, keepdims=True), 0.0)
    if level == "sequence_product":
        slopes = np.where(counted, slopes.sum(1, keepdims=True), 0.0)
    return -float((np.where(counted, value, 0.0) * weight).sum()), slopes


def _tokens(log_ratios: ArrayLike, mask: ArrayLike | None) -> tuple[Floats, NDArray[np.bool_]]:
    table = np.asarray(log_ratios, dtype=np.float64)
    counted = np.ones(table.shape, dtype=bool) if mask is None else np.asarray(mask)
    if table.ndim == 0 or counted.shape != table.shape or counted.dtype != bool:
        raise InputError(
            f"log_ratios have shape {table.shape}, the mask {counted.shape} of {counted.dtype}: give one bool a token"
        )
    if not (np.abs(table[counted]) <= LARGEST_LOG_RATIO).all():
        raise InputError(
            f"a log-ratio is not finite or beyond {LARGEST_LOG_RATIO:g}: mask the tokens that do not count"
        )
    if not counted.any(-1).all():
        raise InputError("an answer has no token that counts: leave it out")
    return table, counted
