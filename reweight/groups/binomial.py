"""Binomial probabilities to full relative precision, for the smallest probabilities too.

Successive terms differ by the factor (n - k)/(k + 1) p/q. Started at the largest term and normalised at the end, the
products only ever shrink, so nothing overflows, nothing cancels, and p and q enter through their ratio alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["binomial_probabilities"]

Floats = NDArray[np.float64]


def binomial_probabilities(n: int, p: Floats, q: Floats) -> Floats:
    """Return P(Bin(n, p) = k) for k = 0..n.

    Parameters
    ----------
    n : int
        Number of draws.
    p, q : ndarray, shape (...)
        Proportional to the probabilities of success and failure, not both zero.

    Returns
    -------
    ndarray, shape (..., n + 1)

    Examples
    --------
    >>> binomial_probabilities(2, np.array(0.25), np.array(0.75))
    array([0.5625, 0.375 , 0.0625])
    """
    k = np.arange(n)
    ways = (n - k) / (k + 1)
    above = k >= np.floor((n + 1) * (p / (p + q)))[..., None]  # where term k + 1 is smaller than term k
    with np.errstate(divide="ignore", over="ignore"):
        rising = np.where(above, ways * (p / q)[..., None], 1.0)
        falling = np.where(above, 1.0, (q / p)[..., None] / ways)
    one = np.ones((*np.shape(p), 1))
    terms = np.concatenate([one, np.cumprod(rising, axis=-1)], axis=-1)
    terms *= np.concatenate([np.cumprod(falling[..., ::-1], axis=-1)[..., ::-1], one], axis=-1)
    return np.asarray(terms / terms.sum(axis=-1, keepdims=True))
