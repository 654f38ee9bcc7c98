"""`reweight weights`: the expected push of an objective, answer by answer."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from reweight.cli.numbers import exact_numbers, float_sized

__all__ = ["command"]

PROMPT, OBJECTIVE, OUTPUT, ASK = "The prompt", "The objective", "Output", "Other questions"


def _option(help_: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, help=help_, rich_help_panel=panel)


Text = str | None
Whole = int | None
PassRate = Annotated[Text, _option("Pass rates of binary prompts: 0.01,1/2.", PROMPT, "-p", "--pass-rate")]
Rewards = Annotated[Text, _option("Reward of each answer: 1,1/2,0; several channels: 1:0.2,0:0.7.", PROMPT)]
Probabilities = Annotated[Text, _option("Probability of each answer: 0.2,0.3,0.5.", PROMPT)]
Lengths = Annotated[Text, _option("Tokens of each answer: 120,80,300.", PROMPT)]
Counts = Annotated[Text, _option("Process events (tool calls) of each answer, for a bonus: 0,2,1.", PROMPT)]
Correct = Annotated[Text, _option("Which answers are correct, for --tpr and --fpr: 1,0,0.", PROMPT)]
Tpr = Annotated[
    Text, _option("How often the verifier accepts a correct answer, one rate or one an answer: 0.9.", PROMPT)
]
Fpr = Annotated[Text, _option("How often it accepts a wrong answer, one rate or one an answer: 0,0.1,0.2.", PROMPT)]

Preset = Annotated[Text, _option("Framework or paper, trl by default: dapo.", OBJECTIVE)]
Config = Annotated[Text, _option("A TRL GRPOConfig or verl configuration instead: run.yaml.", OBJECTIVE)]
Group = Annotated[Whole, _option("Draws a group, the preset's by default: 8.", OBJECTIVE, "-G", "--group-size")]
Baseline = Annotated[Text, _option("mean, leave_one_out, batch_mean, second_best or none: mean.", OBJECTIVE)]
Scale = Annotated[Text, _option("std, leave_one_out_std, batch_std, mean or none: std.", OBJECTIVE)]
Ddof = Annotated[Whole, _option("Degrees of freedom that the std lacks, 0 or 1: 1.", OBJECTIVE)]
Eps = Annotated[Text, _option("Stabiliser of the scale: 1e-4.", OBJECTIVE)]
Bonus = Annotated[Text, _option("Added to the reward for each process event: 0.4.", OBJECTIVE)]
Channels = Annotated[Text, _option("Weights of the reward channels: 1,0.5.", OBJECTIVE)]
Order = Annotated[Text, _option("Of channels, sum_then_normalise or the reverse: normalise_then_sum.", OBJECTIVE)]
Transform = Annotated[Text, _option("pass_at_k, leave_one_out_pass_at_k or rank: rank.", OBJECTIVE)]
K = Annotated[Whole, _option("The k of pass@k: 4.", OBJECTIVE, "-k")]
Keep = Annotated[Text, _option("Which groups are kept, mixed, solved or all: mixed.", OBJECTIVE, "--filter")]
MixedOnly = Annotated[bool, _option("The same as --filter mixed (dynamic sampling).", OBJECTIVE, "--mixed-only")]
Rounds = Annotated[Text, _option("For a group that is not kept, redraw or pool it with more draws: pool.", OBJECTIVE)]
MaxRounds = Annotated[Whole, _option("Rounds after which the prompt is dropped: 3.", OBJECTIVE)]
Aggregation = Annotated[
    Text, _option("Of tokens, token_mean, sequence_mean, sequence_sum or constant: token_mean.", OBJECTIVE)
]
ConstantLength = Annotated[Text, _option("Tokens that 'constant' divides by: 1024.", OBJECTIVE)]
Batch = Annotated[Text, _option("Prompts that share a batch: every, or a number drawn by weight: 4.", OBJECTIVE)]

Precision = Annotated[str, _option("float64, rational (a sum of roots) or an interval: ball.", OUTPUT)]
Radius = Annotated[Text, _option("Largest radius of a ball, relative, 1e-20 by default: 1e-30.", OUTPUT)]
Plot = Annotated[
    Text, _option("Draw curves into this file, png, svg or pdf, in a folder that is made: weights.png.", OUTPUT)
]
AsJson = Annotated[bool, _option("Print JSON instead of tables.", OUTPUT, "--json")]
Out = Annotated[Text, _option("Write a report with all pictures into this folder: report.", OUTPUT)]

Against = Annotated[Text, _option("Another preset: print its weights too, and where the two differ: verl.", ASK)]
List = Annotated[bool, _option("List all presets with their sources.", ASK, "--list")]
Diff = Annotated[tuple[str, str], _option("Two presets: fields, gradients, weights: trl verl.", ASK)]


def command(
    context: typer.Context,
    pass_rate: PassRate = None,
    rewards: Rewards = None,
    probabilities: Probabilities = None,
    lengths: Lengths = None,
    counts: Counts = None,
    correct: Correct = None,
    tpr: Tpr = None,
    fpr: Fpr = None,
    preset: Preset = None,
    config: Config = None,
    group_size: Group = None,
    baseline: Baseline = None,
    scale: Scale = None,
    ddof: Ddof = None,
    eps: Eps = None,
    bonus: Bonus = None,
    channel_weights: Channels = None,
    order: Order = None,
    transform: Transform = None,
    k: K = None,
    keep: Keep = None,
    mixed_only: MixedOnly = False,
    rounds: Rounds = None,
    max_rounds: MaxRounds = None,
    aggregation: Aggregation = None,
    constant_length: ConstantLength = None,
    batch: Batch = None,
    precision: Precision = "float64",
    radius: Radius = None,
    plot: Plot = None,
    against: Against = None,
    list_presets: List = False,
    diff: Diff = ("", ""),
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Expected weights of one group: what each answer is pushed by, exactly.

    Give binary prompts by --pass-rate, or one prompt by --rewards and --probabilities.
    """
    from reweight.cli import preset_tables, weights_input, weights_output, weights_pictures
    from reweight.files import check_writable

    given = {name: value for name, value in context.params.items() if _was_given(context, name)}
    question = weights_input.question(given)
    if "out" in given:
        check_writable(given["out"])
    if "plot" in given:
        weights_pictures.check_plot(given["plot"])
    rates = float_sized(exact_numbers(given["pass_rate"], "--pass-rate"), "--pass-rate") if "pass_rate" in given else []
    if question == "list":
        preset_tables.print_presets(as_json)
        return
    if question == "diff":
        preset_tables.print_difference(diff, group_size, rates, as_json)
        return
    name, objective, config_read = weights_input.objective(given)
    prompt = weights_input.prompt(given, rates)
    sides = [weights_output.side(name, objective, prompt)]
    if "against" in given:
        sides.append(weights_output.side(given["against"], weights_input.against(given, objective), prompt))
    weights_output.print_weights(sides, config_read, as_json)
    if "plot" in given:
        weights_pictures.draw(objective, prompt, given["plot"])
    if "out" in given:
        weights_pictures.write(sides[0], prompt, given["out"])


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
