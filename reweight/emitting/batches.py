"""A run that is followed step by step, with the rollouts that its trainer would see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reweight.checks import integer
from reweight.dynamics.spec import RunSpec
from reweight.errors import InputError
from reweight.groups.advantages import advantages
from reweight.groups.drawing import Drawn, draw_batch
from reweight.objectives.advantage import Advantage
from reweight.objectives.objective import Objective
from reweight.objectives.reward import RewardRule
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem
from reweight.updates import PolicyGradient, SampledPolicyGradient, Tilt
from reweight.updates.update import Update, prompts_of

__all__ = ["Batch", "Run", "acceptance", "follow", "observe"]

Floats = NDArray[np.float64]
Known = Tilt | PolicyGradient | SampledPolicyGradient
MOST_ROLLOUTS = 20_000_000
PLAIN = Advantage(baseline="none", scale="none")


@dataclass(frozen=True, eq=False)
class Batch:
    """Rollouts of one policy.

    Attributes
    ----------
    step : int
        The training step that drew them, counted from 1 as trainers do: the policy had step - 1 updates.
    policy : FlatPolicy
        What drew them.
    answers : ndarray of int, shape (P, groups, G)
        Which answer of the prompt each rollout is.
    accepted : ndarray of bool, shape (P, groups, G)
        What the verifier said of it.
    lengths : ndarray, shape (P, groups, G)
        Tokens of it; one where the problem does not say.
    advantages : ndarray, shape (P, groups, G)
    entropy : float
        Of the answers of a rollout's prompt, in nats; mean over tokens.
    """

    step: int
    policy: FlatPolicy
    answers: NDArray[np.intp]
    accepted: NDArray[np.bool_]
    lengths: Floats
    advantages: Floats
    entropy: float

    @property
    def rewards(self) -> Floats:
        """1 for accepted and 0 for refused, shape (P, groups, G)."""
        return self.accepted.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Run:
    """A run with all that happened.

    Attributes
    ----------
    spec : RunSpec
        The cause.
    samples : int
        Rollouts of each prompt in a file.
    policies : tuple of FlatPolicy, length steps + 1
        By the number of updates.
    batches : tuple of Batch, length steps
        By training step.
    """

    spec: RunSpec
    samples: int
    policies: tuple[FlatPolicy, ...]
    batches: tuple[Batch, ...]

    @property
    def update(self) -> Known:
        """How the policy moved."""
        return _known(self.spec.update)

    @property
    def problems(self) -> list[Problem]:
        """The P prompts."""
        return [problem for problem, _ in prompts_of(self.spec.problem)]

    @property
    def names(self) -> list[str]:
        """What the files call the prompts."""
        return [f"prompt {i}" for i in range(len(self.problems))]


def follow(spec: RunSpec, groups: int | None = None) -> Run:
    """Follow a run. Drawn groups move a sampled update; under an exact one they are only looked at.

    Parameters
    ----------
    spec : RunSpec
        The run; its path is that of ``spec.run()`` to the last bit.
    groups : int, optional
        Groups of each prompt at each step; those of a sampled update, otherwise 1, by default.

    Raises
    ------
    InputError
        If a file of pass and fail cannot tell what the run does, or there are too many rollouts.
    """
    _check(spec)
    update = spec.update
    own = update.groups if isinstance(update, SampledPolicyGradient) else None
    chosen = (own or 1) if groups is None else integer(groups, "groups", at_least=1)
    if own is not None and chosen != own:
        raise InputError(f"the run draws {own} groups a prompt and {chosen} are asked for: change the update's groups")
    rollouts = chosen * spec.objective.group_size * len(prompts_of(spec.problem)) * spec.steps
    if rollouts > MOST_ROLLOUTS:
        raise InputError(f"{rollouts:.1e} rollouts are above {MOST_ROLLOUTS:.0e}: take fewer steps or prompts")
    rng = np.random.default_rng(spec.seed)
    policies, batches = [spec.policy], []
    for step in range(1, spec.steps + 1):
        now = policies[-1]
        drawn = draw_batch(spec.problem, now, spec.objective, chosen, rng, reference=spec.policy)
        batches.append(_batch(spec, step, now, drawn))
        if isinstance(update, SampledPolicyGradient):
            moved = update.apply_to_draws(
                spec.problem, drawn.draws, now, spec.objective, verdicts=drawn.verdicts, reference=spec.policy
            )
        else:
            moved = update.apply(spec.problem, now, spec.objective, reference=spec.policy)
        policies.append(moved)
    return Run(spec, chosen * spec.objective.group_size, tuple(policies), tuple(batches))


def observe(spec: RunSpec, policy: FlatPolicy, samples: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """What the verifier says of fresh rollouts of a policy, shape (P, samples)."""
    drawn = draw_batch(spec.problem, policy, Objective(PLAIN, samples), 1, rng)
    return _accepted([problem for problem, _ in prompts_of(spec.problem)], drawn)[:, 0, :]


def acceptance(problem: Problem) -> Floats:
    """Probability that the verifier accepts each answer, shape (N,)."""
    if problem.verifier is None:
        return problem.correct.astype(np.float64)
    return np.asarray(problem.verifier.probabilities[:, _accepting(problem)])


def _accepting(problem: Problem) -> int:
    """The level of an erring verifier that means pass."""
    assert problem.verifier is not None
    return int(problem.verifier.levels.argmax())


def _batch(spec: RunSpec, step: int, policy: FlatPolicy, drawn: Drawn) -> Batch:
    problems = [problem for problem, _ in prompts_of(spec.problem)]
    answers = np.array([drawn.draws[problem.prompt] for problem in problems])
    accepted = _accepted(problems, drawn)
    tokens = [np.ones(len(problem)) if problem.lengths is None else problem.lengths for problem in problems]
    lengths = np.array([own[chosen] for own, chosen in zip(tokens, answers, strict=True)])
    entropies = [_entropy(policy.log_probs(problem).total) for problem in problems]
    return Batch(
        step,
        policy,
        answers,
        accepted,
        lengths,
        advantages(accepted.astype(np.float64), spec.objective.advantage, lengths=lengths),
        float(np.average(entropies, weights=lengths.sum(axis=(1, 2)))),
    )


def _accepted(problems: list[Problem], drawn: Drawn) -> NDArray[np.bool_]:
    """Verdicts on draws, shape (P, groups, G)."""
    found = []
    for problem in problems:
        verdicts = drawn.verdicts.get(problem.prompt)
        if verdicts is None:  # then the verdict follows from the answer
            found.append(acceptance(problem)[drawn.draws[problem.prompt]] == 1.0)
        else:
            found.append(verdicts == _accepting(problem))
    return np.array(found)


def _entropy(log_probs: Floats) -> float:
    possible = log_probs[np.isfinite(log_probs)]
    return -float((np.exp(possible) * possible).sum())


def _known(update: Update) -> Known:
    if not isinstance(update, Known):
        raise InputError(f"{type(update).__name__} is no update of this package: emit a run of one of these")
    return update


def _check(spec: RunSpec) -> None:
    """Refuse what pass and fail do not tell."""
    objective = spec.objective
    for problem, _ in prompts_of(spec.problem):
        levels = problem.float_rewards if problem.verifier is None else problem.verifier.levels
        if problem.rewards.ndim > 1 or not set(levels.tolist()) <= {0.0, 1.0}:
            raise InputError(f"a reward of prompt {problem.prompt} is neither 0 nor 1: emitted files say pass or fail")
        if not np.array_equal(problem.float_rewards == 1.0, problem.correct):
            raise InputError(f"prompt {problem.prompt} has a correct answer without reward 1: emitted files say one")
    if objective.advantage.couples_prompts:
        raise InputError("the advantage uses statistics of a batch, which emitted runs do not: choose another preset")
    if objective.reward != RewardRule():
        raise InputError("the objective changes rewards before it compares them: emit a run without a reward rule")
    if objective.filter is not None:
        raise InputError(
            "the objective keeps some groups only, so files would not show the policy: leave the filter out"
        )
    if objective.kl is not None and objective.kl.place != "loss":
        raise InputError(
            "the KL penalty changes the rewards, which files of pass and fail do not show: put it in the loss"
        )
    if _known(spec.update).inner_epochs != 1:
        raise InputError("an emitted run has one inner epoch an update: take inner_epochs = 1")
    if spec.steps < 1:
        raise InputError("a run of no steps has no rollouts: take at least one step")
