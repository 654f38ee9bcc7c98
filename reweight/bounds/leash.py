"""The KL leash: which pass rates a policy at a known divergence from the base can have."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reweight.bounds.tilt import tilt
from reweight.checks import Floats, choice, plain, real, shapes, unit
from reweight.measures.divergences import bernoulli_kl

__all__ = ["kl_leash"]

BEYOND = 800.0
"""Nats above even odds at which a pass rate is one to the last bit, and still no overflow."""


def kl_leash(kl: ArrayLike, pass_rate: ArrayLike, *, branch: str = "upper") -> Floats:
    """Largest (or smallest) pass rate of any policy whose divergence from the base is kl.

    Map: none, any trainer whatever. Hypotheses: kl is KL(pi || pi_0) on one prompt (for sequences the sum over the
    policy's own tokens, not the token mean), pass_rate is the pass rate of that same pi_0. Over prompts, mean
    divergence and mean pass rates obey it too (joint convexity). Sharp: attained by the tilt. Vacuous (1) from
    kl = log(1/p_0) on.

    Parameters
    ----------
    kl : array_like, shape (...)
        Divergence in nats, at least 0.
    pass_rate : array_like, shape (...)
        p_0, the base policy's probability of a correct answer.
    branch : {"upper", "lower"}
        Largest or smallest p with kl(p || p_0) <= kl.

    Returns
    -------
    ndarray, shape (...)
        The pass rate, to relative accuracy 1e-12; exactly p_0 at kl = 0, exactly 1 ("upper") or 0 ("lower") where the
        divergence allows it, exactly 0 for p_0 = 0 and finite kl. A scalar for scalar input.

    Raises
    ------
    InputError
        If kl is negative or NaN, a pass rate is outside [0, 1] or NaN, or branch is unknown.

    Notes
    -----
    Source: R27, C79. The root is sought in the exponent of the tilt that reaches it, where no digits are lost, and as
    an equation between square roots, which is nearly linear for small divergences.

    Examples
    --------
    >>> round(float(kl_leash(0.5, 0.1)), 6), round(float(kl_leash(0.01, 0.1, branch="lower")), 6)
    (0.495051, 0.060411)
    >>> float(kl_leash(2.5, 0.1))
    1.0
    """
    budget, base = real(kl, "kl", at_least=0.0), unit(pass_rate, "pass_rate")
    choice(branch, "branch", ("upper", "lower"))
    shapes(kl=budget, pass_rate=base)
    budget, base = np.broadcast_arrays(budget, base)
    upper = branch == "upper"
    favoured, other = (base, 1.0 - base) if upper else (1.0 - base, base)
    with np.errstate(divide="ignore"):
        cost = -np.log(base) if upper else -np.log1p(-base)
    inside = (budget > 0) & (budget < cost) & (favoured > 0)
    bound = np.where(budget >= cost, 1.0 if upper else 0.0, base)
    if inside.any():
        moved = tilt(favoured[inside], other[inside], _root(budget[inside], favoured[inside], other[inside]))
        bound[inside] = moved.pass_rate if upper else moved.complement
    return plain(bound)


def _root(budget: Floats, base: Floats, complement: Floats) -> Floats:
    """Exponent of the tilt of this divergence, which must lie between 0 and the cost of certainty."""
    from scipy.optimize import elementwise

    def excess(exponent: Floats, budget: Floats, base: Floats, complement: Floats) -> Floats:
        moved = tilt(base, complement, exponent)
        cost = bernoulli_kl(moved.pass_rate, base, moved.gain, moved.complement, complement)
        return np.sqrt(cost) - np.sqrt(budget)

    top = np.maximum(0.0, np.log(complement) - np.log(base)) + BEYOND
    root = elementwise.find_root(excess, (np.zeros_like(top), top), args=(budget, base, complement)).x
    # A budget within rounding of the cost of certainty has no root below the top.
    return np.asarray(np.where(excess(top, budget, base, complement) <= 0, top, root))
