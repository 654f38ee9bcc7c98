"""A verifier that errs: the distribution of the observed reward given the answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import SUM_TOLERANCE, real, unit
from reweight.errors import InputError

__all__ = ["Verifier"]


@dataclass(frozen=True, eq=False, init=False)
class Verifier:
    """P(observed reward | answer), exactly.

    Parameters
    ----------
    levels : array_like, shape (L,)
        The rewards that can be observed, all different.
    probabilities : array_like, shape (N, L)
        Probability of each of them for each answer; a row sums to one.

    Raises
    ------
    InputError
        If the shapes do not fit, levels repeat, or a row is no distribution.

    Notes
    -----
    Verdicts of one group are independent given its answers. Source: C19.

    Examples
    --------
    >>> Verifier.binary([True, False], tpr=0.9, fpr=0.2).probabilities
    array([[0.1, 0.9],
           [0.8, 0.2]])
    """

    levels: NDArray[np.float64]
    probabilities: NDArray[np.float64]

    def __init__(self, levels: ArrayLike, probabilities: ArrayLike) -> None:
        rewards, table = (
            np.array(real(levels, "verifier levels")),
            np.array(unit(probabilities, "verifier probabilities")),
        )
        if rewards.ndim != 1 or table.ndim != 2 or table.shape[1] != rewards.size:
            raise InputError(
                f"{rewards.size} verifier levels for probabilities of shape {table.shape}: give (N, levels)"
            )
        if not np.isfinite(rewards).all() or len(set(rewards.tolist())) < rewards.size:
            raise InputError("the verifier's levels are not distinct finite rewards")
        total = table.sum(axis=1, keepdims=True)
        if (np.abs(total - 1) > SUM_TOLERANCE).any():
            raise InputError("a row of the verifier's probabilities does not sum to 1")
        table = table / total
        rewards.setflags(write=False)
        table.setflags(write=False)
        object.__setattr__(self, "levels", rewards)
        object.__setattr__(self, "probabilities", table)

    @classmethod
    def binary(
        cls,
        correct: ArrayLike,
        *,
        tpr: ArrayLike = 1.0,
        fpr: ArrayLike = 0.0,
        accepted: float = 1.0,
        refused: float = 0.0,
    ) -> Verifier:
        """Return the verifier that accepts correct answers at rate `tpr` and wrong ones at rate `fpr`.

        Parameters
        ----------
        correct : array_like of bool, shape (N,)
        tpr, fpr : array_like
            One rate for all answers, or one an answer, shape (N,); of each, the entries that apply are used.
        accepted, refused : float
            The two observed rewards.

        Raises
        ------
        InputError
            If a rate is outside [0, 1] or the shapes do not fit.
        """
        marks = np.asarray(correct)
        if marks.ndim != 1 or marks.dtype != bool:
            raise InputError(f"correct has shape {marks.shape} and type {marks.dtype}: give one bool an answer")
        rates = [unit(tpr, "TPR"), unit(fpr, "FPR")]
        if any(rate.shape not in ((), marks.shape) for rate in rates):
            raise InputError("TPR or FPR is neither one rate nor one an answer: give a number or (N,)")
        accept = np.where(marks, *rates)
        return cls([refused, accepted], np.stack([1 - accept, accept], axis=1))
