"""A run described by a TOML file: problem, policy, objective, update; strict about every key."""

from __future__ import annotations

import dataclasses
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reweight.checks import number
from reweight.errors import InputError
from reweight.objectives import (
    Advantage,
    Batch,
    Clip,
    Filter,
    KLPenalty,
    LengthPenalty,
    Objective,
    Ratio,
    RewardRule,
    preset,
)
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem, ProblemSet
from reweight.problems.verifier import Verifier
from reweight.updates import UPDATES
from reweight.updates.update import Update

if TYPE_CHECKING:
    import xarray

__all__ = ["RunSpec", "read_spec", "spec_from_tables", "update_named"]

PROBLEM_KEYS = {"rewards", "probabilities", "correct", "answers", "lengths", "counts", "tpr", "fpr", "weight"}
LARGEST_FILE = 1_000_000
RUN_KEYS: dict[str, type] = {"steps": int, "seed": int, "bounds": bool}
NUMBERS: tuple[type, ...] = (int, float)
ITEMS: dict[str, tuple[type, ...]] = {
    "rewards": NUMBERS,
    "probabilities": NUMBERS,
    "lengths": NUMBERS,
    "counts": NUMBERS,
    "correct": (bool,),
    "answers": (str,),
}
WORDS_FOR = {NUMBERS: "numbers", (bool,): "truth values", (str,): "names"}
LARGEST_NUMBER, LARGEST_WEIGHT = 1e300, 1e12
WORDS = {int: "an integer that is not negative", bool: "true or false"}
OBJECTIVE_KEYS = {field.name for field in dataclasses.fields(Objective)}
PARTS: dict[str, Any] = {
    "advantage": Advantage,
    "reward": RewardRule,
    "ratio": Ratio,
    "clip": Clip,
    "kl": KLPenalty,
    "filter": Filter,
    "batch": Batch,
}


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
        path = run(self.problem, self.policy, self.objective, self.update, self.steps, bounds=self.bounds, rng=rng)
        return path.assign_attrs(seed=str(self.seed)) if self.update.needs_rng else path


def update_named(name: str, **fields: Any) -> Update:
    """Return the update of that name, one of reweight.updates.UPDATES, with the given fields.

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
    known = {field.name: field for field in dataclasses.fields(UPDATES[name])}
    unknown = sorted(set(fields) - set(known))
    if unknown:
        raise InputError(f"the update {name} has no {unknown[0]!r}: it takes {', '.join(known)}")
    missing = [key for key, field in known.items() if field.default is dataclasses.MISSING and key not in fields]
    if missing:
        raise InputError(f"the update {name} has no {missing[0]}: give it one")
    update: Update = UPDATES[name](**fields)
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
    file = Path(name)
    if file.exists() and not (file.is_file() and file.stat().st_size <= LARGEST_FILE):
        raise InputError(f"{name!r} cannot be read: it is no file of at most {LARGEST_FILE} bytes")
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{name!r} cannot be read ({error.strerror}): give a TOML file") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name!r} is not TOML: {error}") from None
    try:
        return spec_from_tables(tables)
    except InputError as error:
        raise InputError(f"{name!r}: {error}") from None


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
        for name, kinds in ITEMS.items():
            _list_of(entry.get(name, []), name, kinds)
        extras = {name: entry[name] for name in ("correct", "answers", "lengths", "counts") if name in entry}
        problems.append(_with_verifier(Problem(entry["rewards"], **extras), entry, extras))
        rows.append(entry["probabilities"])
        weights.append(number(entry.get("weight", 1.0), "weight", at_least=0.0, at_most=LARGEST_WEIGHT))
    policy = FlatPolicy.from_probabilities(rows)
    return (ProblemSet(problems, weights) if isinstance(part, list) else problems[0]), policy


def _with_verifier(problem: Problem, entry: Mapping[str, Any], extras: dict[str, Any]) -> Problem:
    """Return the problem with a verifier of the given rates, which are numbers or one an answer."""
    rates = {name: entry[name] for name in ("tpr", "fpr") if name in entry}
    if not rates:
        return problem
    for name, rate in rates.items():
        _list_of(rate if isinstance(rate, list) else [rate], name, NUMBERS)
    seen = {"accepted": float(problem.float_rewards.max()), "refused": float(problem.float_rewards.min())}
    return Problem(problem.rewards, verifier=Verifier.binary(problem.correct, **rates, **seen), **extras)


def _list_of(values: Any, name: str, kinds: tuple[type, ...]) -> None:
    """Refuse what is not a list of the given kinds; true and false are no numbers. Rewards may be lists of channels."""
    if name == "rewards" and isinstance(values, list) and values and all(isinstance(row, list) for row in values):
        for row in values:
            _list_of(row, "a row of rewards", kinds)
        return
    if not isinstance(values, list) or not all(type(value) in kinds for value in values):
        raise InputError(f"{name} is not a list of {WORDS_FOR[kinds]}: give one an answer")
    if float in kinds and not all(abs(value) < LARGEST_NUMBER for value in values):
        raise InputError(f"{name} holds a number that is not finite or above 1e300")


def _values(part: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a part, with the nested ones of a reward rule made."""
    values = dict(table)
    if part == "reward" and isinstance(values.get("channel_weights"), list):
        values["channel_weights"] = tuple(values["channel_weights"])
    if part == "reward" and isinstance(values.get("length_penalty"), Mapping):
        values["length_penalty"] = LengthPenalty(**values["length_penalty"])
    return values


def _objective(table: Mapping[str, Any]) -> Objective:
    fields = dict(table)
    name = fields.pop("preset", "trl")
    unknown = sorted(set(fields) - OBJECTIVE_KEYS)
    if unknown:
        known = ", ".join(sorted(OBJECTIVE_KEYS))
        raise InputError(f"[objective] has an unknown key {unknown[0]!r}: its keys are preset, {known}")
    if not isinstance(name, str):
        raise InputError(f"[objective] preset is {name!r}: give the name of one")
    for part, kind in PARTS.items():
        if part in fields:
            if not isinstance(fields[part], Mapping):
                raise InputError(f"objective.{part} is not a table: write [objective.{part}] and its keys below")
            try:
                fields[part] = kind(**_values(part, fields[part]))
            except TypeError as error:
                raise InputError(f"[objective.{part}] cannot be read: {error}") from None
    return preset(name, **fields)
