"""Options that several verbs share: the objective by preset and overrides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reweight.cli.numbers import real_number

if TYPE_CHECKING:
    from reweight.objectives import Objective
    from reweight.reports import Report

__all__ = [
    "AsJson",
    "Baseline",
    "Beta",
    "Ddof",
    "Eps",
    "GroupSize",
    "Kl",
    "Out",
    "PresetName",
    "Scale",
    "changed",
    "in_short",
    "objective_from",
    "print_json",
    "print_table",
    "shown",
    "write_report",
]

PresetName = Annotated[str, typer.Option("--preset", help="Framework or paper, such as trl; weights --list shows all.")]
GroupSize = Annotated[int | None, typer.Option("-G", "--group-size", help="Draws a group; the preset's by default.")]
Baseline = Annotated[str | None, typer.Option(help="mean, leave_one_out, second_best or none.")]
Scale = Annotated[str | None, typer.Option(help="std, leave_one_out_std, mean or none.")]
Ddof = Annotated[int | None, typer.Option(help="Degrees of freedom of the standard deviation: 0 or 1.")]
Eps = Annotated[str | None, typer.Option(help="Stabiliser of the scale, such as 1e-4.")]
Kl = Annotated[str | None, typer.Option(help="KL penalty in the loss against the start: k1, k2 or k3.")]
Beta = Annotated[str | None, typer.Option(help="Weight of the KL penalty.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Out = Annotated[str | None, typer.Option("--out", help="Write files into this folder.")]

# a number as tables show it: 0.01, 1 - 2e-16, 4/4, or the dash of what does not apply
NUMBER_LIKE = re.compile(r"^(-|[-+0-9./e ]*[0-9])$")
LONGEST_NUMBER = 16
WIDE = 160


def objective_from(preset: str) -> Objective:
    """Return a preset's objective.

    Raises
    ------
    InputError
        If there is no such preset.
    """
    from reweight.objectives import preset as find_preset

    return find_preset(preset)


def changed(
    objective: Objective,
    *,
    group_size: int | None = None,
    baseline: str | None = None,
    scale: str | None = None,
    ddof: int | None = None,
    eps: str | None = None,
    kl: str | None = None,
    beta: str | None = None,
    fields: Mapping[str, Any] | None = None,
) -> Objective:
    """Return an objective with the options that were given put in, and with other `fields` of it.

    Raises
    ------
    InputError
        If an option has no such value, or only one of `kl` and `beta` is given.
    """
    from reweight.errors import InputError
    from reweight.objectives import KLPenalty

    chosen: dict[str, Any] = {"baseline": baseline, "scale": scale, "ddof": ddof}
    changes = {name: value for name, value in chosen.items() if value is not None}
    if eps is not None:
        changes["eps"] = real_number(eps, "--eps")
    parts = dict(fields or {})
    if changes:
        parts["advantage"] = replace(objective.advantage, **changes)
    if group_size is not None:
        parts["group_size"] = group_size
    if (kl is None) != (beta is None):
        raise InputError("a KL penalty needs both --kl and --beta")
    if kl is not None and beta is not None:
        parts["kl"] = KLPenalty(kl, real_number(beta, "--beta"))  # type: ignore[arg-type]
    return replace(objective, **parts)


def in_short(objective: Objective) -> str:
    """Return group size and advantage in one phrase."""
    advantage = objective.advantage
    words = [f"G = {objective.group_size}", f"baseline {advantage.baseline}"]
    divided = advantage.scale.endswith("std")
    words.append(f"scale {advantage.scale}" + (f" (ddof {advantage.ddof})" if divided else ""))
    if advantage.second:
        words.append(f"then {advantage.second} (ddof {advantage.ddof})")
    words.append(f"eps {float(advantage.eps):g}")
    if objective.reward.transform:
        words.append(f"rewards by {objective.reward.transform}")
    if objective.filter is not None:
        words.append(f"{objective.filter.keep} groups kept")
    if objective.batch is not None and objective.couples_prompts:
        prompts = objective.batch.prompts
        words.append("all prompts in one batch" if prompts is None else f"batches of {prompts} prompts")
    return ", ".join(words)


def shown(value: Any) -> str:
    """Return a value as a table shows it: six significant digits, never a 1 that is not one, a dash for nothing."""
    if value is None:
        return "-"
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.6g}"
    return f"1 - {1 - value:.2g}" if text == "1" and 1 - value > 0 else text


def print_json(result: dict[str, Any]) -> None:
    """Print a result as JSON; a number that is not finite would be an error of ours."""
    import json

    print(json.dumps(result, indent=2, allow_nan=False))


def print_table(columns: list[str], rows: list[list[str]], *, width: int | None = None) -> None:
    """Print a table to standard output, at most `width` columns wide; columns of numbers flush right."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for index, column in enumerate(columns):
        text = index == 0 or any(len(row[index]) > LONGEST_NUMBER or not NUMBER_LIKE.search(row[index]) for row in rows)
        table.add_column(column, justify="left" if text else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console()
    room = console.width if console.is_terminal else max(console.width, WIDE)
    Console(width=min(room, width or room), markup=False, highlight=False).print(table)


def write_report(report: Report, folder: str) -> None:
    """Write a report into a folder and name the page on standard error; errors are those of the report."""
    import sys

    from reweight.terminal import line

    print(line(f"report: {report.write(folder)['html']}"), file=sys.stderr)
