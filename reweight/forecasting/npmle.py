"""The nonparametric maximum-likelihood distribution of pass rates: one distribution that explains the counts."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError

if TYPE_CHECKING:
    from reweight.rollouts import Counts

__all__ = ["Npmle", "npmle"]

Floats = NDArray[np.float64]

LEAST_POINTS = 201
STEPS_A_DEVIATION = 4
"""Grid steps in a standard deviation of asin(sqrt(c / n)), which is 1 / (2 sqrt n)."""
REFINEMENT = 8
NEGLIGIBLE = 1e-12
MOST_SAMPLES = 1024
ROUNDS = 3
TOLERANCES = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
FAILED = "the solver found no distribution of pass rates for these counts; leave the fit out"
RANK = 1e-10
"""Singular values below this share of the largest are left out; the certificate does not rest on it."""


@dataclass(frozen=True, eq=False)
class Npmle:
    """A discrete distribution of pass rates.

    Parameters
    ----------
    pass_rates : (S,) array
        Where it has mass, ascending.
    weights : (S,) array
        Their masses, which sum to one.
    gap : float
        The log-likelihood in nats is at most this far from the largest that any distribution has.
    """

    pass_rates: Floats
    weights: Floats
    gap: float

    def mean(self, function: Callable[[Floats], Floats], /) -> float:
        """The mean of a function of the pass rates (S,)."""
        return float(self.weights @ function(self.pass_rates))


def npmle(counts: Counts) -> Npmle:
    """Fit the distribution F that maximises sum over prompts of log E_F Bin(c; n, p).

    It is one distribution that the counts allow, and no estimate to rely on: only the first n moments of F are
    identified, and what needs more may lie far from its value here.

    Parameters
    ----------
    counts : Counts
        n and c of P prompts; n may differ.

    Raises
    ------
    InputError
        If a prompt has more than 1024 samples, or the solver fails.

    Notes
    -----
    The likelihood is concave in F (Laird 1978, Lindsay 1983). With D(p) = sum over prompts of
    Bin(c; n, p) / E_F Bin(c; n, .) - P, the distance from the optimum is at most max D. The maximum is taken over a
    grid that is eight times finer than the one that is solved on; peaks of D between two grid points are added and
    solved for again.

    Examples
    --------
    >>> from reweight.rollouts import Counts
    >>> fit = npmle(Counts.of([2] * 4, [0, 1, 1, 2]))
    >>> round(fit.mean(lambda p: p), 4), round(fit.mean(lambda p: 2 * p * (1 - p)), 4)  # both shares are one half
    (0.5, 0.5)
    """
    if counts.n.max() > MOST_SAMPLES:
        raise InputError(f"a prompt has {counts.n.max()} samples and fits go up to {MOST_SAMPLES}; leave the fit out")
    pairs, prompts = np.unique(np.stack([counts.n, counts.c]), axis=1, return_counts=True)
    n, c = pairs
    deviations = math.pi * math.sqrt(int(n.max()))  # in the quarter circle
    points = max(LEAST_POINTS, math.ceil(STEPS_A_DEVIATION * deviations) + 1)
    fine = np.sin(np.linspace(0.0, np.pi / 2, REFINEMENT * (points - 1) + 1)) ** 2
    law = _law(n, c, fine)
    chosen = np.arange(0, fine.size, REFINEMENT)
    for _ in range(ROUNDS):
        weights = _solve(law[:, chosen], prompts)
        support = weights > NEGLIGIBLE
        chosen, weights = chosen[support], weights[support] / weights[support].sum()
        derivative = (prompts / (law[:, chosen] @ weights)) @ law - prompts.sum()
        best = Npmle(fine[chosen], weights, max(float(derivative.max()), 0.0))
        chosen = np.union1d(chosen, _peaks(derivative))
    return best


def _law(n: NDArray[np.int64], c: NDArray[np.int64], pass_rate: Floats) -> Floats:
    """Probability of each c (U,) of n at each pass rate (M,), over its largest, so that rows compare; shape (U, M)."""
    from scipy.stats import binom

    law = binom.logpmf(c[:, None], n[:, None], pass_rate)
    return np.asarray(np.exp(law - law.max(axis=1, keepdims=True)))


def _solve(law: Floats, prompts: NDArray[np.int64]) -> Floats:
    """Weights (M,) of the grid points.

    Binomial laws are smooth in p, so some tens of moments hold all that the likelihoods of thousands of pairs say about
    the weights: where there are many pairs the solver gets these, which keeps its systems sparse.
    """
    import cvxpy
    from cvxpy.atoms.elementwise.log import log

    weights = cvxpy.Variable(law.shape[1], nonneg=True)
    known = [np.ones(law.shape[1]) @ weights == 1]
    if law.shape[0] <= law.shape[1]:
        chances = law @ weights
    else:
        left, sizes, right = np.linalg.svd(law, full_matrices=False)
        rank = int((sizes > RANK * sizes[0]).sum())
        moments = cvxpy.Variable(rank)
        chances = (left[:, :rank] * sizes[:rank]) @ moments
        known.append(moments == right[:rank] @ weights)
    likelihood = (prompts / prompts.sum()) @ log(chances)
    problem = cvxpy.Problem(cvxpy.Maximize(likelihood), known)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # the certificate says how much
        try:
            problem.solve(solver=cvxpy.CLARABEL, **dict.fromkeys(TOLERANCES, 1e-9))  # type: ignore[no-untyped-call]
        except cvxpy.SolverError:
            raise InputError(FAILED) from None
    if weights.value is None:
        raise InputError(FAILED)
    return np.asarray(weights.value)


def _peaks(derivative: Floats) -> NDArray[np.intp]:
    """Where the derivative is positive and not below its neighbours."""
    padded = np.pad(derivative, 1, constant_values=-np.inf)
    return np.flatnonzero((derivative > 0) & (derivative >= padded[:-2]) & (derivative >= padded[2:]))
