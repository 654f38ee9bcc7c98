"""The theory's ceilings beside a trajectory, each only where its hypotheses hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from reweight import bounds
from reweight.objectives.objective import Objective
from reweight.policies.flat import FlatPolicy
from reweight.policies.policy import Policy
from reweight.problems.problem import Problem, ProblemSet
from reweight.updates import PolicyGradient, SampledPolicyGradient, Tilt
from reweight.updates.update import Update

if TYPE_CHECKING:
    import xarray

__all__ = ["add_ceilings"]

KNOWN = (Tilt, PolicyGradient, SampledPolicyGradient)


def add_ceilings(
    dataset: xarray.Dataset,
    problem: Problem | ProblemSet,
    policy: Policy,
    objective: Objective,
    update: Update,
    *,
    anchors_initial: bool,
) -> xarray.Dataset:
    """Return the dataset of one prompt with its ceilings; what is left out and why is an attribute.

    Added are ``leash_ceiling`` (R27: any trainer, from the recorded KL), ``pass_rate_ceiling`` (R05, R07: step by step)
    and ``discovery_ceiling`` by answer (R06: while the answer was never sampled).
    """
    reason = _no_ceiling_at_all(dataset, problem, policy)
    if reason:
        return dataset.assign_attrs(bounds_left_out=f"all ceilings: {reason}")
    assert isinstance(problem, Problem)
    assert isinstance(policy, FlatPolicy)
    left_out = []
    start = float(dataset.pass_rate[0])
    result = dataset
    if anchors_initial:
        cap = np.asarray(bounds.kl_leash(dataset.kl.values, start))
        result = result.assign(
            leash_ceiling=("step", cap, _attributes("largest pass rate that the KL from the start allows"))
        )
    else:
        left_out.append("leash_ceiling: the KL is measured from a reference that is not the start")
    reason = _why_not_stepwise(problem, objective, update)
    if reason:
        left_out += [f"pass_rate_ceiling: {reason}", f"discovery_ceiling: {reason}"]
        return result.assign_attrs(bounds_left_out="; ".join(left_out))
    assert isinstance(update, KNOWN)
    result = result.assign(
        pass_rate_ceiling=("step", _stepwise(dataset, objective, update), _attributes("largest reachable pass rate"))
    )
    if isinstance(update, SampledPolicyGradient):
        ceiling = _discovery(dataset, policy.log_probs(problem).probabilities, start, objective, update)
        name = "largest probability of an answer while it was never sampled"
        result = result.assign(discovery_ceiling=(("step", "answer"), ceiling, _attributes(name)))
    else:
        left_out.append("discovery_ceiling: it is about sampled updates")
    return result.assign_attrs(bounds_left_out="; ".join(left_out) or "none")


def _attributes(long_name: str) -> dict[str, str]:
    return {"long_name": long_name, "units": "1"}


def _no_ceiling_at_all(dataset: xarray.Dataset, problem: Problem | ProblemSet, policy: Policy) -> str:
    if not isinstance(problem, Problem):
        return "they are stated prompt by prompt, so run one Problem"
    if not isinstance(policy, FlatPolicy):
        return "they are stated for a table"
    if "pass_rate" not in dataset or "kl" not in dataset:
        return "pass_rate and kl are not recorded"
    if problem.rewards.ndim > 1 or problem.verifier is not None:
        return "the reward is not one number that is observed"
    if (
        not np.array_equal(problem.correct, problem.float_rewards == problem.float_rewards.max())
        or len(set(problem.float_rewards)) != 2
    ):
        return "the reward is not the correctness of the answer"
    return ""


def _why_not_stepwise(problem: Problem, objective: Objective, update: Update) -> str:
    advantage = objective.advantage
    if not isinstance(update, KNOWN):
        return "they are stated for the updates of this package"
    if update.inner_epochs != 1:
        return "more than one inner epoch"
    reason = _why_not_one_group(objective)
    if reason:
        return reason
    if objective.kl is not None and objective.kl.beta > 0:
        return "a KL penalty moves answers that were not sampled"
    if advantage.baseline != "mean" or advantage.scale not in ("std", "none") or advantage.selection != "all":
        return "the advantages are not centred with one scale a group"
    if advantage.eps_rule != "added":
        return "the bounds are stated for eps added to the standard deviation"
    if set(problem.float_rewards) != {0.0, 1.0} and (advantage.scale == "none" or advantage.eps > 0):
        return "without a pure standard deviation the bounds are stated for rewards 0 and 1"
    if problem.lengths is not None and len(set(problem.lengths)) > 1 and objective.aggregation.endswith("_mean"):
        return "the aggregation weighs answers by their length"
    return ""


def _why_not_one_group(objective: Objective) -> str:
    """What makes an update more, or less, than one plain group of one prompt."""
    rule = objective.reward
    if objective.batch is not None or objective.advantage.second is not None:
        return "a batch couples prompts"
    if objective.filter is not None:
        return "groups are filtered"
    if rule.transform is not None or rule.bonus or rule.length_penalty is not None or rule.channel_weights is not None:
        return "rewards are changed before the group compares them"
    return ""


def _stepwise(
    dataset: xarray.Dataset, objective: Objective, update: Tilt | PolicyGradient | SampledPolicyGradient
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    advantage = objective.advantage
    bound = bounds.log_odds_step_bound(
        update.step,
        objective.group_size,
        update=update.name,
        ddof=advantage.ddof,
        scale=advantage.scale,
        eps=float(advantage.eps),
    )
    return np.asarray(expit(float(dataset.log_odds[0]) + dataset.step.values * bound))


def _discovery(
    dataset: xarray.Dataset,
    base: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    start: float,
    objective: Objective,
    update: SampledPolicyGradient,
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    advantage = objective.advantage
    growth = bounds.unsampled_step_bound(
        update.step, objective.group_size, ddof=advantage.ddof, scale=advantage.scale, eps=float(advantage.eps)
    )
    horizon = np.exp(np.minimum(dataset.step.values[:, None] * growth, 700.0)) * base
    ceiling = bounds.discovery_ceiling(base, start) if start > 0 else np.ones_like(base)
    return np.asarray(np.minimum(np.minimum(horizon, ceiling), 1.0))
