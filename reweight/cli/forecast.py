"""`reweight forecast FILE`: what base rollouts say about a run before it is started."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reweight.cli import options
from reweight.cli.numbers import real_number
from reweight.terminal import line, quoted

if TYPE_CHECKING:
    from reweight.forecasting.curve import Curve
    from reweight.forecasting.questions import About as AboutWhat
    from reweight.forecasting.result import Forecast

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
Format = Annotated[str | None, typer.Option("--format", help="Read the file as this format.")]
Threshold = Annotated[str | None, typer.Option(help="Rewards of at least this are correct.")]
Reward = Annotated[str | None, typer.Option(help="The field or column that says what is correct.")]
Step = Annotated[int | None, typer.Option(help="Use the rows of this training step.")]
Merge = Annotated[bool, typer.Option("--merge", help="Add rows that repeat a prompt.")]
AllSteps = Annotated[bool, typer.Option("--all-steps", help="Pool all training steps, where the policy never changed.")]
GroupRows = Annotated[int | None, typer.Option(help="Rows of one group, where a file does not tell.")]
Filter = Annotated[str | None, typer.Option("--filter", help="Of several filters of a harness, take this one.")]
Answer = Annotated[str | None, typer.Option(help="The field with the extracted answer.")]
Budget = Annotated[int | None, typer.Option(help="Rollouts of the whole run, for the plan. [100000]")]
NoPlan = Annotated[bool, typer.Option("--no-plan", help="Leave out the plan.")]
StepRollouts = Annotated[int | None, typer.Option(help="Rollouts that one step learns from. [512, or the largest G]")]
Tpr = Annotated[str | None, typer.Option("--tpr", help="Chance that the verifier accepts a correct sample.")]
Fpr = Annotated[str | None, typer.Option("--fpr", help="Chance that the verifier accepts a wrong sample.")]
Design = Annotated[
    str | None, typer.Option(help="Width W: how many prompts and samples make the interval of --about narrower.")
]
About = Annotated[str, typer.Option(help="Of --design: pass_rate, pass_at_k, dead_share or signal.")]
Target = Annotated[
    str | None, typer.Option(help="Pass rate to reach: which base mass needs what. Takes --step-size and the budget.")
]
StepSize = Annotated[
    str | None, typer.Option(help="Step size that a prompt sees: that of the optimiser over the groups of a step.")
]
Guarantee = Annotated[
    bool, typer.Option("--guarantee", help="Intervals whose coverage is proved for any number of prompts; wider.")
]
Taus = Annotated[list[str] | None, typer.Option("--tau", help="Tilt time of the path; may be repeated. [0 to 3]")]
NoPath = Annotated[bool, typer.Option("--no-path", help="Leave out the path over tilt time.")]
NoControl = Annotated[bool, typer.Option("--no-control", help="Leave out the halves of the file.")]
Length = Annotated[str | None, typer.Option(help="Tokens a sample, to state budgets by token.")]
Calibrate = Annotated[
    str | None, typer.Option(help="A trainer's log (TRL, verl or CSV) to hold against the forecast from this file.")
]
LogReward = Annotated[str | None, typer.Option(help="The log's column whose mean says how many samples were correct.")]
LogValues = Annotated[str, typer.Option(help="Rewards of a wrong and of a correct sample in the log, such as -1,1.")]
LogGroups = Annotated[int | None, typer.Option(help="Groups behind a row of the log, where its digits do not tell.")]
Kappa = Annotated[str | None, typer.Option(help="Declared spread of the log's model: logit p' = s + kappa logit p.")]
Level = Annotated[str, typer.Option(help="Coverage of intervals and bounds.")]


BUDGET, STEP_ROLLOUTS = 100_000, 512


def command(
    file: File,
    group_sizes: GroupSizes = None,
    groups: Groups = None,
    preset: options.PresetName = "trl",
    level: Level = "0.95",
    guarantee: Guarantee = False,
    format_name: Format = None,
    threshold: Threshold = None,
    reward: Reward = None,
    step: Step = None,
    all_steps: AllSteps = False,
    group_rows: GroupRows = None,
    filter_name: Filter = None,
    answer: Answer = None,
    merge: Merge = False,
    budget: Budget = None,
    step_rollouts: StepRollouts = None,
    no_plan: NoPlan = False,
    tpr: Tpr = None,
    fpr: Fpr = None,
    design: Design = None,
    about: About = "dead_share",
    target: Target = None,
    step_size: StepSize = None,
    taus: Taus = None,
    no_path: NoPath = False,
    no_control: NoControl = False,
    length: Length = None,
    calibrate: Calibrate = None,
    log_reward: LogReward = None,
    log_values: LogValues = "0,1",
    log_groups: LogGroups = None,
    kappa: Kappa = None,
    as_json: options.AsJson = False,
    out: options.Out = None,
) -> None:
    """Forecast a run from base rollouts: dead groups, signal, pass@k and discovery, with intervals or bounds."""
    from reweight import rollouts
    from reweight.files import check_writable
    from reweight.forecasting.forecast import DISCOVERY_GROUPS, GROUP_SIZES, forecast
    from reweight.forecasting.path import TAUS
    from reweight.forecasting.plan import GROUP_SIZES as PLAN_SIZES
    from reweight.forecasting.questions import Questions

    if out is not None:
        check_writable(out)
    objective = options.changed(options.objective_from(preset), group_size=group_sizes[0] if group_sizes else None)
    questions = Questions(
        control=not no_control,
        budget=None if no_plan and target is None else budget or BUDGET,
        step_rollouts=step_rollouts or max(STEP_ROLLOUTS, *(group_sizes or PLAN_SIZES)),
        plan_sizes=() if no_plan else group_sizes or PLAN_SIZES,
        tpr=None if tpr is None else real_number(tpr, "--tpr"),
        fpr=None if fpr is None else real_number(fpr, "--fpr"),
        width=None if design is None else real_number(design, "--design"),
        about=_about(about),
        target=None if target is None else real_number(target, "--target"),
        step_size=None if step_size is None else real_number(step_size, "--step-size"),
        taus=() if no_path else [real_number(tau, "--tau") for tau in taus or ()] or TAUS,
        length=None if length is None else real_number(length, "--length"),
        curve=None
        if calibrate is None
        else _curve(calibrate, objective.group_size, log_reward, log_values, log_groups),
        kappa=None if kappa is None else real_number(kappa, "--kappa"),
    )
    result = forecast(
        rollouts.read(
            file,
            format_name,
            threshold=None if threshold is None else real_number(threshold, "--threshold"),
            merge=merge,
            reward=reward,
            step=step,
            all_steps=all_steps,
            group_rows=group_rows,
            filter=filter_name,
            answer=answer,
        ),
        objective,
        level=real_number(level, "--level"),
        group_sizes=group_sizes or GROUP_SIZES,
        discovery_groups=groups or DISCOVERY_GROUPS,
        guaranteed=guarantee,
        questions=questions,
    )
    inputs = [file] if calibrate is None else [file, calibrate]
    written = _write(result, inputs, out) if out is not None else ()
    if as_json:
        options.print_json(result.to_dict())
    else:
        typer.echo(str(result))
    for path in written:
        typer.echo(f"wrote {line(path)}", err=True)


def _about(name: str) -> AboutWhat:
    from typing import get_args

    from reweight.errors import InputError
    from reweight.forecasting.questions import About as Known

    known: tuple[AboutWhat, ...] = get_args(Known)
    for each in known:
        if each == name:
            return each
    raise InputError(f"there is no design about {quoted(name)}; choose one of {', '.join(known)}")


def _curve(path: str, size: int, reward: str | None, values: str, groups: int | None) -> Curve:
    from reweight.errors import InputError
    from reweight.forecasting.curve import Curve
    from reweight.rollouts.logs import read_log

    words = values.split(",")
    if len(words) != 2:
        raise InputError(
            f"--log-values takes two rewards, that of a wrong and of a correct sample, got {quoted(values)}"
        )
    low, high = (real_number(word, "--log-values") for word in words)
    log = read_log(path, reward=reward, values=(low, high))
    typer.echo(str(log), err=True)
    both = log.all_correct is not None and log.all_wrong is not None
    return Curve.of(
        size,
        log.steps.astype(float),
        log.pass_rate,
        all_correct=log.all_correct if both else None,
        all_wrong=log.all_wrong if both else None,
        dead=None if both else log.dead,
        groups=groups,
    )


def _write(result: Forecast, inputs: list[str], out: str) -> tuple[Path, ...]:
    import sys

    from reweight.forecasting.files import write_files
    from reweight.reports.provenance import provenance

    return write_files(result, out, provenance(inputs, ["reweight", *sys.argv[1:]]))
