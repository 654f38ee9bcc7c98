"""The one check that an array holds probability vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError

__all__ = ["check_probabilities"]

TOLERANCE = 1e-9


def check_probabilities(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probability vectors, shape (..., N), renormalised to sum to one.

    Raises
    ------
    InputError
        If there is no answer, an entry is NaN, infinite or negative, or a sum differs from 1 by more than 1e-9.

    Examples
    --------
    >>> check_probabilities(np.array([0.25, 0.75]))
    array([0.25, 0.75])
    """
    if table.ndim == 0 or table.shape[-1] == 0:
        raise InputError("there are no probabilities: give one an answer")
    if not np.isfinite(table).all():
        raise InputError("a probability is NaN or infinite: give numbers between 0 and 1")
    if (table < 0).any():
        raise InputError(f"a probability is negative ({table.min():g}): give numbers between 0 and 1")
    totals = table.sum(axis=-1, keepdims=True)
    wrong = np.abs(totals - 1.0) > TOLERANCE
    if wrong.any():
        raise InputError(f"the probabilities sum to {totals[wrong][0]:.12g}, not to 1: mend or normalise them first")
    return np.asarray(table / totals)
