"""Trajectories of many binary prompts under exact tilts: the log-odds of each move by the step size times its gap."""

from __future__ import annotations

import numpy as np

from reweight.checks import Floats
from reweight.kernels.bernstein import bernstein
from reweight.kernels.gap_polynomial import LARGEST_DEGREE, even_coefficients, padded
from reweight.kernels.gap_table import gap_table

__all__ = ["lumped_tilt", "lumped_tilt_twin"]


def lumped_tilt(log_odds: Floats, steps: int, step: float, coefficients: Floats) -> Floats:
    """Return the log-odds after `steps` tilts, compiled.

    Parameters
    ----------
    log_odds : ndarray, shape (P,)
        At the start, in nats.
    steps : int
    step : float
        Step size eta.
    coefficients : ndarray, shape (n + 1,)
        Of the gap in Bernstein form: a palindrome without negative numbers.

    Returns
    -------
    ndarray, shape (P,)

    Notes
    -----
    One exponential and one polynomial of degree n / 2 (or a table, in large groups) a prompt and step. Source: R07.

    Examples
    --------
    >>> lumped_tilt(np.array([-2.0, 0.0]), 10, 0.5, np.array([1.0]))  # groups of two: the gap is one
    array([3., 5.])
    """
    from reweight.kernels.compiled import lumped_tilt as compiled

    theta = np.array(log_odds, dtype=np.float64)
    if len(coefficients) - 1 <= LARGEST_DEGREE:
        compiled.by_polynomial(theta, steps, step, padded(even_coefficients(coefficients)))
    else:
        table = gap_table(coefficients)
        compiled.by_table(theta, steps, step, table.coefficients, table.lowest, table.first)
    return theta


def lumped_tilt_twin(log_odds: Floats, steps: int, step: float, coefficients: Floats) -> Floats:
    """Return what :func:`lumped_tilt` does, one step after another."""
    from scipy.special import expit

    theta = np.array(log_odds, dtype=np.float64)
    for _ in range(steps):
        theta += step * bernstein(coefficients, expit(theta), expit(-theta))
    return theta
