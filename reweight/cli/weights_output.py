"""What `reweight weights` prints, draws and writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reweight.cli import options

if TYPE_CHECKING:
    from fractions import Fraction

    from reweight.groups.weight_table import AnswerWeight, BinaryWeight
    from reweight.objectives import Objective
    from reweight.objectives.config import TrainerConfig
    from reweight.problems import Problem

__all__ = [
    "answers",
    "check_plot",
    "draw",
    "print_difference",
    "print_presets",
    "print_weights",
    "signal_facts",
    "write",
]

Rows = Sequence["BinaryWeight | AnswerWeight"]
OPTIONAL = ("infinite", "value", "length")
TITLES = {"infinite": "gap if G = inf", "value": "exactly"}


def print_presets(as_json: bool) -> None:
    """Print every preset with its advantage and where it was read."""
    from reweight.objectives.presets import presets

    found = presets()
    if as_json:
        rows = [
            {
                "name": p.name,
                "version": p.version,
                "source": p.source,
                "note": p.note,
                "objective": p.objective.to_dict(),
            }
            for p in found
        ]
        return options.print_json({"presets": rows})
    options.print_table(
        ["preset", "version", "in short", "source"],
        [[p.name, p.version, options.in_short(p.objective), p.source] for p in found],
    )
    for each in found:
        if each.note:
            print(f"{each.name}: {each.note}")
    return None


def print_difference(pair: tuple[str, str], group_size: int | None, rates: list[Fraction], as_json: bool) -> None:
    """Print on which fields two presets differ, and what that does to gradients and weights."""
    from reweight.groups.comparison import PASS_RATES, compare

    sides = [options.changed(options.objective_from(name), group_size=group_size) for name in pair]
    found = compare(*sides, pass_rates=[float(rate) for rate in rates] or PASS_RATES)
    if as_json:
        return options.print_json({"presets": list(pair), **found.to_dict()})
    options.print_table(
        ["where they differ", *pair],
        [[name, *(options.shown(value) for value in values)] for name, values in found.differences.items()],
    )
    print("\nexpected gradient of one group in the logits (0.4, -0.3, 0.1), rewards 1, 0, 0")
    options.print_table(
        ["preset", "answer 0", "answer 1", "answer 2"],
        [[name, *(options.shown(float(v)) for v in row)] for name, row in zip(pair, found.directions, strict=True)],
    )
    print(f"their difference is {options.shown(found.gap_in_direction)} of the first")
    print("\nexpected advantage of a correct and a wrong answer")
    rows = []
    for index, rate in enumerate(found.pass_rates.tolist()):
        cells = [options.shown(rate)]
        for table in found.weights:
            cells += ["-", "-"] if table is None else [options.shown(float(value)) for value in table[index]]
        rows.append(cells)
    options.print_table(["pass rate", *(f"{name}, {what}" for name in pair for what in ("correct", "wrong"))], rows)
    return None


def answers(objective: Objective, problem: Problem, masses: list[Fraction], wanted: dict[str, Any]) -> Rows:
    """Return the rows of one prompt's answers."""
    from reweight.groups.weight_table import answer_table

    return answer_table(objective, problem, masses, **wanted)[0]


def signal_facts(objective: Objective, problem: Problem, masses: list[Fraction]) -> dict[str, Any]:
    """Return what a run would like to know of the prompt beside its weights: method, dead groups, draws, signal."""
    import numpy as np

    from reweight.errors import InputError
    from reweight.groups.filtering import filter_cost
    from reweight.groups.signal import gradient_signal
    from reweight.groups.weight_table import answer_table, earned, looks_at_rewards_alone

    facts: dict[str, Any] = {"method": answer_table(objective, problem, masses)[1]}
    rewards = np.array([float(reward) for reward in earned(problem, objective)])
    probabilities = np.array([float(mass) for mass in masses])
    rule = objective.filter
    if rule is not None:
        levels, index = np.unique(rewards, return_inverse=True)
        if problem.verifier is None:
            weight = np.bincount(index, weights=probabilities).astype(np.float64)
            facts["expected draws a kept group"] = filter_cost(
                weight, levels, objective.group_size, rule
            ).expected_draws
    if not looks_at_rewards_alone(problem, replace(objective, filter=None)):
        return facts
    try:
        found = gradient_signal(
            rewards, probabilities, objective.group_size, objective.advantage, mixed_only=rule is not None
        )
    except InputError:
        return facts
    return facts | {
        "dead share": found.dead_share,
        "expected |advantage|": found.expected_advantage,
        "signal-to-noise a generated rollout": found.per_generated_rollout,
    }


def print_weights(
    sides: Sequence[tuple[str, Objective | None]],
    tables: Sequence[Rows],
    facts: dict[str, Any],
    read: TrainerConfig | None,
    as_json: bool,
) -> None:
    """Print the weights of one objective, or of two with their differences, and what a configuration said."""
    from reweight.groups.comparison import effective_differences

    (name, objective), (against, other) = sides
    assert objective is not None
    differences = effective_differences(objective, other) if other else {}
    if as_json:
        result: dict[str, Any] = {
            "preset": name,
            "objective": objective.to_dict(),
            "weights": [row.to_dict() for row in tables[0]],
        }
        if facts:
            result["facts"] = facts
        if other is not None:
            result["against"] = {
                "preset": against,
                "objective": other.to_dict(),
                "weights": [row.to_dict() for row in tables[1]],
                "differs_in": list(differences),
            }
        if read is not None:
            result["config"] = read.to_dict() | {"theorems": [each.to_dict() for each in _standing(read)]}
        return options.print_json(result)
    if read is not None:
        _print_config(read)
    print(f"{name}: {options.in_short(objective)}")
    _print_rows(tables[0])
    for fact, value in facts.items():
        print(f"{fact}: {options.shown(value)}")
    if other is not None:
        print(f"\n{against}: {options.in_short(other)}")
        _print_rows(tables[1])
        print()
        options.print_table(
            ["where they differ", name, against],
            [[field, *(options.shown(value) for value in pair)] for field, pair in differences.items()],
        )
    return None


