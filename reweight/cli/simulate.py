"""`reweight simulate`: the whole trajectory of a run on a finite answer set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from reweight.cli import options
from reweight.cli.numbers import as_float, exact_number, real_number, real_numbers

if TYPE_CHECKING:
    import xarray

__all__ = ["command"]

SHOWN_ROWS = 11
BESIDE_A_FILE = ("file", "as_json", "out")

File = Annotated[str | None, typer.Argument(help="A run as TOML; instead of the options below.")]
Rewards = Annotated[str, typer.Option(help="Reward of each answer: 1,0,0.")]
Probabilities = Annotated[str | None, typer.Option(help="Start: probability of each answer, 0.1,0.6,0.3.")]
PassRate = Annotated[str | None, typer.Option("-p", "--pass-rate", help="Start: one correct, one wrong answer.")]
UpdateName = Annotated[
    str, typer.Option("--update", help="tilt, policy_gradient (exact) or sampled_policy_gradient (drawn groups).")
]
Step = Annotated[str, typer.Option(help="Step size eta.")]
Steps = Annotated[int, typer.Option(help="Number of updates.")]
InnerEpochs = Annotated[int, typer.Option(help="Inner epochs an update.")]
Groups = Annotated[int | None, typer.Option(help="Groups drawn an update (sampled updates alone; 1 by default).")]
Seed = Annotated[int | None, typer.Option(help="Seed of the draws (sampled updates alone; 0 by default).")]
Bounds = Annotated[bool, typer.Option(help="Put the theory's ceilings beside the path.")]


def command(
    context: typer.Context,
    file: File = None,
    preset: options.PresetName = "trl",
    group_size: options.GroupSize = None,
    rewards: Rewards = "1,0",
    probabilities: Probabilities = None,
    pass_rate: PassRate = None,
    baseline: options.Baseline = None,
    scale: options.Scale = None,
    ddof: options.Ddof = None,
    eps: options.Eps = None,
    kl: options.Kl = None,
    beta: options.Beta = None,
    update: UpdateName = "tilt",
    step: Step = "0.1",
    steps: Steps = 100,
    inner_epochs: InnerEpochs = 1,
    groups: Groups = None,
    seed: Seed = None,
    bounds: Bounds = True,
    as_json: options.AsJson = False,
    out: options.Out = None,
) -> None:
    """Run GRPO on a finite answer set and print pass rate, entropy, KL and the ceilings beside them."""
    from reweight.checks import integer
    from reweight.dynamics.spec import RunSpec, read_spec, update_named
    from reweight.dynamics.trajectory import trajectory_dict
    from reweight.errors import InputError
    from reweight.files import check_writable
    from reweight.policies.flat import FlatPolicy
    from reweight.problems.problem import Problem

    if out is not None:
        check_writable(out)
    if file is not None:
        _refuse_options_beside_a_file(context)
        path = read_spec(file).run()
    else:
        if (probabilities is None) == (pass_rate is None):
            raise InputError(
                "say where the run starts: --pass-rate 0.01, or --probabilities 0.1,0.6,0.3 with --rewards"
            )
        if seed is not None and update != "sampled_policy_gradient":
            raise InputError("--seed is about drawn groups: use it with --update sampled_policy_gradient")
        start = _two(pass_rate) if pass_rate is not None else real_numbers(probabilities or "", "--probabilities")
        fields: dict[str, Any] = {"step": real_number(step, "--step"), "inner_epochs": inner_epochs}
        path = RunSpec(
            Problem(real_numbers(rewards, "--rewards")),
            FlatPolicy.from_probabilities(start),
            options.changed(
                options.objective_from(preset),
                group_size=group_size,
                baseline=baseline,
                scale=scale,
                ddof=ddof,
                eps=eps,
                kl=kl,
                beta=beta,
            ),
            update_named(update, **fields | ({} if groups is None else {"groups": groups})),
            steps,
            0 if seed is None else integer(seed, "--seed", at_least=0),
            bounds,
        ).run()
    if as_json:
        options.print_json(trajectory_dict(path))
    else:
        _print(path)
    if out is not None:
        _write(path, out)


def _refuse_options_beside_a_file(context: typer.Context) -> None:
    """A file describes the whole run; an option beside it would be ignored."""
    from reweight.errors import InputError

    given = [
        name
        for name in context.params
        if name not in BESIDE_A_FILE and getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    ]
    if given:
        option = given[0].replace("_", "-")
        raise InputError(f"the file describes the whole run: leave out --{option}, or change it in the file")


def _two(text: str) -> list[float]:
    from reweight.checks import unit

    rate = exact_number(text, "--pass-rate")
    unit(as_float(rate, "--pass-rate"), "--pass-rate")
    return [as_float(share, "--pass-rate") for share in (rate, 1 - rate)]


def _scalars(path: xarray.Dataset) -> list[str]:
    return [str(name) for name, variable in path.data_vars.items() if variable.dims == ("step",)]


def _print(path: xarray.Dataset) -> None:
    import numpy as np

    names = _scalars(path)
    last = path.sizes["step"] - 1
    shown = sorted(set(np.linspace(0, last, min(SHOWN_ROWS, last + 1)).round().astype(int).tolist()))
    rows = [[str(step), *(options.shown(float(path[name][step])) for name in names)] for step in shown]
    options.print_table(["step", *(name.replace("_", " ") for name in names)], rows)
    left_out = path.attrs.get("bounds_left_out", "none")
    if left_out != "none":
        print(f"not shown: {left_out}")


def _write(path: xarray.Dataset, out: str) -> None:
    import json

    from reweight.dynamics.trajectory import trajectory_dict
    from reweight.files import write_all
    from reweight.plots import style, trajectory
    from reweight.reports import Figure, Report, Section, Table

    panels = [trajectory.pass_rate, trajectory.spread] + ([trajectory.answers] if "log_probs" in path else [])
    with style.use():
        figure, axes = style.subplots(columns=len(panels), height=0.36, wide=True)
        for draw, ax in zip(panels, axes, strict=True):
            draw(ax, path)
        figure.draw_without_rendering()
    names = _scalars(path)
    rows = [[int(step), *(float(path[name][step]) for name in names)] for step in path.step.values]
    ceilings = " with the ceilings that hold for it" if any("ceiling" in name for name in names) else ""
    caption = f"The run{ceilings}: success on the left, then how the policy moved."
    report = Report(
        "Simulated run",
        [
            Section("Path", [Figure(figure, "trajectory", caption, "Pass rate, entropy, KL and answers over steps.")]),
            Section("Numbers", [Table(["step", *names], rows, "Every step")]),
        ],
        facts={name: str(value) for name, value in path.attrs.items()},
    )
    write_all(
        out,
        {
            "trajectory.json": json.dumps(trajectory_dict(path), allow_nan=False) + "\n",
            "trajectory.nc": bytes(path.to_netcdf(engine="h5netcdf")),
        },
    )
    options.write_report(report, out)
