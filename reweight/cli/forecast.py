"""`reweight forecast FILE`: what base rollouts say about a run before it is started."""

from __future__ import annotations

from typing import Annotated

import typer

from reweight.cli import options
from reweight.cli.numbers import real_number

__all__ = ["command"]

File = Annotated[str, typer.Argument(help="Base rollouts: counts or rewards as JSON lines or CSV, or TRL's parquet.")]
GroupSizes = Annotated[
    list[int] | None,
    typer.Option("-G", "--group-size", help="A group size; may be repeated, discovery takes the first. [2 to 64]"),
]
Groups = Annotated[
    list[int] | None,
    typer.Option("-T", "--groups", help="Groups drawn from a never-solved prompt; may be repeated. [1 to 256]"),
]
Level = Annotated[str, typer.Option(help="Coverage of intervals and bounds.")]
Format = Annotated[str | None, typer.Option("--format", help="Read the file as this format.")]
Threshold = Annotated[str | None, typer.Option(help="Rewards of at least this are correct.")]
Reward = Annotated[str | None, typer.Option(help="The field or column that says what is correct.")]
Step = Annotated[int | None, typer.Option(help="Use the rows of this training step.")]
Merge = Annotated[bool, typer.Option("--merge", help="Add rows that repeat a prompt.")]


def command(
    file: File,
    group_sizes: GroupSizes = None,
    groups: Groups = None,
    preset: options.PresetName = "trl",
    level: Level = "0.95",
    format_name: Format = None,
    threshold: Threshold = None,
    reward: Reward = None,
    step: Step = None,
    merge: Merge = False,
    as_json: options.AsJson = False,
    out: options.Out = None,
) -> None:
    """Forecast a run from base rollouts: dead groups, signal, pass@k and discovery, with intervals or bounds."""
    from reweight import rollouts
    from reweight.files import check_writable
    from reweight.forecasting.files import write_files
    from reweight.forecasting.forecast import DISCOVERY_GROUPS, GROUP_SIZES, forecast
    from reweight.terminal import line

    if out is not None:
        check_writable(out)
    least = None if threshold is None else real_number(threshold, "--threshold")
    result = forecast(
        rollouts.read(file, format_name, threshold=least, merge=merge, reward=reward, step=step),
        options.changed(options.objective_from(preset), group_size=group_sizes[0] if group_sizes else None),
        level=real_number(level, "--level"),
        group_sizes=group_sizes or GROUP_SIZES,
        discovery_groups=groups or DISCOVERY_GROUPS,
    )
    written = write_files(result, out) if out is not None else ()
    if as_json:
        options.print_json(result.to_dict())
    else:
        typer.echo(str(result))
    for path in written:
        typer.echo(f"wrote {line(path)}", err=True)
