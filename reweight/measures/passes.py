"""Success within k attempts: pass@k of a known pass rate, its unbiased estimate from counts, and coverage@k."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reweight.checks import Floats, distribution, mask, plain, real, shapes, unit, whole
from reweight.errors import InputError

__all__ = ["coverage_at_k", "estimate_pass_at_k", "pass_at_k"]

CERTAIN = 40.0
"""If c k / n exceeds this, the chance of no success is below e^-40, and 1 minus it is 1 in float64."""


def pass_at_k(pass_rate: ArrayLike, k: ArrayLike) -> Floats:
    """Chance 1 - (1 - p)^k that at least one of k independent attempts succeeds.

    Parameters
    ----------
    pass_rate : array_like, shape (...)
        Probability p that one attempt is correct.
    k : array_like, shape (...)
        Number of attempts, whole and at least 0; it may be as large as 1e12 and beyond.

    Returns
    -------
    ndarray, shape (...)
        pass@k, to relative accuracy 1e-14 or so even where it is tiny; a scalar for scalar input.

    Raises
    ------
    InputError
        If a pass rate is outside [0, 1] or NaN, or k is negative, not whole or not finite.

    Notes
    -----
    Source: N05 (Yue et al., arXiv 2504.13837). With p the mass of a set of answers, it is the chance to see that set.

    Examples
    --------
    >>> round(float(pass_at_k(0.1, 8)), 8)
    0.56953279
    >>> float(pass_at_k(1e-300, 10**12))
    1e-288
    """
    p, draws = unit(pass_rate, "pass_rate"), whole(k, "k", at_least=0)
    shapes(pass_rate=p, k=draws)
    # At p = 1 the logarithm is -inf, and 0 * -inf is not a number: no attempts is no success even then.
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = -np.expm1(draws * np.log1p(-p))
    return plain(np.where(draws == 0, 0.0, chance + 0.0))


def estimate_pass_at_k(n: ArrayLike, c: ArrayLike, k: ArrayLike) -> Floats:
    """Unbiased estimate 1 - C(n-c, k) / C(n, k) of pass@k from c correct answers among n.

    Parameters
    ----------
    n, c : array_like, shape (...)
        Samples drawn and samples found correct, for each prompt.
    k : array_like, shape (...)
        Number of attempts, at least 1; the three arguments broadcast.

    Returns
    -------
    ndarray, shape (...)
        The estimate, NaN where k > n: no unbiased estimate exists there, whatever c is. A scalar for scalar input.

    Raises
    ------
    InputError
        If a count is negative or not whole, c > n, or k < 1.

    Notes
    -----
    Source: N05 (Yue et al., arXiv 2504.13837), after Chen et al., arXiv 2107.03374.
    The share of failing subsets is a product of min(c, k) factors, summed as logarithms of like sign, so nothing
    cancels; when more than sqrt(40 n) factors would be needed the estimate is 1 in float64.

    Examples
    --------
    >>> round(float(estimate_pass_at_k(200, 3, 100)), 12)
    0.876884422111
    >>> estimate_pass_at_k([4, 4, 99], [1, 1, 0], [2, 4, 100])
    array([0.5, 1. , nan])
    """
    samples, correct = whole(n, "n", at_least=0), whole(c, "c", at_least=0)
    attempts = whole(k, "k", at_least=1)
    shapes(n=samples, c=correct, k=attempts)
    samples, correct, attempts = np.broadcast_arrays(samples, correct, attempts)
    if np.any(correct > samples):
        raise InputError("c must not exceed n: a prompt cannot have more correct samples than samples.")
    table = np.stack([samples, correct, attempts], axis=-1).reshape(-1, 3)
    rows, where = np.unique(table, axis=0, return_inverse=True)
    estimates = np.array([_estimate(*row) for row in rows], dtype=np.float64)
    return plain(estimates[where.reshape(-1)].reshape(samples.shape))


def _estimate(n: float, c: float, k: float) -> float:
    """Estimate for one prompt, all three numbers whole."""
    if k > n:
        return np.nan
    if n - c < k or c * k > CERTAIN * n:
        return 1.0
    few, many = min(c, k), max(c, k)
    return float(-np.expm1(np.log1p(-many / (n - np.arange(few))).sum())) + 0.0


def coverage_at_k(probabilities: ArrayLike, correct: ArrayLike, k: ArrayLike) -> Floats:
    """Expected number of distinct correct answers among k independent draws.

    Parameters
    ----------
    probabilities : array_like, shape (..., N)
        Policy over the N answers.
    correct : array_like of bool, shape (..., N)
        Which answers are correct.
    k : array_like, shape (...)
        Number of draws, whole and at least 0.

    Returns
    -------
    ndarray, shape (...)
        Sum over the correct answers y of 1 - (1 - pi(y))^k, in answers; a scalar for scalar k and one policy.

    Raises
    ------
    InputError
        If the probabilities do not sum to one within 1e-9, or shapes do not fit, or k is not a count.

    Notes
    -----
    Source: C73. It can fall while pass@k rises: that is diversity lost within the correct set.

    Examples
    --------
    >>> round(float(coverage_at_k([0.25, 0.15, 0.6], [True, True, False], 4)), 3)
    1.162
    """
    policy, solved = distribution(probabilities, "probabilities"), mask(correct, "correct")
    draws = real(k, "k")
    shapes(probabilities=policy, correct=solved)
    shapes(probabilities=policy[..., 0], k=draws)
    return plain(np.where(solved, pass_at_k(policy, draws[..., np.newaxis]), 0.0).sum(axis=-1))
