"""What can be recorded of a policy on one prompt at one step of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reweight import measures
from reweight.errors import InputError
from reweight.objectives.kl import kl_divergence
from reweight.policies.policy import LogProbs
from reweight.problems.problem import Problem

__all__ = ["DEFAULT", "PASS_AT", "RECORDS", "Record", "chosen_records"]

Floats = NDArray[np.float64]
PASS_AT = 2 ** np.arange(11)
"""The k of recorded pass@k: 1, 2, 4, ..., 1024."""


@dataclass(frozen=True)
class Record:
    """A quantity of a trajectory.

    Attributes
    ----------
    compute : callable
        From (problem, log-probabilities, reference's log-probabilities) to a value of dimensions `dimensions`.
    long_name, units : str
        For the attributes of the variable.
    dimensions : tuple of str
        Dimensions beyond step and prompt.
    averages : bool
        Whether the weighted mean over prompts is the set's value.
    needs_correct : bool
        Whether a correct set is needed.
    """

    compute: Callable[[Problem, LogProbs, LogProbs], Floats]
    long_name: str
    units: str
    dimensions: tuple[str, ...] = ()
    averages: bool = True
    needs_correct: bool = False


def _pass_rate(problem: Problem, now: LogProbs, reference: LogProbs) -> Floats:
    return np.asarray(min(1.0, now.probabilities[problem.correct].sum()))


def _log_odds(problem: Problem, now: LogProbs, reference: LogProbs) -> Floats:
    right, wrong = (
        np.logaddexp.reduce(now.total[members], initial=-np.inf) for members in (problem.correct, ~problem.correct)
    )
    return np.asarray(right - wrong)


def _pass_at_k(problem: Problem, now: LogProbs, reference: LogProbs) -> Floats:
    return measures.pass_at_k(_pass_rate(problem, now, reference), PASS_AT)


def _expected_reward(problem: Problem, now: LogProbs, reference: LogProbs) -> Floats:
    rewards = problem.float_rewards
    return np.asarray(now.probabilities @ (rewards if rewards.ndim == 1 else rewards.sum(axis=1)))


def _entropy(problem: Problem, now: LogProbs, reference: LogProbs) -> Floats:
    finite = np.isfinite(now.total)
    return np.asarray(-(now.probabilities[finite] * now.total[finite]).sum())


def _kl(problem: Problem, now: LogProbs, reference: LogProbs) -> Floats:
    pi, ref = now.probabilities, reference.probabilities
    log_ratio = np.subtract(now.total, reference.total, out=np.zeros_like(pi), where=pi > 0)
    return np.asarray(kl_divergence(pi, ref, log_ratio))


def _support(problem: Problem, now: LogProbs, reference: LogProbs) -> Floats:
    return np.asarray(float(np.isfinite(now.total).sum()))


def _log_probs(problem: Problem, now: LogProbs, reference: LogProbs) -> Floats:
    return now.total


RECORDS: dict[str, Record] = {
    "pass_rate": Record(_pass_rate, "probability of a correct answer", "1", needs_correct=True),
    "log_odds": Record(_log_odds, "log-odds of a correct answer", "nat", averages=False, needs_correct=True),
    "pass_at_k": Record(_pass_at_k, "probability of a correct answer among k draws", "1", ("k",), needs_correct=True),
    "expected_reward": Record(_expected_reward, "expected reward", "reward"),
    "entropy": Record(_entropy, "entropy of the answer distribution", "nat"),
    "kl": Record(_kl, "KL divergence from the reference policy, KL(pi || reference)", "nat"),
    "support": Record(_support, "number of answers with positive probability", "answers"),
    "log_probs": Record(_log_probs, "log-probability of each answer", "nat", ("answer",), averages=False),
}
DEFAULT = tuple(RECORDS)


def chosen_records(names: tuple[str, ...] | None, problems: list[Problem]) -> dict[str, Record]:
    """Return the records of the given names; all that the problems allow for None.

    Raises
    ------
    InputError
        If a name is unknown.
    """
    has_correct = all(problem.has_correct_set for problem in problems)
    if names is None:
        return {name: record for name, record in RECORDS.items() if has_correct or not record.needs_correct}
    unknown = [name for name in names if name not in RECORDS]
    if unknown:
        raise InputError(f"{unknown[0]!r} cannot be recorded: choose from {', '.join(RECORDS)}")
    return {name: RECORDS[name] for name in names}
