"""Who is drawn: the distribution that groups come from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reweight.checks import SUM_TOLERANCE
from reweight.errors import InputError
from reweight.policies.policy import LogProbs

__all__ = ["behaviour"]


def behaviour(old: LogProbs) -> NDArray[np.float64]:
    """Return the log-probability that each answer is drawn, shape (N,), in nats: the old policy itself.

    Raises
    ------
    InputError
        If the listed answers do not hold all of the policy's mass: expectations over them would be wrong.

    Examples
    --------
    >>> behaviour(LogProbs(np.log([[0.25], [0.75]]), np.ones((2, 1), dtype=bool))).round(4)
    array([-1.3863, -0.2877])
    """
    mass = float(np.exp(old.total).sum())
    if not abs(mass - 1) <= SUM_TOLERANCE:
        raise InputError(f"the problem's answers hold {mass:.12g} of the policy's mass: list every answer it can give")
    return old.total
