"""Two objectives side by side: the fields on which they differ, and what that does to the expected gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import real
from reweight.errors import InputError
from reweight.groups.binary import binary_weights
from reweight.groups.coefficients import expected_coefficients
from reweight.objectives.objective import Objective, diff
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem

__all__ = ["Comparison", "compare", "effective_differences"]

Floats = NDArray[np.float64]
REWARDS, LOGITS, PASS_RATES = (1.0, 0.0, 0.0), (0.4, -0.3, 0.1), (0.01, 0.1, 0.5, 0.9)


@dataclass(frozen=True, eq=False)
class Comparison:
    """How two objectives differ.

    Attributes
    ----------
    differences : dict of str to (Any, Any)
        Fields on which they differ, by dotted name; without those that have no effect in either.
    directions : tuple of ndarray, each shape (N,)
        Expected gradient of one group in the logits of a softmax over the answers, for each objective.
    pass_rates : ndarray, shape (P,)
    weights : tuple of ndarray or None, each shape (P, 2)
        Expected advantage of a correct and of a wrong answer at each pass rate; None where an objective looks at more
        than the rewards of one prompt.
    """

    differences: dict[str, tuple[Any, Any]]
    directions: tuple[Floats, Floats]
    pass_rates: Floats
    weights: tuple[Floats | None, Floats | None]

    @property
    def gap_in_direction(self) -> float:
        """Norm of the difference of the two gradients, relative to that of the first; infinite if that is zero."""
        size = float(np.linalg.norm(self.directions[0]))
        apart = float(np.linalg.norm(self.directions[1] - self.directions[0]))
        return apart / size if size > 0 else (float("inf") if apart > 0 else 0.0)

    def __str__(self) -> str:
        rows = [f"{name:<24}{left!s:<16}{right!s}" for name, (left, right) in self.differences.items()]
        rows += [f"gradient {np.round(each, 6).tolist()}" for each in self.directions]
        return "\n".join([*rows, f"relative difference {self.gap_in_direction:.6g}"])

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        apart = self.gap_in_direction
        return {
            "differences": {
                name: [value if isinstance(value, int | float | str | None) else str(value) for value in pair]
                for name, pair in self.differences.items()
            },
            "directions": [each.tolist() for each in self.directions],
            "relative_difference": apart if np.isfinite(apart) else None,
            "pass_rates": self.pass_rates.tolist(),
            "weights": [None if each is None else each.tolist() for each in self.weights],
        }


def compare(
    left: Objective,
    right: Objective,
    *,
    rewards: ArrayLike = REWARDS,
    logits: ArrayLike = LOGITS,
    pass_rates: Sequence[float] = PASS_RATES,
) -> Comparison:
    """Compare two objectives field by field and in what they push.

    Parameters
    ----------
    left, right : Objective
    rewards : array_like, shape (N,)
        Rewards of the bandit on which the expected gradients are computed.
    logits : array_like, shape (N,)
        Its policy, which is also the old policy and the reference.
    pass_rates : sequence of float
        Where the weights on a binary prompt are given.

    Raises
    ------
    InputError
        If the rewards and logits do not fit together, or an objective cannot be computed on them.

    Examples
    --------
    >>> from reweight.objectives.presets import preset
    >>> found = compare(preset("trl", group_size=3), preset("dr_grpo", group_size=3))
    >>> [name for name in found.differences][:2], round(found.gap_in_direction, 4)
    (['advantage.scale', 'aggregation'], 0.4225)
    """
    values = np.asarray(rewards, dtype=np.float64)
    scores = real(logits, "logits")
    if values.ndim != 1 or scores.shape != values.shape:
        raise InputError(f"rewards of shape {values.shape} for logits {scores.shape}: give (N,) each")
    policy = FlatPolicy(scores, (values.size,))
    problem = Problem(values)
    rates = np.asarray(pass_rates, dtype=np.float64)
    return Comparison(
        effective_differences(left, right),
        (_direction(problem, policy, left), _direction(problem, policy, right)),
        rates,
        (_weights(rates, left), _weights(rates, right)),
    )


def effective_differences(left: Objective, right: Objective) -> dict[str, tuple[Any, Any]]:
    """Return the fields on which two objectives differ, without those that have no effect in either."""
    return {name: pair for name, pair in diff(left, right).items() if not _inert(name, left, right)}


def _direction(problem: Problem, policy: FlatPolicy, objective: Objective) -> Floats:
    coefficients = expected_coefficients(problem, policy, objective, reference=policy)
    return np.asarray(policy.pull_back(problem, coefficients))


def _weights(rates: Floats, objective: Objective) -> Floats | None:
    if objective.reward.transform or objective.filter or (objective.kl and objective.kl.place != "loss"):
        return None
    try:
        return np.stack(binary_weights(rates, objective.group_size, objective.advantage), axis=1)
    except InputError:
        return None


def _inert(name: str, left: Objective, right: Objective) -> bool:
    """Whether a field has no effect on either side: what belongs to a std where nothing is divided by one."""
    scales = {left.advantage.scale, right.advantage.scale}
    seconds = {left.advantage.second, right.advantage.second}
    without_std = scales <= {"none", "mean"} and seconds == {None}
    if name in ("advantage.ddof", "advantage.eps_rule"):
        return without_std or "none" in scales
    if name == "advantage.eps":
        return "none" in scales and seconds == {None}
    return False
