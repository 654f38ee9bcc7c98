"""KL penalties: the sample estimators k1, k2, k3 and the gradient that each rule takes through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import choice, distribution, real
from reweight.errors import InputError

__all__ = ["KLPenalty", "kl_expected", "kl_gradient"]

Estimator = Literal["k1", "k2", "k3"]
GradientRule = Literal["autograd", "straight_through", "ratio_weighted"]
Floats = NDArray[np.float64]
LARGEST_BETA = 1e12


@dataclass(frozen=True)
class KLPenalty:
    """A penalty beta * k(pi, reference), averaged over the sampled tokens and subtracted from the objective.

    Parameters
    ----------
    estimator : {"k1", "k2", "k3"}
        With x = log reference - log pi at a sample: -x, x^2 / 2, or exp(x) - x - 1.
    beta : float
        Weight of the penalty, in reward units per nat.
    place : {"loss"}
        Where it enters.
    gradient : {"autograd", "straight_through", "ratio_weighted"}
        Differentiate the estimator; replace its gradient by that of k2; or differentiate ratio times estimator.

    Notes
    -----
    On-policy, in expectation: autograd of k1 is zero, of k2 the gradient of KL(pi || reference), of k3 that of
    KL(reference || pi); ratio-weighted k1 and k3 give KL(pi || reference). Source: theory.md R12, C52.

    Raises
    ------
    InputError
        If a field has a value that is not listed, or `beta` is negative or not finite.
    """

    estimator: Estimator
    beta: float
    place: Literal["loss"] = "loss"
    gradient: GradientRule = "autograd"

    def __post_init__(self) -> None:
        choice(self.estimator, "KL estimator", get_args(Estimator))
        choice(self.place, "KL place", ("loss",))
        choice(self.gradient, "KL gradient", get_args(GradientRule))
        real(self.beta, "KL beta", at_least=0.0, at_most=LARGEST_BETA)

    def value(self, log_ratio: Floats) -> Floats:
        """Return the estimator at log pi - log reference, in nats."""
        if self.estimator == "k1":
            return log_ratio
        if self.estimator == "k2":
            return log_ratio**2 / 2
        return np.expm1(-log_ratio) + log_ratio

    def slope(self, log_ratio: Floats, importance: Floats) -> Floats:
        """Return what multiplies grad log pi of one sample in the gradient of the penalty (without beta).

        `log_ratio` is log pi - log reference, `importance` is pi / pi_old at the sample.
        """
        if self.gradient == "straight_through":
            return log_ratio
        derivative = {"k1": np.ones_like(log_ratio), "k2": log_ratio, "k3": -np.expm1(-log_ratio)}[self.estimator]
        if self.gradient == "ratio_weighted":
            return np.asarray(importance * (self.value(log_ratio) + derivative))
        return derivative


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
    probabilities, log_ratio = _log_ratio(policy, reference)
    return float(probabilities @ KLPenalty(estimator, 1.0).value(log_ratio))


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
    probabilities, log_ratio = _log_ratio(policy, reference)
    coefficients = probabilities * KLPenalty(estimator, 1.0, gradient=gradient).slope(
        log_ratio, np.ones_like(log_ratio)
    )
    return np.asarray(coefficients - probabilities * coefficients.sum())


def _log_ratio(policy: ArrayLike, reference: ArrayLike) -> tuple[Floats, Floats]:
    pi, ref = distribution(policy, "policy"), distribution(reference, "reference")
    if pi.shape != ref.shape or pi.ndim != 1:
        raise InputError(
            f"the policy has shape {pi.shape}, the reference {ref.shape}: give two vectors of equal length"
        )
    support = pi > 0
    if (ref[support] == 0).any():
        raise InputError("the KL is infinite: the reference gives probability zero to an answer of the policy")
    return pi, np.log(pi, out=np.zeros_like(pi), where=support) - np.log(ref, out=np.zeros_like(ref), where=support)
