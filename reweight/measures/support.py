"""Which correct answers training kept, gained and lost, at a stated threshold of probability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import Floats, mask, plain, real, shapes, unit
from reweight.errors import InputError

__all__ = ["SupportCounts", "eps_for_confidence", "support_counts"]

Counts = int | NDArray[np.int64]


@dataclass(frozen=True)
class SupportCounts:
    """Numbers of correct answers by membership in the base's and the trained policy's support (N01).

    Attributes
    ----------
    preserved, expanded, shrunk, out : int or ndarray, shape (...)
        In both supports; in the trained one only; in the base one only; in neither.
    eps : float or None
        Threshold of probability above which an answer counts as in the support.

    Notes
    -----
    Source: N01 (Wu et al., arXiv 2507.14843). A rate is NaN where it divides zero by zero.

    Examples
    --------
    >>> print(SupportCounts(preserved=2388, expanded=48, shrunk=175, out=0))
    preserved 2388  expanded 48  shrunk 175  out 0
    SRR 0.932  NDR 0.020  SDS 0.039  NSCR -0.049
    """

    preserved: Counts
    expanded: Counts
    shrunk: Counts
    out: Counts
    eps: float | None = None

    @property
    def srr(self) -> Floats:
        """Support retention rate: share of the base's support that is kept."""
        return _ratio(self.preserved, self.preserved + self.shrunk)

    @property
    def ndr(self) -> Floats:
        """Net discovery rate: share of the trained support that is new."""
        return _ratio(self.expanded, self.preserved + self.expanded)

    @property
    def sds(self) -> Floats:
        """Support dynamics score: harmonic mean of retention and discovery, 0 where either is."""
        kept, new = self.srr, self.ndr
        return plain(np.where((kept == 0) & (new == 0), 0.0, _ratio(2.0 * kept * new, kept + new)))

    @property
    def nscr(self) -> Floats:
        """Net support change rate: (expanded - shrunk) over the union of the two supports."""
        return _ratio(self.expanded - self.shrunk, self.preserved + self.expanded + self.shrunk)

    def total(self) -> SupportCounts:
        """Counts added over all prompts, from which the published rates are made (not the mean of rates)."""
        kept, new, lost, absent = (int(np.sum(part)) for part in (self.preserved, self.expanded, self.shrunk, self.out))
        return SupportCounts(kept, new, lost, absent, eps=self.eps)

    def to_dict(self) -> dict[str, object]:
        """Counts and rates as plain numbers and lists, NaN as None."""
        counts = {name: np.asarray(getattr(self, name)).tolist() for name in ("preserved", "expanded", "shrunk", "out")}
        rates = {name: np.asarray(getattr(self, name), dtype=object) for name in ("srr", "ndr", "sds", "nscr")}
        for rate in rates.values():
            rate[rate != rate] = None  # NaN is the one number that differs from itself; JSON has no NaN
        return {"eps": self.eps, **counts, **{name: rate.tolist() for name, rate in rates.items()}}

    def __str__(self) -> str:
        whole = self.total()
        counts = f"preserved {whole.preserved}  expanded {whole.expanded}  shrunk {whole.shrunk}  out {whole.out}"
        rates = f"SRR {whole.srr:.3f}  NDR {whole.ndr:.3f}  SDS {whole.sds:.3f}  NSCR {whole.nscr:.3f}"
        return f"{counts}\n{rates}"


def support_counts(base: ArrayLike, trained: ArrayLike, correct: ArrayLike, eps: float = 0.0) -> SupportCounts:
    """Count the correct answers that training preserved, expanded to, shrank away from, or that neither holds.

    Parameters
    ----------
    base, trained : array_like, shape (..., N)
        Probability of each answer before and after training. They need not sum to one: a list of audited answers will
        do, and nothing is renormalised.
    correct : array_like of bool, shape (..., N)
        Which answers are correct; the others are not counted at all.
    eps : float
        An answer is in the support where its probability is strictly above eps. 0 is the exact support, on which a
        softmax policy is never anything but full.

    Returns
    -------
    SupportCounts
        Counts of shape (...), plain integers for one prompt.

    Raises
    ------
    InputError
        If a probability or eps is outside [0, 1] or NaN, or the shapes do not fit.

    Notes
    -----
    Source: N01 (Wu et al., arXiv 2507.14843). From the discovery ceiling (R06): an answer with base probability below
    eps p_0, p_0 the base pass rate, that ends above eps has been sampled in training or a hypothesis of R06 was broken.

    Examples
    --------
    >>> print(support_counts([0.5, 0.3, 0.01], [0.6, 0.001, 0.1], [True, True, True], eps=0.05))
    preserved 1  expanded 1  shrunk 1  out 0
    SRR 0.500  NDR 0.500  SDS 0.500  NSCR 0.000
    """
    before, after, solved = unit(base, "base"), unit(trained, "trained"), mask(correct, "correct")
    shapes(base=before, trained=after, correct=solved)
    threshold = unit(eps, "eps")
    if threshold.ndim:
        raise InputError(f"eps must be one number, got an array of shape {threshold.shape}.")
    if not max(before.ndim, after.ndim, solved.ndim):
        raise InputError("base, trained and correct must have a last axis of answers, got three single values.")
    had, has = before > threshold, after > threshold
    return SupportCounts(
        preserved=_count(had & has & solved),
        expanded=_count(~had & has & solved),
        shrunk=_count(had & ~has & solved),
        out=_count(~had & ~has & solved),
        eps=float(threshold),
    )


def eps_for_confidence(k: ArrayLike, confidence: ArrayLike = 0.95) -> Floats:
    """Smallest probability that k samples show at least once with the given confidence.

    Parameters
    ----------
    k : array_like, shape (...)
        Number of samples, at least 1.
    confidence : array_like, shape (...)
        1 - zeta, the chance of seeing an answer of probability eps at least once; at least 0 and below 1.

    Returns
    -------
    ndarray, shape (...)
        eps = 1 - zeta^(1/k); a scalar for scalar input.

    Raises
    ------
    InputError
        If k is below 1 or the confidence is outside [0, 1).

    Notes
    -----
    Source: N01 (Wu et al., arXiv 2507.14843); the inverse of pass@k in the pass rate.

    Examples
    --------
    >>> round(float(eps_for_confidence(8192)), 7)
    0.0003656
    """
    draws, chance = real(k, "k", at_least=1), unit(confidence, "confidence")
    shapes(k=draws, confidence=chance)
    if np.any(chance == 1.0):
        raise InputError("confidence must be below 1: no finite number of samples makes an answer certain to appear.")
    return plain(-np.expm1(np.log1p(-chance) / draws) + 0.0)


def _count(members: NDArray[np.bool_]) -> Counts:
    """Number of members along the last axis: an integer for one prompt."""
    number = np.asarray(members.sum(axis=-1), dtype=np.int64)
    return number if number.ndim else int(number)


def _ratio(numerator: ArrayLike, denominator: ArrayLike) -> Floats:
    """Quotient, NaN for 0/0."""
    top, bottom = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    return plain(np.divide(top, bottom, out=np.full(np.broadcast(top, bottom).shape, np.nan), where=bottom != 0))
