"""The seam between objective and policy: the exact expectation of everything that multiplies grad log pi.

Given that answer y was sampled, the group statistics enter through three numbers: the expected positive and negative
parts of advantage times aggregation weight, and the expected aggregation weight. The clipped ratio and the KL term
depend on y alone once the old policy is fixed; so the coefficient is their product, and no other part of the program
needs to know how a group is made. A drawn batch gives the same three numbers by counting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.groups.advantages import float_advantages
from reweight.groups.behaviour import behaviour
from reweight.groups.expectation import distinct_types, expect_given_type, type_masses
from reweight.groups.weights import check_prompt_local
from reweight.objectives.clip import surrogate
from reweight.objectives.kl import KLPenalty
from reweight.objectives.objective import Objective
from reweight.policies.policy import LogProbs, Policy
from reweight.problems.problem import Problem

__all__ = ["conditional_coefficients", "expected_coefficients", "sampled_coefficients"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroupSums:
    """What a group gives each answer, shapes (N, 1): E[(A W)+], E[(A W)-] and E[W], with W the aggregation weight."""

    positive: Floats
    negative: Floats
    weight: Floats


def expected_coefficients(
    problem: Problem,
    policy: Policy,
    objective: Objective,
    *,
    old: Policy | None = None,
    reference: Policy | None = None,
) -> Floats:
    """Compute what multiplies grad log pi in the expected gradient of one group.

    Parameters
    ----------
    problem : Problem
        The prompt.
    policy : Policy
        The policy that is differentiated.
    objective : Objective
        The description of a group's worth.
    old : Policy, optional
        The policy that drew the group and that the ratio is taken against; `policy` itself by default.
    reference : Policy, optional
        The policy of the KL penalty; needed exactly when the objective has one.

    Returns
    -------
    ndarray, shape (N,) where every answer is one token, otherwise (N, T)
        ``policy.pull_back(problem, coefficients)`` is the expected ascent direction.

    Raises
    ------
    InputError
        If the objective couples prompts, or a KL penalty has no reference or an infinite value.

    Notes
    -----
    Source: R01 (on-policy, no KL: pi(y) w(y)), R16 (clip), R12 (KL).

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> from reweight.policies.flat import FlatPolicy
    >>> problem, policy = Problem([1, 0, 0]), FlatPolicy.from_probabilities([0.5, 0.25, 0.25])
    >>> expected_coefficients(problem, policy, Objective(Advantage(), 2))
    array([ 0.25 , -0.125, -0.125])
    """
    current, drawn_by = _log_probs(problem, policy, old)
    given = _conditional(problem, current, drawn_by, objective, reference)
    drawn = np.exp(behaviour(drawn_by))
    return given * (drawn if given.ndim == 1 else drawn[:, None])


def conditional_coefficients(
    problem: Problem,
    policy: Policy,
    objective: Objective,
    *,
    old: Policy | None = None,
    reference: Policy | None = None,
) -> Floats:
    """Compute the same per draw: the expectation given that the answer was sampled, so not weighted by pi_old(y).

    Parameters, shapes and errors are those of :func:`expected_coefficients`. On-policy and without KL this is w(y); it
    stays accurate for answers whose probability underflows.
    """
    return _conditional(problem, *_log_probs(problem, policy, old), objective, reference)


def sampled_coefficients(
    problem: Problem,
    policy: Policy,
    objective: Objective,
    draws: NDArray[np.intp],
    *,
    old: Policy | None = None,
    reference: Policy | None = None,
) -> Floats:
    """Compute what multiplies grad log pi for drawn groups instead of in expectation.

    Parameters
    ----------
    draws : ndarray of int, shape (M, G)
        Answer indices of M groups, whose gradients are averaged.

    Other parameters, the returned shape and the errors are those of :func:`expected_coefficients`.
    """
    check_prompt_local(objective.group_size, objective.advantage)
    if draws.ndim != 2 or draws.shape[1] != objective.group_size:
        raise InputError(f"draws have shape {draws.shape}: give (groups, {objective.group_size}), one group a row")
    current, drawn_by = _log_probs(problem, policy, old)
    lengths = _lengths(problem, drawn_by)
    signed, weight = _group_terms(problem.float_rewards[draws], lengths[draws], objective, range(draws.shape[1]))
    size = len(problem)

    def add_up(values: Floats) -> Floats:
        return np.bincount(draws.ravel(), weights=values.ravel(), minlength=size)[:, None] / draws.size

    sums = GroupSums(add_up(np.maximum(signed, 0)), add_up(np.maximum(-signed, 0)), add_up(weight))
    return _multipliers(problem, current, drawn_by, objective, sums, reference)


def _log_probs(problem: Problem, policy: Policy, old: Policy | None) -> tuple[LogProbs, LogProbs]:
    """Return those of the present and of the old policy, evaluated once where they are the same."""
    current = policy.log_probs(problem)
    return current, current if old is None or old is policy else old.log_probs(problem)


def _conditional(
    problem: Problem, current: LogProbs, old: LogProbs, objective: Objective, reference: Policy | None
) -> Floats:
    return _multipliers(problem, current, old, objective, _expected_sums(problem, old, objective), reference)


def _expected_sums(problem: Problem, old: LogProbs, objective: Objective) -> GroupSums:
    check_prompt_local(objective.group_size, objective.advantage)
    lengths = _lengths(problem, old)
    lengths_matter = objective.aggregation == "token_mean" or objective.advantage.baseline == "length_weighted"
    seen = lengths if lengths_matter else np.ones_like(lengths)
    types, index = distinct_types([problem.float_rewards, seen])
    rewards, token_counts = np.array(types, dtype=np.float64).T

    def statistic(groups: NDArray[np.int64]) -> Floats:
        signed, weight = _group_terms(rewards[groups], token_counts[groups], objective, [0])
        return np.stack([np.maximum(signed[:, 0], 0), np.maximum(-signed[:, 0], 0), weight[:, 0]], axis=1)

    masses = type_masses(np.exp(behaviour(old))[None, :], index, len(types))
    sums = expect_given_type(masses, objective.group_size, statistic)[0, index]
    if not lengths_matter and objective.aggregation == "sequence_mean":
        sums = sums / lengths[:, None]
    return GroupSums(sums[:, 0:1], sums[:, 1:2], sums[:, 2:3])


def _lengths(problem: Problem, log_probs: LogProbs) -> Floats:
    """Return the lengths in tokens: those of the problem, which a policy of several tokens must agree with."""
    tokens: Floats = log_probs.mask.sum(axis=1).astype(np.float64)
    if problem.lengths is None:
        return tokens
    if log_probs.mask.shape[1] > 1 and not np.array_equal(problem.lengths, tokens):
        raise InputError("the problem's lengths are not the policy's numbers of tokens: leave the lengths out")
    return problem.lengths


def _group_terms(
    rewards: Floats, lengths: Floats, objective: Objective, members: Sequence[int]
) -> tuple[Floats, Floats]:
    """Return advantage times aggregation weight, and that weight, of the given members of groups (M, G)."""
    values = float_advantages(rewards, objective.advantage, lengths, members=members)
    rule: dict[str, Callable[[], Any]] = {
        "token_mean": lambda: lengths.shape[1] / lengths.sum(axis=1, keepdims=True),
        "sequence_mean": lambda: 1.0 / lengths[:, members],
        "sequence_sum": lambda: 1.0,
        "constant": lambda: 1.0 / cast(float, objective.constant_length),
    }
    weight = np.broadcast_to(rule[objective.aggregation](), values.shape)
    return values * weight, weight


def _multipliers(
    problem: Problem, current: LogProbs, old: LogProbs, objective: Objective, sums: GroupSums, reference: Policy | None
) -> Floats:
    """Put the group's sums, the clipped ratio and the KL term together.

    Shape (N,) where every answer is one token, otherwise (N, T).
    """
    drawable = np.isfinite(behaviour(old))[:, None] & current.mask
    log_ratio, repeats = _difference(current, old, drawable), np.ones(1)
    if objective.ratio.level == "sequence_product":
        # each token carries the ratio of the whole answer, so each grad log pi meets it once a token
        log_ratio = np.where(current.mask, log_ratio.sum(axis=1, keepdims=True), 0.0)
        repeats = _lengths(problem, old)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = np.exp(log_ratio)
        up = repeats * ratio * surrogate(ratio, 1.0, objective.clip)[1]
        down = repeats * ratio * surrogate(ratio, -1.0, objective.clip)[1]
        result = sums.positive * up + sums.negative * down
    if objective.kl is not None and objective.kl.beta > 0:
        if reference is None:
            raise InputError("the objective has a KL penalty: give the reference policy")
        if objective.kl.gradient == "ratio_weighted" and len(repeats) > 1 and current.mask.shape[1] > 1:
            raise InputError("a ratio-weighted KL takes token ratios: use Ratio('token') for answers of several tokens")
        slope = _kl_slope(current, old, reference.log_probs(problem), objective.kl, drawable)
        result = result - objective.kl.beta * sums.weight * slope
    result = np.where(drawable, result, 0.0)
    if not np.isfinite(result).all():
        raise InputError("a coefficient leaves float64: the policy is too far from the old one, take a smaller step")
    return result[:, 0] if result.shape[1] == 1 else result


def _kl_slope(
    current: LogProbs, old: LogProbs, reference: LogProbs, kl: KLPenalty, drawable: NDArray[np.bool_]
) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        importance = np.exp(_difference(current, old, drawable))
        slope = kl.slope(_difference(current, reference, drawable), importance)
    if not np.isfinite(slope).all():
        raise InputError(
            "the KL penalty is infinite in float64: reference and policy differ too much at an answer that can be drawn"
        )
    return slope


def _difference(left: LogProbs, right: LogProbs, drawable: NDArray[np.bool_]) -> Floats:
    """Log-ratio by token of the answers that can be drawn; zero elsewhere."""
    return np.subtract(left.tokens, right.tokens, out=np.zeros_like(left.tokens), where=drawable)
