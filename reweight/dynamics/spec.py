"""A run described by a TOML file: problem, policy, objective, update; strict about every key."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reweight.errors import InputError
from reweight.objectives import Advantage, Clip, KLPenalty, Objective, Ratio, preset
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem, ProblemSet
from reweight.updates import PolicyGradient, SampledPolicyGradient, Tilt
from reweight.updates.update import Update

if TYPE_CHECKING:
    import xarray

__all__ = ["RunSpec", "read_spec", "spec_from_tables", "update_named"]

UPDATES = {"tilt": Tilt, "pg": PolicyGradient, "spg": SampledPolicyGradient}
PROBLEM_KEYS = {"rewards", "probabilities", "correct", "answers", "lengths", "weight"}
RUN_KEYS: dict[str, type] = {"steps": int, "seed": int, "bounds": bool}
WORDS = {int: "an integer that is not negative", bool: "true or false"}
PARTS = {"advantage": Advantage, "ratio": Ratio, "clip": Clip, "kl": KLPenalty}


@dataclass(frozen=True, eq=False)
class RunSpec:
    """Everything that :func:`reweight.run` needs, as values."""

    problem: Problem | ProblemSet
    policy: FlatPolicy
    objective: Objective
    update: Update
    steps: int
    seed: int = 0
    bounds: bool = True

    def run(self) -> xarray.Dataset:
        """Compute the trajectory; the same spec gives the same numbers."""
        from reweight.dynamics.run import run

        rng = np.random.default_rng(self.seed)
        return run(self.problem, self.policy, self.objective, self.update, self.steps, bounds=self.bounds, rng=rng)


def update_named(name: str, **fields: Any) -> Update:
    """Return the update called "tilt", "pg" or "spg" with the given fields.

    Raises
    ------
    InputError
        If there is no such update or field.

    Examples
    --------
    >>> update_named("tilt", step=0.1)
    Tilt(step=0.1, inner_epochs=1)
    """
    if name not in UPDATES:
        raise InputError(f"there is no update {name!r}: choose one of {', '.join(UPDATES)}")
    try:
        update: Update = UPDATES[name](**fields)
    except TypeError as error:
        raise InputError(f"the update {name} cannot be made so: {error}") from None
    return update


def read_spec(path: str | os.PathLike[str]) -> RunSpec:
    """Read a run from a TOML file.

    Raises
    ------
    InputError
        If the file cannot be read, is not TOML, or has a key or value that no part knows.

    Examples
    --------
    >>> import tempfile
    >>> text = '''
    ... [problem]
    ... rewards = [1, 0, 0]
    ... probabilities = [0.1, 0.6, 0.3]
    ... [objective]
    ... preset = "trl"
    ... [update]
    ... name = "tilt"
    ... step = 0.1
    ... [run]
    ... steps = 10
    ... '''
    >>> with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
    ...     _ = file.write(text), file.flush()
    ...     read_spec(file.name).run().sizes["step"]
    11
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            tables = tomllib.load(file)
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror}): give a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{name} is not TOML: {error}") from None
    try:
        return spec_from_tables(tables)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def spec_from_tables(tables: Mapping[str, Any]) -> RunSpec:
    """Return the run that the tables of a TOML file describe; errors are those of :func:`read_spec`."""
    _only(tables, {"problem", "objective", "update", "run"}, "the file")
    problem, policy = _problem(tables.get("problem"))
    update_table = dict(_table(tables, "update"))
    settings: dict[str, Any] = dict(_table(tables, "run"))
    _only(settings, set(RUN_KEYS), "[run]")
    for name, value in settings.items():
        right_kind = type(value) is RUN_KEYS[name]  # true is an integer to isinstance
        if not right_kind or value < 0:
            raise InputError(f"[run] {name} is {value!r}: give {WORDS[RUN_KEYS[name]]}")
    if "steps" not in settings:
        raise InputError("[run] has no steps: add steps = 100")
    update = update_named(str(update_table.pop("name", "tilt")), **update_table)
    return RunSpec(problem, policy, _objective(_table(tables, "objective")), update, **settings)


def _table(tables: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = tables.get(name, {})
    if not isinstance(table, Mapping):
        raise InputError(f"{name} is not a table: write [{name}] and its keys below")
    return table


def _only(table: Mapping[str, Any], allowed: set[str], place: str) -> None:
    unknown = sorted(set(table) - allowed)
    if unknown:
        raise InputError(f"{place} has an unknown key {unknown[0]!r}: the known ones are {', '.join(sorted(allowed))}")


def _problem(part: Any) -> tuple[Problem | ProblemSet, FlatPolicy]:
    entries = part if isinstance(part, list) else [part]
    if not all(isinstance(entry, Mapping) for entry in entries) or not entries:
        raise InputError(
            "there is no problem: write [problem] (or one [[problem]] a prompt) with rewards and probabilities"
        )
    problems, rows, weights = [], [], []
    for entry in entries:
        _only(entry, PROBLEM_KEYS, "[problem]")
        missing = [name for name in ("rewards", "probabilities") if name not in entry]
        if missing:
            raise InputError(f"a problem has no {missing[0]}: give one number an answer")
        extras = {name: entry[name] for name in ("correct", "answers", "lengths") if name in entry}
        problems.append(Problem(entry["rewards"], **extras))
        rows.append(entry["probabilities"])
        weights.append(entry.get("weight", 1.0))
    policy = FlatPolicy.from_probabilities(rows)
    return (problems[0] if not isinstance(part, list) else ProblemSet(problems, weights)), policy


def _objective(table: Mapping[str, Any]) -> Objective:
    fields = dict(table)
    name = str(fields.pop("preset", "trl"))
    for part, kind in PARTS.items():
        if part in fields:
            try:
                fields[part] = kind(**fields[part])
            except TypeError as error:
                raise InputError(f"[objective.{part}] cannot be read: {error}") from None
    return preset(name, **fields)
