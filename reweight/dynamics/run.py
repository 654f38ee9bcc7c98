"""A whole run: any problem, policy, objective and update together, step by step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reweight.checks import integer
from reweight.dynamics.ceilings import add_ceilings
from reweight.dynamics.record import PASS_AT, Record, chosen_records
from reweight.errors import InputError
from reweight.objectives.objective import Objective, flatten
from reweight.policies.policy import Policy
from reweight.problems.problem import Problem, ProblemSet
from reweight.updates.update import Update, prompts_of

if TYPE_CHECKING:
    import xarray

__all__ = ["run"]

Floats = NDArray[np.float64]
MOST_VALUES = 200_000_000


def run(
    problem: Problem | ProblemSet,
    policy: Policy,
    objective: Objective,
    update: Update,
    steps: int,
    *,
    reference: Policy | None = None,
    record: tuple[str, ...] | None = None,
    bounds: bool = False,
    rng: np.random.Generator | None = None,
) -> xarray.Dataset:
    """Compute a trajectory.

    Parameters
    ----------
    problem : Problem or ProblemSet
        What is asked.
    policy : Policy
        Where the run starts.
    objective : Objective
        What a group of samples is worth.
    update : Tilt, PolicyGradient or SampledPolicyGradient
        How the policy moves.
    steps : int
        Number of updates.
    reference : Policy, optional
        The policy of the KL penalty and of the recorded KL; the initial policy by default.
    record : tuple of str, optional
        What to record, of ``reweight.dynamics.record.RECORDS``; all that the problem allows by default.
    bounds : bool
        Put the theory's ceilings beside the path, each only where its hypotheses hold; what is left out and why is in
        the attribute ``bounds_left_out``.
    rng : numpy.random.Generator, optional
        Needed by sampled updates alone.

    Returns
    -------
    xarray.Dataset
        Variables over dimension ``step`` (0..steps), with units and long names. For a ProblemSet the variable is the
        weighted mean and ``prompt_<name>`` holds every prompt. ``parameters`` is the policy's vector after the last
        step.

    Raises
    ------
    InputError
        If the parts do not fit together, the number of steps is negative, or the record would not fit in memory.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> from reweight.policies.flat import FlatPolicy
    >>> from reweight.updates import Tilt
    >>> start = FlatPolicy.from_probabilities([0.01, 0.99])
    >>> path = run(Problem([1, 0]), start, Objective(Advantage(), 8), Tilt(0.1), 50)
    >>> path.pass_rate.values[[0, 10, 50]].round(4)
    array([0.01  , 0.1108, 0.9991])
    """
    integer(steps, "steps", at_least=0)
    prompts = prompts_of(problem)
    records = chosen_records(record, [prompt for prompt, _ in prompts])
    tables = _empty_tables(records, steps + 1, prompts)
    anchor = policy if reference is None else reference
    anchors = [anchor.log_probs(prompt) for prompt, _ in prompts]
    current = policy
    for step in range(steps + 1):
        for position, (prompt, _) in enumerate(prompts):
            now = current.log_probs(prompt)
            for name, spec in records.items():
                value = spec.compute(prompt, now, anchors[position])
                place: tuple[Any, ...] = (step, position, *map(slice, value.shape))
                tables[name][place] = value
        if step < steps:
            current = update.apply(problem, current, objective, reference=anchor, rng=rng)
    dataset = _dataset(problem, records, tables)
    dataset["parameters"] = (
        "parameter",
        current.parameters,
        {"long_name": "parameters after the last step", "units": "nat"},
    )
    dataset.attrs = {"update": repr(update), "policy": type(policy).__name__}
    dataset.attrs |= {
        f"objective.{name}": "none" if value is None else str(value) for name, value in flatten(objective).items()
    }
    return (
        add_ceilings(dataset, problem, policy, objective, update, anchors_initial=reference is None)
        if bounds
        else dataset
    )


def _empty_tables(records: dict[str, Record], rows: int, prompts: list[tuple[Problem, float]]) -> dict[str, Floats]:
    """Return a table of NaN for each record, shape (rows, prompts, its own dimensions)."""
    sizes = {"k": len(PASS_AT), "answer": max(len(prompt) for prompt, _ in prompts)}
    shapes = {
        name: (rows, len(prompts), *(sizes[dimension] for dimension in spec.dimensions))
        for name, spec in records.items()
    }
    needed = sum(math.prod(shape) for shape in shapes.values())
    if needed > MOST_VALUES:
        raise InputError(
            f"the record would hold {needed:.1e} values, above {MOST_VALUES:.0e}: "
            "leave out log_probs or take fewer steps"
        )
    return {name: np.full(shape, np.nan) for name, shape in shapes.items()}


def _dataset(problem: Problem | ProblemSet, records: dict[str, Record], tables: dict[str, Floats]) -> xarray.Dataset:
    import xarray

    variables: dict[str, Any] = {}
    for name, spec in records.items():
        attributes = {"long_name": spec.long_name, "units": spec.units}
        if isinstance(problem, Problem):
            variables[name] = (("step", *spec.dimensions), tables[name][:, 0], attributes)
            continue
        variables[f"prompt_{name}"] = (("step", "prompt", *spec.dimensions), tables[name], attributes)
        if spec.averages:
            mean = np.einsum("sp...,p->s...", tables[name], problem.weights)
            attributes = attributes | {"long_name": f"weighted mean over prompts of the {spec.long_name}"}
            variables[name] = (("step", *spec.dimensions), mean, attributes)
    coordinates: dict[str, Any] = {}
    dimensions = {dimension for variable in variables.values() for dimension in variable[0]}
    steps = len(next(iter(tables.values()))) if tables else 0
    coordinates["step"] = ("step", np.arange(steps), {"long_name": "number of updates", "units": "step"})
    if "k" in dimensions:
        coordinates["k"] = ("k", PASS_AT, {"long_name": "number of draws", "units": "draw"})
    if "answer" in dimensions and isinstance(problem, Problem):
        coordinates["answer"] = ("answer", list(problem.answers), {"long_name": "answer"})
    return xarray.Dataset(variables, coordinates)
