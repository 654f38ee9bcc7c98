"""`reweight weights`: the expected push of an objective, answer by answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reweight.cli import options
from reweight.cli.numbers import exact_number, exact_numbers, float_sized

if TYPE_CHECKING:
    from reweight.groups.weight_table import AnswerWeight, BinaryWeight
    from reweight.objectives import Objective

__all__ = ["command"]

PassRate = Annotated[str | None, typer.Option("-p", "--pass-rate", help="Pass rates of binary prompts: 0.01,1/2.")]
Rewards = Annotated[str | None, typer.Option(help="Reward of each answer: 1,1/2,0.")]
Probabilities = Annotated[str | None, typer.Option(help="Probability of each answer: 0.2,0.3,0.5.")]
Tpr = Annotated[str, typer.Option(help="Probability that the verifier accepts a correct answer.")]
Fpr = Annotated[str, typer.Option(help="Probability that the verifier accepts a wrong answer.")]
MixedOnly = Annotated[bool, typer.Option("--mixed-only", help="Given a mixed group, as in dynamic sampling.")]
Against = Annotated[str | None, typer.Option(help="Another preset: print where the two differ.")]
Exact = Annotated[bool, typer.Option("--exact", help="Rational arithmetic: print the value itself.")]

OPTIONAL = ("infinite", "exact_gap", "exact_weight")


def command(
    preset: options.PresetName = "trl",
    group_size: options.GroupSize = None,
    pass_rate: PassRate = None,
    rewards: Rewards = None,
    probabilities: Probabilities = None,
    baseline: options.Baseline = None,
    scale: options.Scale = None,
    ddof: options.Ddof = None,
    eps: options.Eps = None,
    tpr: Tpr = "1",
    fpr: Fpr = "0",
    mixed_only: MixedOnly = False,
    against: Against = None,
    exact: Exact = False,
    as_json: options.AsJson = False,
    out: options.Out = None,
) -> None:
    """Expected weights of one group: what each answer is pushed by, exactly."""
    from reweight.errors import InputError
    from reweight.files import check_writable
    from reweight.groups.weight_table import answer_table, binary_table

    if out is not None:
        check_writable(out)
    objective = options.objective_from(
        preset, group_size=group_size, baseline=baseline, scale=scale, ddof=ddof, eps=eps
    )
    other = options.objective_from(against, group_size=objective.group_size) if against else None
    if (pass_rate is None) == (rewards is None):
        raise InputError("say what is asked: --pass-rate 0.01, or --rewards 1,0.5,0 with --probabilities 0.2,0.3,0.5")
    if rewards is None and probabilities is not None:
        raise InputError("--probabilities go with --rewards: leave them out beside --pass-rate")
    if rewards is None:
        rates = float_sized(exact_numbers(pass_rate or "", "--pass-rate"), "--pass-rate")
        noise = {"tpr": exact_number(tpr, "--tpr"), "fpr": exact_number(fpr, "--fpr")}

        def table(chosen: Objective) -> Sequence[BinaryWeight | AnswerWeight]:
            return binary_table(chosen, rates, **noise, mixed_only=mixed_only, exact=exact)
    else:
        if mixed_only or (tpr, fpr) != ("1", "0"):
            raise InputError("--mixed-only, --tpr and --fpr are about binary rewards: use them with --pass-rate")
        values = float_sized(exact_numbers(rewards, "--rewards"), "--rewards")
        masses = exact_numbers(probabilities, "--probabilities") if probabilities else []

        def table(chosen: Objective) -> Sequence[BinaryWeight | AnswerWeight]:
            return answer_table(chosen, values, masses, exact=exact)

    rows = table(objective)
    _print(preset, objective, rows, against, other, table(other) if other else None, as_json)
    if out is not None:
        _write(preset, objective, rows, out)


def _print(
    preset: str,
    objective: Objective,
    rows: Sequence[BinaryWeight | AnswerWeight],
    against: str | None,
    other: Objective | None,
    other_rows: Sequence[BinaryWeight | AnswerWeight] | None,
    as_json: bool,
) -> None:
    from reweight.objectives import diff

    differences = diff(objective, other) if other else {}
    if as_json:
        result: dict[str, Any] = {
            "preset": preset,
            "objective": objective.to_dict(),
            "weights": [row.to_dict() for row in rows],
        }
        if other is not None and other_rows is not None:
            result["against"] = {
                "preset": against,
                "objective": other.to_dict(),
                "weights": [row.to_dict() for row in other_rows],
                "differs_in": list(differences),
            }
        options.print_json(result)
        return
    print(f"{preset}: {_headline(objective)}")
    _print_rows(rows)
    if other is None or other_rows is None:
        return
    print(f"\n{against}: {_headline(other)}")
    _print_rows(other_rows)
    print()
    options.print_table(
        ["where they differ", preset, str(against)],
        [[name, *(options.shown(value) for value in pair)] for name, pair in differences.items()],
    )


def _headline(objective: Objective) -> str:
    advantage = objective.advantage
    scale = f"{advantage.scale} (ddof {advantage.ddof})" if advantage.scale.endswith("std") else advantage.scale
    return f"G = {objective.group_size}, baseline {advantage.baseline}, scale {scale}, eps {float(advantage.eps):g}"


def _print_rows(rows: Sequence[BinaryWeight | AnswerWeight]) -> None:
    kept = [{name: value for name, value in row.to_dict().items() if value is not None} for row in rows]
    columns = [name for name in rows[0].to_dict() if name not in OPTIONAL or any(name in row for row in kept)]
    titles = {"infinite": "gap if G = inf", "exact_gap": "gap, exactly", "exact_weight": "weight, exactly"}
    headings = [titles.get(name, name.replace("_", " ")) for name in columns]
    options.print_table(headings, [[options.shown(row.get(name)) for name in columns] for row in kept])


def _write(preset: str, objective: Objective, rows: Sequence[BinaryWeight | AnswerWeight], out: str) -> None:
    from reweight.plots import style
    from reweight.plots.objective_curve import objective_curve, objective_curve_data
    from reweight.reports import Figure, Report, Section, Table

    names = list(rows[0].to_dict())
    with style.use():
        figure, (axes,) = style.subplots()
        objective_curve(axes, objective_curve_data(objective))
        figure.draw_without_rendering()
    report = Report(
        f"Expected weights of {preset}",
        [
            Section(
                "Weights",
                [
                    Table(names, [list(row.to_dict().values()) for row in rows], "One row a prompt or answer"),
                    Figure(
                        figure,
                        "gap",
                        "The gap of this objective on binary prompts over the pass rate.",
                        "Curve of the gap between a correct and a wrong answer against the pass rate.",
                    ),
                ],
            )
        ],
        facts={name: options.shown(value) for name, value in objective.to_dict().items()},
    )
    options.write_report(report, out)