def _standing(read: TrainerConfig) -> Sequence[Any]:
    from reweight.objectives.hypotheses import hypotheses

    return hypotheses(read.objective, inner_epochs=read.inner_epochs)


def _print_config(read: TrainerConfig) -> None:
    print(read)
    print(f"not about the objective: {', '.join(read.unused) or 'nothing'}\n")
    found = _standing(read)
    print("theorems that apply to this objective")
    for each in found:
        if each.applies:
            print(f"  {each}")
    print("theorems that it breaks")
    for each in found:
        if not each.applies:
            print(f"  {each}")
    print()


def _print_rows(rows: Rows) -> None:
    kept = [{name: value for name, value in row.to_dict().items() if value is not None} for row in rows]
    columns = [name for name in rows[0].to_dict() if name not in OPTIONAL or any(name in row for row in kept)]
    headings = [TITLES.get(name, name.replace("_", " ")) for name in columns]
    options.print_table(headings, [[options.shown(row.get(name)) for name in columns] for row in kept])


def _pictures(objective: Objective) -> list[tuple[str, str, str, Callable[[Any], Any]]]:
    """Return (key, caption, the same in words, function that draws on axes) of the pictures that an objective has."""
    from reweight.errors import InputError
    from reweight.plots.bonus_phase import bonus_phase, bonus_phase_data
    from reweight.plots.objective_curve import objective_curve, objective_curve_data
    from reweight.plots.signal_curve import signal_curve, signal_curve_data

    advantage, bonus = objective.advantage, objective.reward.bonus
    known: list[tuple[str, str, str, Callable[[], Any], Callable[[Any, Any], Any]]] = [
        (
            "gap",
            "The gap of this objective on binary prompts over the pass rate.",
            "Curve of the gap between a correct and a wrong answer against the pass rate.",
            lambda: objective_curve_data(objective),
            objective_curve,
        ),
        (
            "signal",
            "Signal-to-noise of the gradient a generated rollout, and a kept one where only mixed groups count.",
            "Curves of the signal-to-noise ratio against the group size for three pass rates.",
            lambda: signal_curve_data(advantage),
            signal_curve,
        ),
    ]
    if bonus:
        known.append(
            (
                "bonus",
                f"A bonus of {bonus:g} for a tool that half of the answers use; dotted: break-even without a std.",
                "Map of pass rate and cost of the tool, shaded by whether the tool is encouraged.",
                lambda: bonus_phase_data(advantage, objective.group_size, bonus),
                bonus_phase,
            )
        )
    found: list[tuple[str, str, str, Callable[[Any], Any]]] = []
    for key, caption, words, compute, draw_on in known:
        try:
            data = compute()
        except InputError:  # a batch statistic or a group of one has no such curve
            continue
        found.append((key, caption, words, partial(_drawn, draw_on, data)))
    return found


def _drawn(draw_on: Callable[[Any, Any], Any], data: Any, axes: Any) -> None:
    draw_on(axes, data)


def draw(objective: Objective, path: str) -> None:
    """Draw all pictures of an objective below each other into one file, whose suffix names the format."""
    import sys
    from io import BytesIO

    from reweight.errors import InputError
    from reweight.files import write_atomic
    from reweight.plots import style
    from reweight.terminal import line

    pictures = _pictures(objective)
    if not pictures:
        raise InputError("this objective has no curve on one prompt alone: it needs the whole batch")
    data = BytesIO()
    with style.use():
        figure, axes = style.stack(len(pictures))
        for each, (*_, draw_on) in zip(axes, pictures, strict=True):
            draw_on(each)
        figure.savefig(data, format=Path(path).suffix.lower().lstrip("."), dpi=200)
    write_atomic(path, data.getvalue())
    print(line(f"plot: {path}"), file=sys.stderr)


def check_plot(path: str) -> None:
    """Refuse a picture whose format is not known or whose folder cannot be written.

    Raises
    ------
    InputError
        In both cases.
    """
    from reweight.errors import InputError
    from reweight.files import check_writable

    if Path(path).suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InputError(f"--plot {path}: end the name in .png, .svg or .pdf")
    check_writable(Path(path).parent)


def write(name: str, objective: Objective, rows: Rows, out: str) -> None:
    """Write a report with the table and all pictures."""
    from reweight.plots import style
    from reweight.reports import Figure, Report, Section, Table

    blocks: list[Any] = [
        Table(list(rows[0].to_dict()), [list(row.to_dict().values()) for row in rows], "One row a prompt or answer")
    ]
    for key, caption, words, draw_on in _pictures(objective):
        with style.use():
            figure, (axes,) = style.stack(1)
            draw_on(axes)
            figure.draw_without_rendering()
        blocks.append(Figure(figure, key, caption, words))
    facts = {field: options.shown(value) for field, value in objective.to_dict().items()}
    options.write_report(Report(f"Expected weights of {name}", [Section("Weights", blocks)], facts=facts), out)
