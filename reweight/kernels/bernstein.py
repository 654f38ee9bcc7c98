"""Expectations under a binomial law for many pass rates: a polynomial in Bernstein form at each of them."""

from __future__ import annotations

import numpy as np

from reweight.checks import Floats

__all__ = ["PARALLEL_FROM", "bernstein", "bernstein_twin"]

PARALLEL_FROM = 200_000
"""Rows from which a loop is spread over threads: waking them costs up to milliseconds on a busy machine."""


def bernstein(coefficients: Floats, p: Floats, q: Floats) -> Floats:
    """Compute E[coefficients[K]] for K ~ Bin(n, p), compiled.

    Parameters
    ----------
    coefficients : ndarray, shape (n + 1,)
    p, q : ndarray, shape (...)
        Proportional to the probabilities of success and failure, not both zero.

    Returns
    -------
    ndarray, shape (...)

    Notes
    -----
    The sum starts at the mode, is normalised by its own weights and is cut where the rest is below 1e-18 of the sum of
    absolute terms; the cost is about n for rough coefficients and sqrt(n p q) for smooth ones. Rounding is relative to
    that sum too, so it's relative to the value where no coefficient is negative. Source: R01.

    Examples
    --------
    >>> bernstein(np.array([0.0, 1.0, 2.0]), np.array([0.25, 0.5]), np.array([0.75, 0.5]))
    array([0.5, 1. ])
    """
    from reweight.kernels.compiled import bernstein as compiled

    n = len(coefficients) - 1
    k = np.arange(n)
    rising, falling = (n - k) / (k + 1), (k + 1) / (n - k)
    out = np.empty(p.size)
    loop = compiled.parallel if p.size * (n + 1) >= PARALLEL_FROM and p.size > 1 else compiled.serial
    largest = float(np.abs(coefficients).max())
    loop(np.ascontiguousarray(coefficients), rising, falling, largest, np.ravel(p), np.ravel(q), out)
    return out.reshape(p.shape)


def bernstein_twin(coefficients: Floats, p: Floats, q: Floats) -> Floats:
    """Compute what :func:`bernstein` does, by de Casteljau's rule: convex combinations only, n^2 / 2 of them."""
    total = p + q
    up, down = p / total, q / total
    rows = np.broadcast_to(coefficients, (*p.shape, len(coefficients)))
    while rows.shape[-1] > 1:
        rows = down[..., None] * rows[..., :-1] + up[..., None] * rows[..., 1:]
    return np.array(rows[..., 0])
