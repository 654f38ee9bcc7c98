"""Trajectories of many binary prompts under exact tilts: the log-odds of each move by the step size times its gap."""

from __future__ import annotations

import numpy as np

from reweight.checks import Floats
from reweight.kernels.bernstein import PARALLEL_FROM, bernstein
from reweight.kernels.gap_polynomial import LARGEST_DEGREE, even_coefficients, padded
from reweight.kernels.gap_table import gap_table

__all__ = ["lumped_tilt", "lumped_tilt_twin"]

SHORT = 1 / 6
"""Largest move of a log-odds for which tanh can be followed by its addition rule and a few terms of its series."""


def lumped_tilt(log_odds: Floats, steps: int, step: float, coefficients: Floats) -> Floats:
    """Return the log-odds after `steps` tilts, compiled.

    Parameters
    ----------
    log_odds : ndarray, shape (...)
        At the start, in nats.
    steps : int
    step : float
        Step size eta.
    coefficients : ndarray, shape (n + 1,)
        Of the gap in Bernstein form: a palindrome without negative numbers.

    Returns
    -------
    ndarray, shape (...)

    Notes
    -----
    A prompt and step cost a polynomial of degree n / 2, or a table in large groups, and an exponential only where steps
    are longer than 1/6. The error is that of adding up the steps in float64, whatever their number. Source: R07.

    Examples
    --------
    >>> lumped_tilt(np.array([-2.0, 0.0]), 10, 0.5, np.array([1.0]))  # groups of two: the gap is one
    array([3., 5.])
    """
    from reweight.kernels.compiled import lumped_tilt as compiled

    theta = np.array(log_odds, dtype=np.float64)
    rows, scratch = theta.reshape(-1), np.empty(theta.size)
    many = theta.size * steps >= PARALLEL_FROM
    if len(coefficients) - 1 > LARGEST_DEGREE:
        table = gap_table(coefficients)
        by_table = compiled.table_steps_parallel if many else compiled.table_steps
        by_table(rows, scratch, steps, step, table.coefficients, table.lowest, table.first)
        return theta
    if abs(step) * float(np.abs(coefficients).max()) <= SHORT:  # no polynomial exceeds its Bernstein coefficients
        loop = compiled.short_steps_parallel if many else compiled.short_steps
    else:
        loop = compiled.steps_of_any_size_parallel if many else compiled.steps_of_any_size
    loop(rows, scratch, steps, step, padded(even_coefficients(coefficients)))
    return theta


def lumped_tilt_twin(log_odds: Floats, steps: int, step: float, coefficients: Floats) -> Floats:
    """Return what :func:`lumped_tilt` does, one step after another."""
    from scipy.special import expit

    theta = np.array(log_odds, dtype=np.float64)
    for _ in range(steps):
        theta += step * bernstein(coefficients, expit(theta), expit(-theta))
    return theta
