"""What a forecast is asked beside its numbers by group size, and the parts that answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from reweight.errors import InputError
from reweight.forecasting.control import control
from reweight.forecasting.functional import dead_share, pass_at, signal
from reweight.forecasting.noise import noise
from reweight.forecasting.part import Part
from reweight.forecasting.path import TAUS, Distribution, tilt_path
from reweight.forecasting.plan import GROUP_SIZES, plan
from reweight.forecasting.quantity import Estimator, Quantity
from reweight.forecasting.spread import spread
from reweight.forecasting.stuck import stuck

if TYPE_CHECKING:
    from reweight.forecasting.curve import Curve
    from reweight.objectives.objective import Objective
    from reweight.rollouts import Counts, Rollouts

__all__ = ["Questions", "answer"]

About = Literal["pass_rate", "pass_at_k", "dead_share", "signal"]


@dataclass(frozen=True)
class Questions:
    """Which parts a forecast has.

    Parameters
    ----------
    control : bool
        The same numbers for the two halves of the file.
    taus : sequence of float
        Tilt times of the path under TILT and policy gradients; no path without any.
    budget : int, optional
        Rollouts of the whole run, for the plan and the target.
    step_rollouts : int
        Rollouts that one step of the run learns from.
    plan_sizes : sequence of int
        Group sizes that the plan compares; no plan without any.
    target : float, optional
        Pass rate of a prompt that the budget is to reach; needs `budget` and `step_size`.
    step_size : float, optional
        Step size that a prompt sees, that of the optimiser over the groups of a step.
    tpr, fpr : float, optional
        True and false positive rate of a verifier that errs; 1 and 0 where only the other is given.
    width : float, optional
        How narrow an interval is to be, for a design of another file like this one.
    about : {"pass_rate", "pass_at_k", "dead_share", "signal"}
        The quantity of the design, at the group size of the objective.
    length : float, optional
        Tokens a sample, to state budgets by token.
    curve : Curve, optional
        A trainer's log, held against the model that starts from the file.
    kappa : float, optional
        Declared spread of that model.
    """

    control: bool = True
    taus: Sequence[float] = TAUS
    budget: int | None = None
    step_rollouts: int = 512
    plan_sizes: Sequence[int] = GROUP_SIZES
    target: float | None = None
    step_size: float | None = None
    tpr: float | None = None
    fpr: float | None = None
    width: float | None = None
    about: About = "dead_share"
    length: float | None = None
    curve: Curve | None = None
    kappa: float | None = None


def answer(
    questions: Questions,
    rollouts: Rollouts,
    counts: Counts,
    objective: Objective,
    level: float,
    compatible: Distribution | None = None,
) -> dict[str, Part]:
    """The parts, by their key in the JSON and in the order in which they are shown.

    `compatible` is one distribution of pass rates that explains the counts, to be followed along the path.
    """
    parts = {
        **_of_groups(questions, counts, objective, level, compatible),
        **_of_run(questions, rollouts, counts, objective, level, compatible),
    }
    if questions.target is not None:
        parts["target"] = _target(questions, counts, objective)
    if questions.width is not None:
        parts["design"] = _design(questions.width, questions.about, counts, objective, level)
    if questions.control and (halves := control(counts, lambda part: _decisive(part, objective, level), level)):
        parts["control"] = halves
    return parts


def _of_groups(
    questions: Questions, counts: Counts, objective: Objective, level: float, compatible: Distribution | None
) -> dict[str, Part]:
    """What groups at the present pass rates are worth: the plan, the signal, the stuck and the noise."""
    parts: dict[str, Part] = {}
    sizes = questions.plan_sizes
    if questions.budget is not None and sizes:
        parts["plan"] = plan(
            counts,
            objective,
            budget=questions.budget,
            step_rollouts=questions.step_rollouts,
            group_sizes=sizes,
            length=questions.length,
            level=level,
        )
    if sizes:
        # With many numbers of samples each size takes long.
        few = sizes if np.unique(counts.n).size == 1 else (objective.group_size,)
        parts["spread"] = spread(counts, objective, group_sizes=few, compatible=compatible, level=level)
    groups = 0 if questions.budget is None else questions.budget // (len(counts.prompts) * objective.group_size)
    if groups and sizes:
        parts["stuck"] = stuck(counts, group_size=objective.group_size, groups=groups, level=level)
    if questions.tpr is not None or questions.fpr is not None:
        tpr = 1.0 if questions.tpr is None else questions.tpr
        fpr = 0.0 if questions.fpr is None else questions.fpr
        few = sizes or (objective.group_size,)
        parts["noise"] = noise(counts, objective, tpr=tpr, fpr=fpr, group_sizes=few, level=level)
    return parts


def _of_run(
    questions: Questions,
    rollouts: Rollouts,
    counts: Counts,
    objective: Objective,
    level: float,
    compatible: Distribution | None,
) -> dict[str, Part]:
    """How pass rates move: the path, the envelope, and a log that is held against them."""
    parts: dict[str, Part] = {}
    if questions.taus:
        from reweight.forecasting.envelope import envelope

        pairs = None if rollouts.answers is None else rollouts.answers.equal_pairs(len(counts.prompts))
        parts["path"] = tilt_path(
            counts, objective, taus=questions.taus, length=questions.length, compatible=compatible, level=level
        )
        parts["policy_gradient"] = envelope(counts, objective, pairs, taus=questions.taus, level=level)
    if questions.curve is not None:
        from reweight.forecasting.calibrate import calibrate

        parts["calibration"] = calibrate(questions.curve, objective, counts, kappa=questions.kappa, level=level)
    return parts


def _target(questions: Questions, counts: Counts, objective: Objective) -> Part:
    """The base mass that a prompt needs with its share of the budget."""
    from reweight.forecasting.target import target

    if questions.budget is None or questions.step_size is None or questions.target is None:
        raise InputError("a target needs a budget of rollouts and the step size that a prompt sees; give both")
    groups = questions.budget // (len(counts.prompts) * objective.group_size)
    if groups < 1:
        raise InputError(
            f"a budget of {questions.budget} rollouts is less than one group of {objective.group_size} for each of "
            f"{len(counts.prompts)} prompts; give more"
        )
    return target(
        questions.target,
        groups=groups,
        group_size=objective.group_size,
        step=questions.step_size,
        advantage=objective.advantage,
    )


def _design(width: float, about: About, counts: Counts, objective: Objective, level: float) -> Part:
    """Prompts and samples for a quantity, in a world as even as the file allows."""
    from reweight.forecasting.design import design
    from reweight.forecasting.start import Start

    size = objective.group_size
    functional, name = {
        "pass_rate": (pass_at(1), "the pass rate"),
        "pass_at_k": (pass_at(size), f"pass@{size}"),
        "dead_share": (dead_share(size), f"the dead share at G = {size}"),
        "signal": (signal(size, objective.advantage), f"the signal at G = {size}"),
    }[about]
    pilot = Start.of_counts(counts, size).best
    return design(functional, name, pilot, width=width, rng=np.random.default_rng(0), level=level)


def _decisive(counts: Counts, objective: Objective, level: float) -> Mapping[str, Quantity]:
    """The numbers that one decides by, at the group size of the objective."""
    estimator, size = Estimator(counts, level), objective.group_size
    return {
        "pass rate": estimator.mean(pass_at(1)),
        f"pass@{size}": estimator.mean(pass_at(size)),
        f"dead groups, G = {size}": estimator.mean(dead_share(size)),
        f"signal, G = {size}": estimator.mean(signal(size, objective.advantage)),
    }
