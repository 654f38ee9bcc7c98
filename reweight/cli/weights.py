"""`reweight weights`: the expected push of an objective, answer by answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reweight.cli import options
from reweight.cli.numbers import exact_number, exact_numbers, float_sized, real_number, real_numbers

if TYPE_CHECKING:
    from fractions import Fraction

    from reweight.groups.weight_table import AnswerWeight, BinaryWeight
    from reweight.objectives import Objective
    from reweight.objectives.config import TrainerConfig
    from reweight.problems import Problem

__all__ = ["command"]

USUAL_RATES = "0.01,0.1,0.5"
PROMPT, GROUP, OUTPUT, ASK = "The prompt", "The objective", "Output", "Other questions"


def _option(help_: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, help=help_, rich_help_panel=panel)


PassRate = Annotated[str | None, _option("Pass rates of binary prompts: 0.01,1/2.", PROMPT, "-p", "--pass-rate")]
Rewards = Annotated[str | None, _option("Reward of each answer: 1,1/2,0; several channels: 1:0.2,0:0.7.", PROMPT)]
Probabilities = Annotated[str | None, _option("Probability of each answer: 0.2,0.3,0.5.", PROMPT)]
Lengths = Annotated[str | None, _option("Tokens of each answer: 120,80,300.", PROMPT)]
Counts = Annotated[str | None, _option("Process events (tool calls) of each answer: 0,2,1.", PROMPT)]
Correct = Annotated[str | None, _option("Which answers are correct, for --tpr and --fpr: 1,0,0.", PROMPT)]
Tpr = Annotated[str, _option("Chance that the verifier accepts a correct answer: 0.9, or one an answer.", PROMPT)]
Fpr = Annotated[str, _option("Chance that it accepts a wrong answer: 0.1, or one an answer.", PROMPT)]
MixedOnly = Annotated[bool, _option("Redraw groups of equal rewards (dynamic sampling).", GROUP, "--mixed-only")]
Bonus = Annotated[str | None, _option("Added to the reward for each process event: 0.4.", GROUP)]
Channels = Annotated[str | None, _option("Weights of the reward channels: 1,0.5.", GROUP, "--channel-weights")]
Transform = Annotated[str | None, _option("pass_at_k, leave_one_out_pass_at_k or rank.", GROUP)]
K = Annotated[int | None, _option("The k of the transform: 4.", GROUP, "-k")]
Aggregation = Annotated[str | None, _option("token_mean, sequence_mean, sequence_sum or constant.", GROUP)]
ConstantLength = Annotated[str | None, _option("Tokens that 'constant' divides by: 1024.", GROUP)]
Precision = Annotated[str, _option("float64, rational (a sum of roots) or ball (an interval).", OUTPUT)]
Radius = Annotated[str, _option("Largest radius of a ball, relative: 1e-20.", OUTPUT)]
Plot = Annotated[str | None, _option("Draw curves into this file: weights.png, .svg or .pdf.", OUTPUT)]
Against = Annotated[str | None, _option("Another preset: print its weights too, and where the two differ.", ASK)]
List = Annotated[bool, _option("List all presets with their sources, and stop.", ASK, "--list")]
Diff = Annotated[tuple[str, str], _option("Two presets: fields, gradients, weights: trl verl.", ASK, "--diff")]
Config = Annotated[str | None, _option("A TRL GRPOConfig or verl configuration: run.yaml.", ASK)]


def command(
    preset: options.PresetName = "trl",
    group_size: options.GroupSize = None,
    pass_rate: PassRate = None,
    rewards: Rewards = None,
    probabilities: Probabilities = None,
    lengths: Lengths = None,
    counts: Counts = None,
    correct: Correct = None,
    tpr: Tpr = "1",
    fpr: Fpr = "0",
    baseline: options.Baseline = None,
    scale: options.Scale = None,
    ddof: options.Ddof = None,
    eps: options.Eps = None,
    mixed_only: MixedOnly = False,
    bonus: Bonus = None,
    channel_weights: Channels = None,
    transform: Transform = None,
    k: K = None,
    aggregation: Aggregation = None,
    constant_length: ConstantLength = None,
    precision: Precision = "float64",
    radius: Radius = "1e-20",
    plot: Plot = None,
    against: Against = None,
    list_presets: List = False,
    diff: Diff = ("", ""),
    config: Config = None,
    as_json: options.AsJson = False,
    out: options.Out = None,
) -> None:
    """Expected weights of one group: what each answer is pushed by, exactly."""
    from reweight.cli import weights_output
    from reweight.files import check_writable

    if out is not None:
        check_writable(out)
    if plot is not None:
        weights_output.check_plot(plot)
    rates = float_sized(exact_numbers(pass_rate, "--pass-rate"), "--pass-rate") if pass_rate else []
    if list_presets:
        weights_output.print_presets(as_json)
        return
    if any(diff):
        weights_output.print_difference(diff, group_size, rates, as_json)
        return
    read = _read(config)
    objective = read.objective if read is not None else options.objective_from(preset)
    objective = options.changed(objective, group_size=group_size, baseline=baseline, scale=scale, ddof=ddof, eps=eps)
    objective = _with_rewards(objective, bonus, channel_weights, transform, k, aggregation, constant_length)
    other = options.changed(options.objective_from(against), group_size=objective.group_size) if against else None
    if read is not None and pass_rate is None and rewards is None:
        rates = exact_numbers(USUAL_RATES, "--pass-rate")
    _check_asked(bool(rates), rewards is not None)
    ball = {"radius": real_number(radius, "--radius")} if precision == "ball" else {}
    wanted, facts = {"precision": precision} | ball, {}
    sides = [each for each in (objective, other) if each is not None]
    if rewards is None:
        _refuse_answers(probabilities=probabilities, lengths=lengths, counts=counts, correct=correct)
        noise = {"tpr": exact_number(tpr, "--tpr"), "fpr": exact_number(fpr, "--fpr")}
        tables = [_binary(each, rates, noise, mixed_only, wanted) for each in sides]
    else:
        masses = exact_numbers(probabilities, "--probabilities") if probabilities else []
        problem = _problem(rewards, lengths, counts, correct, tpr, fpr)
        sides = [_mixed(each) if mixed_only else each for each in sides]
        tables = [weights_output.answers(each, problem, masses, wanted) for each in sides]
        facts = weights_output.signal_facts(sides[0], problem, masses)
    name = preset if read is None else str(config)
    weights_output.print_weights([(name, sides[0]), (str(against), other)], tables, facts, read, as_json)
    if plot is not None:
        weights_output.draw(objective, plot)
    if out is not None:
        weights_output.write(name, objective, tables[0], out)


def _check_asked(binary: bool, answers: bool) -> None:
    from reweight.errors import InputError

    if binary == answers:
        raise InputError("say what is asked: --pass-rate 0.01, or --rewards 1,0.5,0 with --probabilities 0.2,0.3,0.5")


def _read(config: str | None) -> TrainerConfig | None:
    if config is None:
        return None
    from pathlib import Path

    from reweight.objectives.config import read_config

    return read_config(Path(config))


def _with_rewards(
    objective: Objective,
    bonus: str | None,
    channels: str | None,
    transform: str | None,
    k: int | None,
    aggregation: str | None,
    constant_length: str | None,
) -> Objective:
    """Put the options about rewards and lengths in."""
    rule: dict[str, Any] = {}
    if bonus is not None:
        rule["bonus"] = real_number(bonus, "--bonus")
    if channels is not None:
        rule["channel_weights"] = tuple(real_numbers(channels, "--channel-weights"))
    if transform is not None or k is not None:
        rule |= {"transform": transform, "k": k}
    fields: dict[str, Any] = {"reward": replace(objective.reward, **rule)} if rule else {}
    if aggregation is not None or constant_length is not None:
        length = real_number(constant_length, "--constant-length") if constant_length is not None else None
        fields |= {"aggregation": aggregation or "constant", "constant_length": length}
    return replace(objective, **fields)


def _mixed(objective: Objective) -> Objective:
    from reweight.objectives import Filter

    return replace(objective, filter=objective.filter or Filter("mixed"))


def _refuse_answers(**given: str | None) -> None:
    from reweight.errors import InputError

    for name, value in given.items():
        if value is not None:
            raise InputError(f"--{name} goes with --rewards: leave it out beside --pass-rate")


def _binary(
    objective: Objective, rates: list[Fraction], noise: dict[str, Any], mixed_only: bool, wanted: dict[str, Any]
) -> Sequence[BinaryWeight | AnswerWeight]:
    from reweight.errors import InputError
    from reweight.groups.weight_table import binary_table

    if objective.reward.transform or objective.reward.bonus:
        raise InputError("a bonus or transform is about single answers: use --rewards and --probabilities")
    mixed = mixed_only or (objective.filter is not None and objective.filter.keep == "mixed")
    return binary_table(objective, rates, **noise, mixed_only=mixed, **wanted)


def _problem(rewards: str, lengths: str | None, counts: str | None, correct: str | None, tpr: str, fpr: str) -> Problem:
    """Build the prompt from its options; the rewards of an answer are separated by colons."""
    import numpy as np

    from reweight.errors import InputError
    from reweight.problems import Problem, Verifier

    rows = [float_sized(exact_numbers(each.replace(":", ","), "--rewards"), "--rewards") for each in rewards.split(",")]
    if len({len(row) for row in rows}) > 1:
        raise InputError("--rewards has answers with unequal numbers of channels: give each as many")
    table = np.array(rows, dtype=object)
    marks = None if correct is None else [bool(mark) for mark in exact_numbers(correct, "--correct")]
    given: dict[str, Any] = {"correct": marks}
    for name, text in (("lengths", lengths), ("counts", counts)):
        if text is not None:
            given[name] = real_numbers(text, f"--{name}")
    problem = Problem(table[:, 0] if table.shape[1] == 1 else table, **given)
    if (tpr, fpr) == ("1", "0"):
        return problem
    if table.shape[1] > 1:
        raise InputError("--tpr and --fpr are about one reward an answer: leave the channels out")
    accepted, refused = max(rows)[0], min(rows)[0]
    rates = [np.array(real_numbers(text, name)) for text, name in ((tpr, "--tpr"), (fpr, "--fpr"))]
    verifier = Verifier.binary(
        problem.correct,
        tpr=rates[0] if rates[0].size > 1 else rates[0][0],
        fpr=rates[1] if rates[1].size > 1 else rates[1][0],
        accepted=float(accepted),
        refused=float(refused),
    )
    return Problem(problem.rewards, verifier=verifier, **given)
