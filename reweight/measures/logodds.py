"""Log-odds of a probability, with the complement given where it is too small to be a difference."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reweight.checks import SUM_TOLERANCE, Floats, plain, shapes, unit
from reweight.errors import InputError

__all__ = ["log_odds"]


def log_odds(probability: ArrayLike, complement: ArrayLike | None = None) -> Floats:
    """Log-odds log(p / (1 - p)) of a probability.

    Parameters
    ----------
    probability : array_like, shape (...)
        Probabilities; 0 gives -inf and 1 gives inf.
    complement : array_like, shape (...), optional
        1 - p where it is known better than the float p says it, for instance 1e-20 beside p = 1.0.
        Without it the float p is taken as exact and the complement is computed from it.

    Returns
    -------
    ndarray, shape (...)
        Log-odds in nats; a scalar for scalar input.

    Raises
    ------
    InputError
        If a value is outside [0, 1] or NaN, or a given complement does not add up to one within 1e-9.

    Examples
    --------
    >>> round(float(log_odds(0.9)), 6)
    2.197225
    >>> round(float(log_odds(1.0, complement=1e-20)), 6)
    46.051702
    """
    p = unit(probability, "probability")
    if complement is None:
        from scipy.special import logit

        return plain(np.asarray(logit(p)))
    q = unit(complement, "complement")
    shapes(probability=p, complement=q)
    if np.any(np.abs(p + q - 1.0) > SUM_TOLERANCE):
        raise InputError("probability and complement must add up to 1 within 1e-9; give 1 - p as the complement.")
    with np.errstate(divide="ignore"):
        return plain(np.log(p) - np.log(q))
