"""KL penalties: the sample estimators k1, k2, k3 and the gradient that each rule takes through them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import choice, distribution, number
from reweight.errors import InputError

__all__ = ["KLPenalty", "k3", "kl_divergence", "kl_expected", "kl_gradient"]

Estimator = Literal["k1", "k2", "k3"]
Place = Literal["loss", "reward", "advantage"]
GradientRule = Literal["autograd", "straight_through", "ratio_weighted"]
Floats = NDArray[np.float64]
LARGEST_BETA = 1e12
SERIES_BELOW, SERIES_TERMS = 0.5, 16
EXTREME = -30.0


@dataclass(frozen=True)
class KLPenalty:
    """A penalty beta * k(pi, reference), averaged over the sampled tokens and subtracted from the objective.

    Parameters
    ----------
    estimator : {"k1", "k2", "k3"}
        With x = log reference - log pi at a sample: -x, x^2 / 2, or exp(x) - x - 1.
    beta : float
        Weight of the penalty, in reward units per nat.
    place : {"loss", "reward", "advantage"}
        Where it enters: a term of the loss; subtracted, summed over the answer's tokens and at the policy that drew it,
        from the reward before the group compares (verl); or subtracted from each token's advantage as what is still to
        come from that token on (OpenRLHF, REINFORCE++).
    gradient : {"autograd", "straight_through", "ratio_weighted"}
        For the place "loss": differentiate the estimator; replace its gradient by that of k2; or differentiate ratio
        times estimator.
    limit : float, optional
        The estimator is clamped to [-limit, limit], in nats; where it is clamped it has no gradient.

    Notes
    -----
    On-policy, in expectation: autograd of k1 is zero, of k2 the gradient of KL(pi || reference), of k3 that of
    KL(reference || pi); ratio-weighted k1 and k3 give KL(pi || reference). Source: R12, C52.

    Raises
    ------
    InputError
        If a field has a value that is not listed, or `beta` is negative or not finite.
    """

    estimator: Estimator
    beta: float
    place: Place = "loss"
    _: KW_ONLY
    gradient: GradientRule = "autograd"
    limit: float | None = None

    def __post_init__(self) -> None:
        choice(self.estimator, "KL estimator", get_args(Estimator))
        choice(self.place, "KL place", get_args(Place))
        choice(self.gradient, "KL gradient", get_args(GradientRule))
        number(self.beta, "KL beta", at_least=0.0, at_most=LARGEST_BETA)
        if self.limit is not None:
            number(self.limit, "KL limit", above=0.0, at_most=LARGEST_BETA)
        if self.place != "loss" and self.gradient != "autograd":
            raise InputError(f"a KL penalty in the {self.place} has no gradient of its own: leave gradient out")

    def value(self, log_ratio: Floats) -> Floats:
        """Return the estimator at log pi - log reference, in nats."""
        value = {"k1": log_ratio, "k2": log_ratio**2 / 2, "k3": k3(log_ratio)}[self.estimator]
        return value if self.limit is None else np.clip(value, -self.limit, self.limit)

    def slope(self, log_ratio: Floats, importance: Floats) -> Floats:
        """Return what multiplies grad log pi of one sample in the gradient of the penalty (without beta).

        `log_ratio` is log pi - log reference, `importance` is pi / pi_old at the sample.
        """
        if self.gradient == "straight_through":
            return log_ratio
        with np.errstate(over="ignore", invalid="ignore"):
            moves = 1.0 if self.limit is None else np.abs(replace(self, limit=None).value(log_ratio)) <= self.limit
            if self.gradient == "autograd":
                autograd = {"k1": np.ones_like(log_ratio), "k2": log_ratio, "k3": -np.expm1(-log_ratio)}
                return np.where(moves, autograd[self.estimator], 0.0)
            # value plus slope of the estimator, in which the exponentials of k3 cancel
            weighted = {"k1": log_ratio + 1, "k2": log_ratio**2 / 2 + log_ratio, "k3": log_ratio}
            return np.asarray(importance * np.where(moves, weighted[self.estimator], self.value(log_ratio)))


def k3(log_ratio: Floats) -> Floats:
    """Return exp(-x) - 1 + x, accurate near zero; its mean under pi at x = log pi - log ref is KL(pi || ref).

    Each term is at least zero, so that a small divergence is not the difference of large sums.

    Examples
    --------
    >>> k3(np.array([0.0, 1e-8, 1.0])).tolist()
    [0.0, 4.9999999833333343e-17, 0.36787944117144233]
    """
    small = np.abs(log_ratio) < SERIES_BELOW
    x = np.where(small, log_ratio, 0.0)
    series = np.zeros_like(x)
    for power in range(SERIES_TERMS, 1, -1):  # x^2/2! - x^3/3! + ...
        series = (1 - series) * x / power if power > 2 else (1 - series) * x**2 / 2
    with np.errstate(over="ignore"):
        direct = np.expm1(-np.where(small, 1.0, log_ratio)) + log_ratio
    return np.asarray(np.where(small, series, direct))


def kl_divergence(pi: Floats, ref: Floats, log_ratio: Floats) -> float:
    """Return KL(pi || ref) in nats, given log pi - log ref, as a sum in which no term is negative.

    Examples
    --------
    >>> pi, ref = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    >>> round(kl_divergence(pi, ref, np.log(pi / ref)), 12)
    0.143841036226
    """
    extreme = log_ratio < EXTREME  # there pi exp(-x) is the reference itself
    terms = np.where(extreme, ref - pi + pi * log_ratio, pi * k3(np.where(extreme, 0.0, log_ratio)))
    return float(terms[pi > 0].sum() + ref[pi == 0].sum())


def kl_expected(policy: ArrayLike, reference: ArrayLike, estimator: Estimator) -> float:
    """Compute the expectation under the policy of a KL estimator, in nats.

    Parameters
    ----------
    policy, reference : array_like, shape (N,)
        Two distributions; the reference is positive wherever the policy is.
    estimator : {"k1", "k2", "k3"}

    Raises
    ------
    InputError
        If an array is not a distribution or the reference is zero where the policy is not.

    Examples
    --------
    >>> round(kl_expected([0.6, 0.3, 0.1], [0.2, 0.3, 0.5], "k3"), 12)
    0.498223581957
    """
    pi, ref, log_ratio = _log_ratio(policy, reference)
    if estimator == "k2":
        return float(pi @ (log_ratio**2 / 2))
    choice(estimator, "KL estimator", get_args(Estimator))
    divergence = kl_divergence(pi, ref, log_ratio)
    return divergence if estimator == "k1" else divergence - float(ref[pi == 0].sum())


def kl_gradient(
    policy: ArrayLike, reference: ArrayLike, estimator: Estimator, *, gradient: GradientRule = "autograd"
) -> Floats:
    """Compute the expected on-policy gradient, with respect to softmax logits, of a KL estimator in the loss.

    Parameters and errors are those of :func:`kl_expected`; `gradient` is the rule of KLPenalty. Returns shape (N,), in
    nats.

    Examples
    --------
    >>> kl_gradient([0.6, 0.3, 0.1], [0.2, 0.3, 0.5], "k3").round(12) + 0.0  # that of KL(reference || policy)
    array([ 0.4,  0. , -0.4])
    """
    pi, ref, log_ratio = _log_ratio(policy, reference)
    if (estimator, gradient) == ("k3", "autograd"):
        coefficients = np.where(pi > 0, pi - ref, 0.0)  # pi (1 - ref/pi)
    else:
        coefficients = pi * KLPenalty(estimator, 1.0, gradient=gradient).slope(log_ratio, np.ones_like(pi))
    return np.asarray(coefficients - pi * coefficients.sum())


def _log_ratio(policy: ArrayLike, reference: ArrayLike) -> tuple[Floats, Floats, Floats]:
    pi, ref = distribution(policy, "policy"), distribution(reference, "reference")
    if pi.shape != ref.shape or pi.ndim != 1:
        raise InputError(
            f"the policy has shape {pi.shape}, the reference {ref.shape}: give two vectors of equal length"
        )
    support = pi > 0
    if (ref[support] == 0).any():
        raise InputError("the KL is infinite: the reference gives probability zero to an answer of the policy")
    excess = np.divide(pi - ref, ref, out=np.zeros_like(pi), where=support)
    close = support & (np.abs(excess) < 0.5)
    apart = np.log(pi, out=np.zeros_like(pi), where=support) - np.log(ref, out=np.zeros_like(ref), where=support)
    return pi, ref, np.where(close, np.log1p(np.where(close, excess, 0.0)), apart)
