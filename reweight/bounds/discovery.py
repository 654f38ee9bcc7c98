"""How likely an answer that has not been sampled can become, and how likely it is ever sampled.

Map: S-PG on a flat softmax, step sizes of any kind. Hypotheses, all needed: rewards 0 and 1 that equal correctness;
advantages that sum to zero in each group and have the sign of correctness (baseline group mean or leave-one-out mean,
one positive divisor a group: std with any ddof and eps, batch std, or none); one inner step; every sample from the
current policy at full support; no KL penalty, entropy bonus or weight decay; no parameters shared with other prompts.
Averaging over groups or prompts in an update, plain momentum and dropping groups without contrast are all allowed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reweight.bounds.steps import unsampled_step_bound
from reweight.checks import Floats, choice, plain, shapes, unit, whole
from reweight.errors import InputError
from reweight.measures import pass_at_k

__all__ = ["discovery_ceiling", "discovery_probability", "first_success_probability"]

SLACK = 1e-9
"""Relative excess of a part over its whole that is taken for rounding."""


def discovery_ceiling(
    base_probability: ArrayLike, pass_rate: ArrayLike, sampled_wrong_mass: ArrayLike | None = None
) -> Floats:
    """Probability that an answer cannot exceed before it is first sampled, however long training takes.

    Map and hypotheses: at the head of this file. Sharp: approached when all sampled wrong mass is pushed to nothing by
    a sampled correct answer of negligible mass. Vacuous where the answer holds most of the base's correct mass.

    Parameters
    ----------
    base_probability : array_like, shape (...)
        pi_0(y) of an answer not sampled so far (correct, or wrong as well).
    pass_rate : array_like, shape (...)
        p_0, the base policy's probability of a correct answer.
    sampled_wrong_mass : array_like, shape (...), optional
        pi_0(S), the base probability of the wrong answers sampled so far. Unknown, it is taken as 1 - p_0.

    Returns
    -------
    ndarray, shape (...)
        min(1, pi_0(y) / (1 - pi_0(S))), at most pi_0(y) / p_0; 0 where pi_0(y) = 0. A scalar for scalar input.

    Raises
    ------
    InputError
        If a probability is outside [0, 1] or NaN, or the sampled wrong mass leaves no room for p_0 or pi_0(y).

    Notes
    -----
    Source: R06, C58. Every answer outside S has a net logit change of at least 0, that of y is 0, so y's share of the
    mass outside S never grows.

    Examples
    --------
    >>> round(float(discovery_ceiling(1e-6, 0.01)), 12)
    0.0001
    >>> float(discovery_ceiling(0.125, 0.25, sampled_wrong_mass=0.5))
    0.25
    """
    mass, correct = unit(base_probability, "base_probability"), unit(pass_rate, "pass_rate")
    shapes(base_probability=mass, pass_rate=correct)
    rest = correct
    if sampled_wrong_mass is not None:
        wrong = unit(sampled_wrong_mass, "sampled_wrong_mass")
        shapes(base_probability=mass, pass_rate=correct, sampled_wrong_mass=wrong)
        if np.any(np.maximum(mass, correct) + wrong > 1.0 + SLACK):
            raise InputError("sampled_wrong_mass must leave room for pass_rate and base_probability; it is too large.")
        rest = np.maximum(1.0 - wrong, correct)
    mass, rest = np.broadcast_arrays(mass, rest)
    share = np.divide(mass, rest, out=np.ones(mass.shape), where=rest > mass)
    return plain(np.where(mass == 0, 0.0, share))


def discovery_probability(
    base_probability: ArrayLike,
    pass_rate: ArrayLike,
    group_size: ArrayLike,
    groups: ArrayLike,
    step: ArrayLike | None = None,
    *,
    groups_per_update: ArrayLike = 1,
    form: str = "minimum",
    ddof: int = 0,
    scale: str = "std",
    eps: ArrayLike = 0.0,
) -> Floats:
    """Upper bound on the chance that a given correct answer is sampled at all within a number of groups.

    Map and hypotheses: at the head of this file. Two bounds and their minimum: "ceiling" is
    1 - (1 - min(1, pi_0(y)/p_0))^{G T}, right for any step sizes and for long runs; "growth" is
    G pi_0(y) (e^{uT} - 1)/(e^u - 1) with u from `unsampled_step_bound` (eta/2 for even G), right for steps of at most
    eta, no momentum, and the group's own std or no divisor; sharp as pi_0(y) and eta T tend to 0. Vacuous where y holds
    most of the base's correct mass and eta T is large; then `first_success_probability` bounds the same chance.

    Parameters
    ----------
    base_probability : array_like, shape (...)
        pi_0(y) of the correct answer y, at most pass_rate.
    pass_rate : array_like, shape (...)
        p_0, the base policy's probability of a correct answer.
    group_size : array_like of int, shape (...)
        G, at least 2.
    groups : array_like of int, shape (...)
        T, the number of groups drawn from this prompt in all, those dropped by a filter included.
    step : array_like, shape (...), optional
        Step size eta. Without it only the ceiling is used.
    groups_per_update : array_like of int, shape (...)
        Groups of the prompt that are averaged in one update.
    form : {"minimum", "ceiling", "growth"}
        Which bound; "growth" needs the step.
    ddof, scale, eps
        As in `advantage_bound`; they matter for "growth" only.

    Returns
    -------
    ndarray, shape (...)
        A bound between 0 and 1; a scalar for scalar input.

    Raises
    ------
    InputError
        If pi_0(y) exceeds p_0, form is unknown or lacks a step, or an argument is out of range.

    Notes
    -----
    Source: R06, C59.

    Examples
    --------
    >>> round(float(discovery_probability(1e-6, 0.01, 8, 1000)), 4)
    0.5507
    >>> round(float(discovery_probability(1e-6, 0.01, 8, 100, step=0.01)), 6)
    0.001035
    """
    choice(form, "form", ("minimum", "ceiling", "growth"))
    mass, correct = unit(base_probability, "base_probability"), unit(pass_rate, "pass_rate")
    size, total = whole(group_size, "group_size", at_least=2), whole(groups, "groups", at_least=0)
    together = whole(groups_per_update, "groups_per_update", at_least=1)
    shapes(base_probability=mass, pass_rate=correct, group_size=size, groups=total, groups_per_update=together)
    if np.any(mass > correct * (1.0 + SLACK)):
        raise InputError("base_probability must not exceed pass_rate: the answer is one of the correct ones.")
    if form == "growth" and step is None:
        raise InputError("form 'growth' needs the step size; give step, or use form 'ceiling'.")
    ceiling = np.asarray(pass_at_k(discovery_ceiling(mass, correct), size * total))
    if form == "ceiling" or step is None:
        return plain(ceiling)
    rate = np.asarray(unsampled_step_bound(step, size, ddof=ddof, scale=scale, eps=eps))
    shapes(step=rate, base_probability=ceiling)
    with np.errstate(over="ignore", invalid="ignore"):
        growth = np.where(mass == 0, 0.0, np.minimum(1.0, size * mass * _draws(rate, total, together)))
    return plain(growth if form == "growth" else np.minimum(ceiling, growth))


def first_success_probability(pass_rate: ArrayLike, group_size: ArrayLike, groups: ArrayLike) -> Floats:
    """Chance 1 - (1 - p_0)^{G T} that the first correct answer appears within T groups, whatever the step sizes.

    Map and hypotheses: at the head of this file. Exact: until the first success every group is all wrong, its
    advantages are zero, and the policy stays the base. It bounds the chance of sampling any one correct answer, and is
    that chance if the answer is the only correct one.

    Parameters
    ----------
    pass_rate : array_like, shape (...)
        p_0, the base policy's probability of a correct answer.
    group_size : array_like of int, shape (...)
        G, at least 2.
    groups : array_like of int, shape (...)
        T, the number of groups drawn from this prompt.

    Returns
    -------
    ndarray, shape (...)
        A probability; a scalar for scalar input.

    Raises
    ------
    InputError
        If the pass rate is outside [0, 1] or NaN, or a count is out of range.

    Notes
    -----
    Source: C60.

    Examples
    --------
    >>> round(float(first_success_probability(0.001, 8, 100)), 6)
    0.550851
    """
    size, total = whole(group_size, "group_size", at_least=2), whole(groups, "groups", at_least=0)
    shapes(group_size=size, groups=total)
    return pass_at_k(pass_rate, size * total)


def _draws(rate: Floats, groups: Floats, together: Floats) -> Floats:
    """Sum over the groups of e^{rate t}, t the number of updates before the group was drawn."""
    updates, last = np.divmod(groups, together)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        series = np.where(rate > 0, np.expm1(rate * updates) / np.expm1(rate), updates)
        rest = np.where(last > 0, last * np.exp(rate * updates), 0.0)
    # inf / inf: a step so large that one update makes the bound empty
    series = np.where(np.isnan(series), np.where(updates > 1, np.inf, updates), series)
    return together * series + rest
