"""The typer application; a verb is a module of this folder with a function `command`, named in VERBS."""

from __future__ import annotations

from importlib import import_module

import typer

VERBS = ("verify", "weights", "simulate", "forecast")

app = typer.Typer(
    name="reweight",
    help="Find out exactly what GRPO can and cannot do to your model, before you spend a cluster on it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"reweight {version('grpo-reweight')}")
        raise typer.Exit()


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Options that every verb shares."""


for _verb in VERBS:
    app.command(name=_verb)(import_module(f"reweight.cli.{_verb}").command)
