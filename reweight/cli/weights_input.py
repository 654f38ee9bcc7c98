"""From the options of `reweight weights` to an objective and a prompt; what makes no sense together is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from reweight.cli import options
from reweight.cli.numbers import exact_number, exact_numbers, float_sized, real_number, real_numbers
from reweight.errors import InputError

if TYPE_CHECKING:
    from reweight.objectives import Objective
    from reweight.objectives.config import TrainerConfig
    from reweight.problems import Problem

__all__ = ["Prompt", "against", "objective", "prompt", "question"]

Given = Mapping[str, Any]
"""The options that were given, by the name of their parameter."""

USUAL_RATES = "0.01,0.1,0.5"
USUAL_RADIUS = "1e-20"
SPELLED = {"as_json": "--json", "list_presets": "--list", "keep": "--filter", "k": "-k"}
OF_ANSWERS = (
    *("probabilities", "lengths", "counts", "correct", "bonus"),
    *("channel_weights", "order", "aggregation", "constant_length"),
)
ALONE = {"list": ("list_presets", "as_json"), "diff": ("diff", "group_size", "pass_rate", "as_json")}
NEEDED = {
    "counts": (("bonus", "config"), "--bonus 0.4"),
    "bonus": (("counts",), "--counts 1,0,1"),
    "correct": (("tpr", "fpr"), "--tpr 0.9 or --fpr 0.1"),
    "aggregation": (("lengths",), "--lengths 120,80,300"),
    "constant_length": (("lengths",), "--lengths 120,80,300"),
    "radius": (("precision",), "--precision ball"),
}
RIVALS = (("preset", "config"), ("keep", "mixed_only"))


@dataclass(frozen=True)
class Prompt:
    """What is asked about: binary prompts by pass rate, or one prompt with its answers.

    Attributes
    ----------
    rates : list of Fraction
        Pass rates of binary prompts; empty if one prompt is asked about.
    tpr, fpr : Fraction
        Of the binary prompts' verifier.
    problem : Problem or None
    masses : list of Fraction
        Probabilities of the problem's answers.
    precision : dict
        Keywords `precision` and `radius` of the tables.
    """

    rates: list[Fraction]
    tpr: Fraction
    fpr: Fraction
    problem: Problem | None
    masses: list[Fraction]
    precision: dict[str, Any]


def _spelled(name: str) -> str:
    return SPELLED.get(name, "--" + name.replace("_", "-"))


def question(given: Given) -> str:
    """Return which question the options ask: "list", "diff", "binary" or "answers".

    Raises
    ------
    InputError
        If they ask none or several, or one of them has no meaning beside the others.
    """
    for kind, allowed in ALONE.items():
        if allowed[0] in given:
            for name in set(given).difference(allowed):
                raise InputError(f"{_spelled(name)} has no meaning beside {_spelled(allowed[0])}: leave it out")
            return kind
    if ("pass_rate" in given) == ("rewards" in given) and ("pass_rate" in given or "config" not in given):
        raise InputError("say what is asked: --pass-rate 0.01, or --rewards 1,0.5,0 with --probabilities 0.2,0.3,0.5")
    kind = "answers" if "rewards" in given else "binary"
    if kind == "binary":
        for name in set(given).intersection(OF_ANSWERS):
            raise InputError(f"{_spelled(name)} goes with --rewards: leave it out beside --pass-rate")
    _check_pairs(given)
    return kind


def _check_pairs(given: Given) -> None:
    """Refuse options that exclude each other, and those without effect."""
    for first, second in RIVALS:
        if first in given and second in given:
            raise InputError(f"{_spelled(first)} and {_spelled(second)} exclude each other: give one of them")
    for name, (others, example) in NEEDED.items():
        if name in given and not set(given).intersection(others):
            raise InputError(f"{_spelled(name)} has no effect alone: give {example} too")
    if "radius" in given and given["precision"] != "ball":
        raise InputError("--radius is that of a ball: give --precision ball, or leave it out")


def objective(given: Given) -> tuple[str, Objective, TrainerConfig | None]:
    """Return the objective with a name, and the configuration that was read for it.

    Raises
    ------
    InputError
        If an option has no such value, or the objective would make no sense.
    """
    if "config" in given:
        from pathlib import Path

        from reweight.objectives.config import read_config

        read = read_config(Path(given["config"]))
        return given["config"], _changed(read.objective, given), read
    name = given.get("preset", "trl")
    return name, _changed(options.objective_from(name), given), None


def against(given: Given, other: Objective) -> Objective:
    """Return the preset to compare with, in groups of the same size that are sampled in the same way."""
    shared = {name: given[name] for name in ("keep", "mixed_only", "rounds", "max_rounds", "batch") if name in given}
    return _changed(options.objective_from(given["against"]), {"group_size": other.group_size, **shared})


def _changed(start: Objective, given: Given) -> Objective:
    fields: dict[str, Any] = {"reward": replace(start.reward, **_reward_rule(given))}
    if "aggregation" in given or "constant_length" in given:
        length = real_number(given["constant_length"], "--constant-length") if "constant_length" in given else None
        fields |= {"aggregation": given.get("aggregation", "constant"), "constant_length": length}
    fields |= _filter(start, given) | _batch(given)
    plain = {name: given[name] for name in ("group_size", "baseline", "scale", "ddof", "eps") if name in given}
    return options.changed(start, **plain, fields=fields)


def _reward_rule(given: Given) -> dict[str, Any]:
    rule: dict[str, Any] = {}
    if "bonus" in given:
        rule["bonus"] = real_number(given["bonus"], "--bonus")
    if "channel_weights" in given:
        rule["channel_weights"] = tuple(real_numbers(given["channel_weights"], "--channel-weights"))
    if "order" in given:
        rule["order"] = given["order"]
    if "transform" in given:
        rule |= {"transform": given["transform"], "k": given.get("k")}
    elif "k" in given:
        rule["k"] = given["k"]
    return rule


def _filter(start: Objective, given: Given) -> dict[str, Any]:
    from reweight.objectives import Filter

    rounds = {name: given[name] for name in ("rounds", "max_rounds") if name in given}
    keep: Any = "mixed" if "mixed_only" in given else given.get("keep")
    if keep is None and start.filter is not None:
        return {"filter": replace(start.filter, **rounds)}
    if keep in (None, "all"):
        if rounds:
            raise InputError("--rounds and --max-rounds are about groups that are not kept: give --filter mixed too")
        return {"filter": None}
    return {"filter": Filter(keep, **rounds)}


def _batch(given: Given) -> dict[str, Any]:
    from reweight.objectives import Batch

    if "batch" not in given:
        return {}
    if given["batch"] == "every":
        return {"batch": Batch()}
    number = exact_number(given["batch"], "--batch") if given["batch"].strip().isdigit() else None
    if number is None:
        raise InputError("--batch is neither 'every' nor a whole number of prompts: write every or 4")
    return {"batch": Batch("drawn", prompts=int(number))}


def prompt(given: Given, rates: list[Fraction]) -> Prompt:
    """Return what is asked about.

    Raises
    ------
    InputError
        If the numbers of one prompt do not fit together.
    """
    precision: dict[str, Any] = {"precision": given.get("precision", "float64")}
    if precision["precision"] == "ball":
        precision["radius"] = real_number(given.get("radius", USUAL_RADIUS), "--radius")
    tpr, fpr = given.get("tpr", "1"), given.get("fpr", "0")
    if "rewards" not in given:
        found = rates or exact_numbers(USUAL_RATES, "--pass-rate")
        return Prompt(found, exact_number(tpr, "--tpr"), exact_number(fpr, "--fpr"), None, [], precision)
    masses = exact_numbers(given["probabilities"], "--probabilities") if "probabilities" in given else []
    return Prompt([], Fraction(1), Fraction(0), _problem(given, tpr, fpr), masses, precision)


def _problem(given: Given, tpr: str, fpr: str) -> Problem:
    """Build the prompt from its options; the channels of an answer's reward are separated by colons."""
    import numpy as np

    from reweight.problems import Problem, Verifier

    texts = given["rewards"].split(",")
    rows = [float_sized(exact_numbers(text.replace(":", ","), "--rewards"), "--rewards") for text in texts]
    if len({len(row) for row in rows}) > 1:
        raise InputError("--rewards has answers with unequal numbers of channels: give each as many")
    table = np.array(rows, dtype=object)
    parts: dict[str, Any] = {
        name: real_numbers(given[name], f"--{name}") for name in ("lengths", "counts") if name in given
    }
    if "correct" in given:
        parts["correct"] = _marks(given["correct"])
    problem = Problem(table[:, 0] if table.shape[1] == 1 else table, **parts)
    if "tpr" not in given and "fpr" not in given:
        return problem
    if table.shape[1] > 1:
        raise InputError("--tpr and --fpr are about one reward an answer: leave the channels out")
    if max(rows) == min(rows):
        raise InputError(
            "--rewards has one value alone, so a verifier that errs shows the same: leave --tpr and --fpr out"
        )
    if not problem.has_correct_set:
        raise InputError("--tpr and --fpr need to know which answers are correct: give --correct 1,0,0")
    accept, refuse = (np.array(real_numbers(text, name)) for text, name in ((tpr, "--tpr"), (fpr, "--fpr")))
    verifier = Verifier.binary(
        problem.correct,
        tpr=accept if accept.size > 1 else accept[0],
        fpr=refuse if refuse.size > 1 else refuse[0],
        accepted=float(max(rows)[0]),
        refused=float(min(rows)[0]),
    )
    return Problem(problem.rewards, verifier=verifier, **parts)


def _marks(text: str) -> list[bool]:
    marks = exact_numbers(text, "--correct")
    if any(mark not in (0, 1) for mark in marks):
        raise InputError("--correct holds something else than 1 (correct) and 0 (wrong): write 1,0,0")
    return [mark == 1 for mark in marks]
