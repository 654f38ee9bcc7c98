"""`reweight forecast FILE`: what base rollouts say about a run before it is started."""

from __future__ import annotations

import typer

__all__ = ["command"]


def command(
    file: str = typer.Argument(help="Base rollouts: counts or rewards as JSON lines or CSV, or TRL's parquet."),
    group_sizes: list[int] = typer.Option(
        [],
        "-G",
        "--group-size",
        help="A group size; may be repeated; discovery takes the first. [default: 2 to 64]",
    ),
    preset: str = typer.Option("trl", "--preset", help="Whose advantage the signal is for."),
    level: float = typer.Option(0.95, "--level", help="Coverage of intervals and bounds."),
    groups: list[int] = typer.Option([], "-T", "--groups", help="Groups drawn a never-solved prompt; may be repeated."),
    format_name: str | None = typer.Option(None, "--format", help="Read the file as this format."),
    threshold: float | None = typer.Option(None, "--threshold", help="Rewards of at least this are correct."),
    reward: str | None = typer.Option(None, "--reward", help="The field or column that says what is correct."),
    step: int | None = typer.Option(None, "--step", help="Use the rows of this training step."),
    merge: bool = typer.Option(False, "--merge", help="Add rows that repeat a prompt."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON; docs/forecast.md describes it."),
    out: str | None = typer.Option(None, "--out", help="Write forecast.json, .md, .png and .svg into this folder."),
) -> None:
    """Forecast a run from base rollouts: dead groups, signal, pass@k and discovery, with intervals or bounds."""
    from reweight import objectives, rollouts
    from reweight.forecast import forecast, forecasting
    from reweight.forecast.files import to_json, write_files

    table = rollouts.read(file, format_name, threshold=threshold, merge=merge, reward=reward, step=step)
    overrides = {"group_size": group_sizes[0]} if group_sizes else {}
    result = forecast(
        table,
        objectives.preset(preset, **overrides),
        level=level,
        group_sizes=group_sizes or forecasting.GROUP_SIZES,
        discovery_groups=groups or forecasting.DISCOVERY_GROUPS,
    )
    typer.echo(to_json(result) if as_json else str(result))
    for path in write_files(result, out) if out is not None else ():
        typer.echo(f"wrote {path}", err=True)
