"""The optimum of expected reward minus beta KL(pi || pi_0), rewards 0 and 1: what it gains and what it costs.

Write Q for the base pass rate and x = 1/beta. The optimum is the exponential tilt pi_0 e^{r x} / Z, and every formula
below is written with e^{-x}, which never overflows. For rewards 0 and R put beta / R in the place of beta.
Practical values of beta make all of it nearly empty: at beta = 0.04 the odds may grow by a factor of 10^10.9.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from reweight.checks import Floats, plain, real, shapes, unit
from reweight.measures import log_odds
from reweight.measures.divergences import bernoulli_kl

__all__ = [
    "GainBounds",
    "Tilted",
    "tilt",
    "tilt_gain",
    "tilt_gain_argmax",
    "tilt_gain_bounds",
    "tilt_gain_max",
    "tilt_kl",
    "tilt_log_odds",
    "tilt_optimum",
]


class GainBounds(NamedTuple):
    """Two upper bounds on the gain, each of shape (...)."""

    low_mass: Floats
    saturation: Floats


class Tilted(NamedTuple):
    """Pass rate p after a tilt, 1 - p, and p minus the pass rate before, none of them a difference."""

    pass_rate: Floats
    complement: Floats
    gain: Floats


def tilt(pass_rate: Floats, complement: Floats, exponent: Floats) -> Tilted:
    """Multiply the odds of a pass rate by e^exponent, the exponent at least 0; odds of zero stay zero."""
    shrink = np.exp(-exponent)
    total = pass_rate + complement * shrink
    possible = (pass_rate > 0) & np.isfinite(total)

    def part(numerator: Floats, otherwise: float) -> Floats:
        return np.asarray(np.divide(numerator, total, out=np.full(total.shape, otherwise), where=possible))

    return Tilted(
        pass_rate=part(pass_rate, 0.0),
        complement=part(complement * shrink, 1.0),
        gain=part(pass_rate * complement * -np.expm1(-exponent), 0.0),
    )


def tilt_optimum(pass_rate: ArrayLike, beta: ArrayLike) -> Floats:
    """Pass rate of the policy that maximises E[r] - beta KL(pi || pi_0).

    Map: none, it is an optimum; TILT with exponent 1/beta reaches it in one step. Hypotheses: r in {0, 1}, KL of the
    policy to the base, beta > 0, any policy allowed. Exact. Says nothing for KL(pi_0 || pi), which the k3 penalty has.

    Parameters
    ----------
    pass_rate : array_like, shape (...)
        Q, the base policy's probability of a correct answer.
    beta : array_like, shape (...)
        Weight of the KL penalty, in reward units per nat, positive.

    Returns
    -------
    ndarray, shape (...)
        p* = Q e^{1/beta} / (1 - Q + Q e^{1/beta}); 0 for Q = 0. A scalar for scalar input.

    Raises
    ------
    InputError
        If a pass rate is outside [0, 1] or NaN, or beta is not positive.

    Notes
    -----
    Source: C48 (arXiv 2510.15990, Theorem 1, as reconstructed).

    Examples
    --------
    >>> round(float(tilt_optimum(0.1, 0.5)), 6)
    0.450853
    >>> float(tilt_optimum(1e-5, 0.001))
    1.0
    """
    return plain(_optimum(pass_rate, beta).pass_rate)


def tilt_log_odds(pass_rate: ArrayLike, beta: ArrayLike) -> Floats:
    """Log-odds of the optimum, logit p* = logit Q + 1/beta, which keep their digits where p* rounds to one.

    Map, hypotheses and sharpness as for `tilt_optimum`.

    Parameters
    ----------
    pass_rate, beta : array_like, shape (...)
        As in `tilt_optimum`.

    Returns
    -------
    ndarray, shape (...)
        Log-odds in nats; -inf for Q = 0, inf for Q = 1. A scalar for scalar input.

    Raises
    ------
    InputError
        As `tilt_optimum`.

    Notes
    -----
    Source: C48.

    Examples
    --------
    >>> round(float(tilt_log_odds(0.5, 0.001)), 6)
    1000.0
    """
    base, exponent = _arguments(pass_rate, beta)
    return plain(np.where(base == 0, -np.inf, np.asarray(log_odds(base)) + np.where(base == 0, 0.0, exponent)))


def tilt_gain(pass_rate: ArrayLike, beta: ArrayLike) -> Floats:
    """Gain p* - Q in pass rate of the optimum over the base.

    Map, hypotheses and sharpness as for `tilt_optimum`. Vanishes at both ends: the two dead zones.

    Parameters
    ----------
    pass_rate, beta : array_like, shape (...)
        As in `tilt_optimum`.

    Returns
    -------
    ndarray, shape (...)
        Q (1-Q)(e^{1/beta} - 1) / (1 + Q (e^{1/beta} - 1)), never by subtraction; a scalar for scalar input.

    Raises
    ------
    InputError
        As `tilt_optimum`.

    Notes
    -----
    Source: C48, C49.

    Examples
    --------
    >>> round(float(tilt_gain(0.1, 0.5)), 6)
    0.350853
    """
    return plain(_optimum(pass_rate, beta).gain)


def tilt_gain_max(beta: ArrayLike) -> Floats:
    """Largest gain over all base pass rates, tanh(1 / (4 beta)).

    Hypotheses as for `tilt_optimum`. Sharp, at `tilt_gain_argmax`. Vacuous (above .99) for beta < 0.094.

    Parameters
    ----------
    beta : array_like, shape (...)
        Weight of the KL penalty, in reward units per nat, positive.

    Returns
    -------
    ndarray, shape (...)
        A difference of pass rates; a scalar for scalar input.

    Raises
    ------
    InputError
        If beta is not positive.

    Notes
    -----
    Source: C48.

    Examples
    --------
    >>> round(float(tilt_gain_max(0.5)), 6)
    0.462117
    """
    return plain(np.tanh(_exponent(beta) / 4.0))


def tilt_gain_argmax(beta: ArrayLike) -> Floats:
    """Base pass rate at which the gain is largest, 1 / (1 + e^{1/(2 beta)}).

    Hypotheses as for `tilt_optimum`. Exact; below beta = 0.00067 it underflows to 0.

    Parameters
    ----------
    beta : array_like, shape (...)
        Weight of the KL penalty, in reward units per nat, positive.

    Returns
    -------
    ndarray, shape (...)
        A pass rate, at most 1/2; a scalar for scalar input.

    Raises
    ------
    InputError
        If beta is not positive.

    Notes
    -----
    Source: C48.

    Examples
    --------
    >>> round(float(tilt_gain_argmax(0.5)), 6)
    0.268941
    """
    from scipy.special import expit

    return plain(np.asarray(expit(-_exponent(beta) / 2.0)))


def tilt_gain_bounds(pass_rate: ArrayLike, beta: ArrayLike) -> GainBounds:
    """Two upper bounds on the gain: Q (e^{1/beta} - 1) for little mass, 1 - Q near saturation.

    Hypotheses as for `tilt_optimum`. Sharp as Q tends to 0, and as Q e^{1/beta} tends to infinity. The first is vacuous
    (above 1 - Q) once Q > e^{-1/beta}.

    Parameters
    ----------
    pass_rate, beta : array_like, shape (...)
        As in `tilt_optimum`.

    Returns
    -------
    GainBounds
        `low_mass` (inf where it exceeds float64) and `saturation`, each of shape (...).

    Raises
    ------
    InputError
        As `tilt_optimum`.

    Notes
    -----
    Source: C49.

    Examples
    --------
    >>> low, high = tilt_gain_bounds(0.1, 0.5)
    >>> round(float(low), 6), float(high)
    (0.638906, 0.9)
    """
    base, exponent = _arguments(pass_rate, beta)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        # e^x may overflow where Q e^x does not
        large = np.exp(exponent + np.log(base))
        low = np.where(exponent < 700.0, base * np.expm1(exponent), np.where(base == 0, 0.0, large))
    return GainBounds(low_mass=plain(low), saturation=plain(1.0 - base + np.zeros_like(low)))


def tilt_kl(pass_rate: ArrayLike, beta: ArrayLike) -> Floats:
    """Cost KL(pi* || pi_0) of the optimum, which is the binary divergence kl(p* || Q).

    Map, hypotheses and sharpness as for `tilt_optimum`; no policy with pass rate p* has a smaller divergence.

    Parameters
    ----------
    pass_rate, beta : array_like, shape (...)
        As in `tilt_optimum`.

    Returns
    -------
    ndarray, shape (...)
        p*/beta - log Z in nats, at most log(1/Q); a scalar for scalar input.

    Raises
    ------
    InputError
        As `tilt_optimum`.

    Notes
    -----
    Source: C48; R07, C76 for the minimality.

    Examples
    --------
    >>> round(float(tilt_kl(0.1, 0.5)), 6)
    0.407677
    """
    base, exponent = _arguments(pass_rate, beta)
    tilted = tilt(base, 1.0 - base, exponent)
    return plain(bernoulli_kl(tilted.pass_rate, base, tilted.gain, tilted.complement, 1.0 - base))


def _optimum(pass_rate: ArrayLike, beta: ArrayLike) -> Tilted:
    base, exponent = _arguments(pass_rate, beta)
    return tilt(base, 1.0 - base, exponent)


def _arguments(pass_rate: ArrayLike, beta: ArrayLike) -> tuple[Floats, Floats]:
    """Base pass rate and 1/beta."""
    base, exponent = unit(pass_rate, "pass_rate"), _exponent(beta)
    shapes(pass_rate=base, beta=exponent)
    return base, exponent


def _exponent(beta: ArrayLike) -> Floats:
    """1/beta, inf for a beta so small that float64 has no inverse."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / real(beta, "beta", above=0.0))
