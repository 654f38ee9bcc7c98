"""One prompt under an objective: who is drawn, what a group sees, and the ratios and KL terms of each token."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.groups.behaviour import behaviour
from reweight.groups.group_sums import GroupSums
from reweight.groups.outcomes import observe
from reweight.objectives.kl import KLPenalty
from reweight.objectives.loss import multiplier, token_ratios
from reweight.objectives.objective import Objective
from reweight.policies.policy import LogProbs, Policy
from reweight.problems.problem import Problem, ProblemSet

__all__ = ["Prompt"]

Floats = NDArray[np.float64]


class Prompt:
    """One prompt with all that does not depend on the group: who is drawn, what is seen, ratios and KL."""

    def __init__(
        self, problem: Problem, policy: Policy, objective: Objective, old: Policy | None, reference: Policy | None
    ) -> None:
        self.problem, self.objective = problem, objective
        self.current = policy.log_probs(problem)
        self.on_policy = old is None or old is policy  # then no ratio is clipped
        self.old = self.current if old is None or old is policy else old.log_probs(problem)
        log_drawn = behaviour(self.old)
        self.drawn = np.exp(log_drawn)
        self.drawable = np.isfinite(log_drawn)[:, None] & self.current.mask
        self.lengths = _lengths(problem, self.old)
        self.reference: LogProbs | None = None
        if objective.kl is not None and objective.kl.beta > 0:
            if reference is None:
                raise InputError("the objective has a KL penalty: give the reference policy")
            self.reference = reference.log_probs(problem)
        penalty = self._penalty()
        place = objective.kl.place if objective.kl is not None else "loss"
        self.outcomes = observe(
            problem, self.lengths, objective, penalty.sum(axis=1) if place == "reward" else np.zeros(len(problem))
        )
        to_come = np.cumsum(penalty[:, ::-1], axis=1)[:, ::-1]
        self.shifts = to_come if place == "advantage" else np.zeros((len(problem), 1))

    @classmethod
    def of(
        cls,
        problem: Problem | ProblemSet,
        policy: Policy,
        objective: Objective,
        old: Policy | None,
        reference: Policy | None,
    ) -> list[Prompt]:
        """Return the prompts of a problem or a set of problems, in order."""
        problems = problem.problems if isinstance(problem, ProblemSet) else (problem,)
        return [cls(each, policy, objective, old, reference) for each in problems]

    def _penalty(self) -> Floats:
        """Return beta times the estimator of each token at the policy that drew it; zero where KL is in the loss."""
        kl = self.objective.kl
        if kl is None or self.reference is None or kl.place == "loss":
            return np.zeros(self.current.tokens.shape)
        with np.errstate(over="ignore"):
            value = kl.beta * kl.value(_difference(self.old, self.reference, self.drawable))
        if not np.isfinite(value).all():
            raise InputError("the KL penalty is infinite in float64: the reference is too far from the old policy")
        return np.where(self.drawable, value, 0.0)

    def multiplied(self, sums: GroupSums) -> Floats:
        """Put the group's sums, the clipped ratio and the KL term together.

        Shape (N,) where every answer is one token, otherwise (N, T).
        """
        level, clip = self.objective.ratio.level, self.objective.clip
        log_ratio, repeats = _difference(self.current, self.old, self.drawable), np.ones(1)
        if level == "sequence_product":
            # each token's term holds the ratio of the whole answer, so each grad log pi meets it once a token
            repeats = self.lengths[:, None]
        if level == "sequence_mean" and self.current.mask.shape[1] == 1:
            log_ratio = log_ratio / self.lengths[:, None]  # one entry stands for all tokens of the answer
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = token_ratios(log_ratio, self.current.mask, level)
            up = repeats * multiplier(ratio, 1.0, clip, level)
            down = repeats * multiplier(ratio, -1.0, clip, level)
            result = sums.positive * up + sums.negative * down
        kl = self.objective.kl
        if kl is not None and self.reference is not None and kl.place == "loss":
            if kl.gradient == "ratio_weighted" and level == "sequence_product" and self.current.mask.shape[1] > 1:
                raise InputError("a ratio-weighted KL takes token ratios: use Ratio('token') for longer answers")
            slope = _kl_slope(self.current, self.old, self.reference, kl, self.drawable)
            result = result - kl.beta * sums.weight * slope
        result = np.where(self.drawable, result, 0.0)
        if not np.isfinite(result).all():
            raise InputError(
                "a coefficient leaves float64: policy and old policy are too far apart, take a smaller step"
            )
        return result[:, 0] if result.shape[1] == 1 else result


def _lengths(problem: Problem, log_probs: LogProbs) -> Floats:
    """Return the lengths in tokens: those of the problem, which a policy of several tokens must agree with."""
    tokens: Floats = log_probs.mask.sum(axis=1).astype(np.float64)
    if problem.lengths is None:
        return tokens
    if log_probs.mask.shape[1] > 1 and not np.array_equal(problem.lengths, tokens):
        raise InputError("the problem's lengths are not the policy's numbers of tokens: leave the lengths out")
    return problem.lengths


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
