"""How far two policies are apart: KL divergence, total variation, Fisher-Rao distance; and entropy."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reweight.checks import Floats, distribution, plain, shapes, unit

__all__ = ["bernoulli_kl", "binary_kl", "entropy", "fisher_rao", "kl", "total_variation"]

SERIES = 17
"""Terms of the artanh series below; with a squared argument of at most 1/9 the next is below 1e-17 of the first."""


def entropy(probabilities: ArrayLike) -> Floats:
    """Shannon entropy of a policy, with 0 log 0 = 0.

    Parameters
    ----------
    probabilities : array_like, shape (..., N)
        Policy over the N answers.

    Returns
    -------
    ndarray, shape (...)
        Entropy in nats; a scalar for one policy.

    Raises
    ------
    InputError
        If a probability is outside [0, 1] or NaN, or their sum is not one within 1e-9.

    Notes
    -----
    Source: R23 (what it does along a tilt).

    Examples
    --------
    >>> round(float(entropy([0.5, 0.5, 0.0])), 6)
    0.693147
    """
    from scipy.special import entr

    return plain(np.asarray(entr(distribution(probabilities, "probabilities")).sum(axis=-1)))


def kl(p: ArrayLike, q: ArrayLike) -> Floats:
    """Kullback-Leibler divergence KL(p || q) = sum p log(p / q).

    Parameters
    ----------
    p, q : array_like, shape (..., N)
        Two policies over the same N answers.

    Returns
    -------
    ndarray, shape (...)
        Divergence in nats; inf where p has mass that q lacks. A scalar for two single policies.

    Raises
    ------
    InputError
        If either is no distribution (sum within 1e-9 of one), or the shapes do not fit.

    Notes
    -----
    Source: R27, R12 for the two directions in which GRPO code penalises.
    The sum is taken over p log(p/q) - p + q, which is never negative and adds zero in total, so two close policies lose
    no digits to cancellation.

    Examples
    --------
    >>> round(float(kl([0.6, 0.3, 0.1], [0.2, 0.3, 0.5])), 12)
    0.498223581957
    >>> float(kl([0.5, 0.5], [1.0, 0.0]))
    inf
    """
    left, right = distribution(p, "p"), distribution(q, "q")
    shapes(p=left, q=right)
    return plain(_excess(left, right, left - right).sum(axis=-1))


def binary_kl(p: ArrayLike, q: ArrayLike) -> Floats:
    """Divergence kl(p || q) between two success probabilities.

    Parameters
    ----------
    p, q : array_like, shape (...)
        Two probabilities; the floats are taken as exact.

    Returns
    -------
    ndarray, shape (...)
        p log(p/q) + (1-p) log((1-p)/(1-q)) in nats, inf where q excludes what p allows. A scalar for scalar input.

    Raises
    ------
    InputError
        If a value is outside [0, 1] or NaN, or the shapes do not fit.

    Notes
    -----
    Source: R27 (the KL leash), R07 (KL along a tilt).

    Examples
    --------
    >>> round(float(binary_kl(0.9, 0.5)), 6)
    0.368064
    >>> float(binary_kl(0.0, 0.0)), float(binary_kl(0.5, 0.0))
    (0.0, inf)
    """
    left, right = unit(p, "p"), unit(q, "q")
    shapes(p=left, q=right)
    return plain(bernoulli_kl(left, right, left - right, 1.0 - left, 1.0 - right))


def bernoulli_kl(p: Floats, q: Floats, difference: Floats, p_complement: Floats, q_complement: Floats) -> Floats:
    """Binary KL from p, q, p - q, 1 - p, 1 - q, for callers that know these five better than subtraction would."""
    return _excess(p, q, difference) + _excess(p_complement, q_complement, -difference)


def total_variation(p: ArrayLike, q: ArrayLike) -> Floats:
    """Total variation distance, half the sum of absolute differences.

    Parameters
    ----------
    p, q : array_like, shape (..., N)
        Two policies over the same N answers.

    Returns
    -------
    ndarray, shape (...)
        Distance between 0 and 1: the largest difference in the probability of any set of answers.

    Raises
    ------
    InputError
        If either is no distribution (sum within 1e-9 of one), or the shapes do not fit.

    Notes
    -----
    Source: textbook definition; it bounds the change of every pass rate on the prompt.

    Examples
    --------
    >>> round(float(total_variation([0.6, 0.3, 0.1], [0.2, 0.3, 0.5])), 12)
    0.4
    """
    left, right = distribution(p, "p"), distribution(q, "q")
    shapes(p=left, q=right)
    return plain(np.abs(left - right).sum(axis=-1) / 2.0)


def fisher_rao(p: ArrayLike, q: ArrayLike) -> Floats:
    """Fisher-Rao distance 2 arccos(sum sqrt(p q)).

    Parameters
    ----------
    p, q : array_like, shape (..., N)
        Two policies over the same N answers.

    Returns
    -------
    ndarray, shape (...)
        Distance in radians, from 0 to pi; a scalar for two single policies.

    Raises
    ------
    InputError
        If either is no distribution (sum within 1e-9 of one), or the shapes do not fit.

    Notes
    -----
    Source: R26. Computed as 4 arcsin(|sqrt p - sqrt q| / 2), the same angle from its chord, since the arc cosine of a
    number near one has no digits left. For pass rates alone it is 2 |arcsin sqrt(p) - arcsin sqrt(q)|.

    Examples
    --------
    >>> round(float(fisher_rao([1.0, 0.0], [0.0, 1.0])), 12)
    3.14159265359
    """
    left, right = distribution(p, "p"), distribution(q, "q")
    shapes(p=left, q=right)
    total = np.sqrt(left) + np.sqrt(right)
    # sqrt p - sqrt q as (p - q) / (sqrt p + sqrt q): the difference of close roots keeps its digits.
    gaps = np.divide(left - right, total, out=np.zeros_like(total), where=total > 0)
    return plain(4.0 * np.arcsin(np.minimum(np.sqrt((gaps**2).sum(axis=-1)) / 2.0, 1.0)))


def _excess(p: Floats, q: Floats, difference: Floats) -> Floats:
    """Terms p log(p / q) - p + q, elementwise and never negative, with p - q given separately."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = difference / q
        near = (np.abs(difference) <= q / 2.0) & (q > 0)
        # (1 + t) log(1 + t) - t = t^2 + (1 + t)(log(1 + t) - t), the second term about minus half the first
        t = np.where(near, ratio, 0.0)
        close = q * (t * t + (1.0 + t) * _log1p_excess(t))
        far = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0) - difference
    return np.where(near, close, far)


def _log1p_excess(t: Floats) -> Floats:
    """log(1 + t) - t for |t| <= 1/2, without cancellation: log(1 + t) is twice artanh s with s = t / (2 + t)."""
    s = t / (2.0 + t)
    square = s * s
    tail = np.zeros_like(s)
    for k in range(SERIES, 0, -1):
        tail = square * (tail + 1.0 / (2 * k + 1))
    return s * (2.0 * tail - t)
