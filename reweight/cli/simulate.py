"""`reweight simulate`: the whole trajectory of a run on a finite answer set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from reweight.cli import options
from reweight.cli.numbers import as_float, exact_number, real_number, real_numbers

if TYPE_CHECKING:
    import xarray

    from reweight.dynamics.spec import RunSpec
    from reweight.emitting.worlds import World
    from reweight.policies.flat import FlatPolicy
    from reweight.problems.problem import Problem, ProblemSet

__all__ = ["command"]

SHOWN_ROWS = 11
REWARDS = "1,0"
PROMPTS = 200
WORLD_STREAM = 1
"""Of random numbers, beside those of the run: one seed gives one world, whatever is drawn in it."""
BESIDE_A_FILE = ("file", "as_json", "out", "emit", "samples")

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
WorldName = Annotated[
    str | None, typer.Option("--world", help="Start: prompts whose pass rates are drawn from a known law, as sparse.")
]
Prompts = Annotated[int | None, typer.Option(help=f"Prompts of the world; {PROMPTS} by default.")]
Emit = Annotated[
    str | None, typer.Option("--emit", help="Write what a trainer would: trl, verl or counts, into a new --out.")
]
Samples = Annotated[
    int | None, typer.Option(help="Rollouts of a prompt in each emitted file; the groups of one step by default.")
]
Bounds = Annotated[bool, typer.Option(help="Put the theory's ceilings beside the path.")]


def command(
    context: typer.Context,
    file: File = None,
    preset: options.PresetName = "trl",
    group_size: options.GroupSize = None,
    rewards: Rewards = REWARDS,
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
    world: WorldName = None,
    prompts: Prompts = None,
    emit: Emit = None,
    samples: Samples = None,
    bounds: Bounds = True,
    as_json: options.AsJson = False,
    out: options.Out = None,
) -> None:
    """Run GRPO on a finite answer set and print pass rate, entropy, KL and the ceilings beside them, or emit files."""
    from reweight.checks import integer
    from reweight.dynamics.spec import RunSpec, read_spec, update_named
    from reweight.emitting.start import world_named
    from reweight.errors import InputError
    from reweight.files import check_writable

    if emit is None and samples is not None:
        raise InputError("--samples is about emitted files: use it with --emit")
    if out is not None and emit is None:
        check_writable(out)
    source = None if world is None else world_named(world)
    if file is not None:
        _refuse_options_beside_a_file(context)
        spec = read_spec(file)
    else:
        if seed is not None and update != "sampled_policy_gradient" and emit is None and world is None:
            raise InputError(
                "--seed is about what is drawn: use it with --update sampled_policy_gradient, --world or --emit"
            )
        number = 0 if seed is None else integer(seed, "--seed", at_least=0)
        fields: dict[str, Any] = {"step": real_number(step, "--step"), "inner_epochs": inner_epochs}
        spec = RunSpec(
            *_start(rewards, probabilities, pass_rate, source, prompts, number),
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
            number,
            bounds,
        )
    if emit is None:
        _show(spec.run(), as_json, out)
    else:
        _emit(spec, emit, samples, source, as_json, out)


def _show(path: xarray.Dataset, as_json: bool, out: str | None) -> None:
    from reweight.dynamics.trajectory import trajectory_dict

    if as_json:
        options.print_json(trajectory_dict(path))
    else:
        _print(path)
    if out is not None:
        _write(path, out)


def _emit(
    spec: RunSpec, format_name: str, samples: int | None, world: World | None, as_json: bool, out: str | None
) -> None:
    from reweight.emitting.emit import emit
    from reweight.errors import InputError

    if out is None:
        raise InputError("--emit writes files: name a new folder with --out")
    emission = emit(spec, format_name, out, samples=samples, world=world)
    if as_json:
        options.print_json(emission.to_dict())
    else:
        typer.echo(str(emission))


def _start(
    rewards: str,
    probabilities: str | None,
    pass_rate: str | None,
    world: World | None,
    prompts: int | None,
    seed: int,
) -> tuple[Problem | ProblemSet, FlatPolicy]:
    """Where the run starts: one prompt by its answers, or many of a world."""
    import numpy as np

    from reweight.emitting.start import start_in
    from reweight.errors import InputError
    from reweight.policies.flat import FlatPolicy
    from reweight.problems.problem import Problem

    if [probabilities, pass_rate, world].count(None) != 2:
        raise InputError(
            "say where the run starts: --pass-rate 0.01, --probabilities 0.1,0.6,0.3 with --rewards, or --world sparse"
        )
    if world is not None:
        if rewards != REWARDS:
            raise InputError("a world says what its answers earn: leave --rewards out")
        rng = np.random.default_rng([seed, WORLD_STREAM])
        return start_in(world, PROMPTS if prompts is None else prompts, rng)
    if prompts is not None:
        raise InputError("--prompts is about the prompts of a world: use it with --world")
    start = _two(pass_rate) if pass_rate is not None else real_numbers(probabilities or "", "--probabilities")
    return Problem(real_numbers(rewards, "--rewards")), FlatPolicy.from_probabilities(start)


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
