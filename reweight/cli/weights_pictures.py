"""The pictures of `reweight weights`: below each other in one file, or each in a report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reweight.cli import options

if TYPE_CHECKING:
    from reweight.cli.weights_input import Prompt
    from reweight.cli.weights_output import Side
    from reweight.objectives import Objective

__all__ = ["check_plot", "draw", "write"]

SUFFIXES = (".png", ".svg", ".pdf")
LIKELY_PROMPTS = 3
DATES: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""What would differ from one drawing to the next."""


@dataclass(frozen=True)
class Picture:
    """A drawing on given axes, with its caption and the same in words."""

    key: str
    caption: str
    words: str
    draw_on: Callable[[Any], Any]


def check_plot(path: str) -> None:
    """Refuse a picture whose format is not known or whose folder cannot be written.

    Raises
    ------
    InputError
        In both cases.
    """
    from reweight.errors import InputError
    from reweight.files import check_writable

    if Path(path).suffix.lower() not in SUFFIXES:
        raise InputError(f"--plot {path}: end the name in .png, .svg or .pdf")
    check_writable(Path(path).parent)


def draw(objective: Objective, prompt: Prompt, path: str) -> None:
    """Draw all pictures of an objective below each other into one file, whose suffix names the format."""
    import sys
    from io import BytesIO

    from reweight.errors import InputError
    from reweight.files import write_atomic
    from reweight.plots import style
    from reweight.terminal import line

    pictures = list(_pictures(objective, prompt))
    if not pictures:
        raise InputError("this objective has no curve on one prompt alone: it needs the whole batch")
    data, suffix = BytesIO(), Path(path).suffix.lower()
    with style.use():
        figure, axes = style.stack(len(pictures))
        for each, picture in zip(axes, pictures, strict=True):
            picture.draw_on(each)
        figure.savefig(data, format=suffix[1:], dpi=200, metadata=DATES[suffix])
    write_atomic(path, data.getvalue())
    print(line(f"plot: {path}"), file=sys.stderr)


def write(found: Side, prompt: Prompt, out: str) -> None:
    """Write a report with the table, what else is known, and all pictures."""
    from reweight.plots import style
    from reweight.reports import Figure, Report, Section, Table

    rows = [row.to_dict() for row in found.rows]
    table = Table(list(rows[0]), [list(row.values()) for row in rows], "One row a prompt or answer")
    figures = []
    for picture in _pictures(found.objective, prompt):
        with style.use():
            figure, (axes,) = style.stack(1)
            picture.draw_on(axes)
            figure.draw_without_rendering()
        figures.append(Figure(figure, picture.key, picture.caption, picture.words))
    facts = {field: options.shown(value) for field, value in found.objective.to_dict().items()}
    facts |= {name.replace("_", " "): options.shown(value) for name, value in found.facts.items()}
    options.write_report(
        Report(f"Expected weights of {found.name}", [Section("Weights", [table, *figures])], facts=facts), out
    )


def _pictures(objective: Objective, prompt: Prompt) -> Iterator[Picture]:
    """Give the pictures that an objective has; a batch statistic has no curve of one prompt."""
    if not objective.couples_prompts:
        yield _gaps(objective, prompt) if prompt.problem is None else _answers(objective, prompt)
        if (signal := _signal(objective, prompt)) is not None:
            yield signal
    if objective.reward.bonus and prompt.problem is not None and (phase := _bonus(objective, prompt)) is not None:
        yield phase


def _gaps(objective: Objective, prompt: Prompt) -> Picture:
    from reweight.plots.objective_curve import objective_curve, objective_curve_data

    marked = [float(rate) for rate in prompt.rates]
    data = objective_curve_data(objective, tpr=prompt.tpr, fpr=prompt.fpr, marked=marked)
    return Picture(
        "gap",
        "Expected advantage of a correct answer minus that of a wrong one, over the pass rate, of all groups and of "
        "those that are kept when groups of equal rewards are redrawn. Dots: the pass rates asked for.",
        "Two curves of the gap against the pass rate; that of the kept groups rises towards both ends.",
        lambda axes: objective_curve(axes, data),
    )


def _answers(objective: Objective, prompt: Prompt) -> Picture:
    from reweight.plots.answer_curve import answer_curve, answer_curve_data

    assert prompt.problem is not None
    data = answer_curve_data(objective, prompt.problem, prompt.masses)
    return Picture(
        "answers",
        "Expected weight of each answer over the group size, of the eight that are pushed hardest if there are more; "
        "dotted: the group size of the objective.",
        "One curve an answer of its weight against the group size, above zero where the answer is pushed up.",
        lambda axes: answer_curve(axes, data),
    )


def _signal(objective: Objective, prompt: Prompt) -> Picture | None:
    from reweight.groups.answer_table import has_plain_signal
    from reweight.groups.binary_table import in_closed_form
    from reweight.groups.table_facts import with_wrong_answers
    from reweight.plots.signal_curve import signal_curve, signal_curve_data

    prompts: dict[str, tuple[Any, Any]] = {}
    if prompt.problem is not None:
        from reweight.groups.answer_table import earned

        if not has_plain_signal(objective, prompt.problem):
            return None
        rewards = [float(reward) for reward in earned(prompt.problem, objective)]
        prompts["this prompt"] = (rewards, [float(mass) for mass in prompt.masses])
    elif in_closed_form(objective) and prompt.tpr == 1 and prompt.fpr == 0:
        for rate in [each for each in prompt.rates if 0 < each < 1][:LIKELY_PROMPTS]:
            prompts[f"$p = {options.shown(float(rate))}$"] = with_wrong_answers(float(rate), float(1 - rate))
    data = signal_curve_data(objective.advantage, prompts) if prompts else None
    if data is None or np.isnan(data.generated).all():
        return None
    return Picture(
        "signal",
        "Signal-to-noise ratio of the gradient over the group size, for each generated sample where all groups count, "
        "and for each kept sample where groups of equal rewards are redrawn.",
        "Curves of the signal-to-noise ratio against the group size, full for generated and dashed for kept samples.",
        lambda axes: signal_curve(axes, data),
    )


def _bonus(objective: Objective, prompt: Prompt) -> Picture | None:
    """Return the phase map of a tool that is called once, at the share of answers that call it here."""
    from reweight.plots.bonus_phase import bonus_phase, bonus_phase_data

    problem = prompt.problem
    if problem is None or problem.counts is None or not problem.has_correct_set or problem.rewards.ndim > 1:
        return None
    masses, used = np.array([float(mass) for mass in prompt.masses]), problem.counts > 0
    share = float(masses[used].sum())
    if not 0 < share < 1 or len(set(problem.float_rewards.tolist())) != 2 or objective.couples_prompts:
        return None
    plain, with_tool = (float(masses[side & problem.correct].sum() / masses[side].sum()) for side in (~used, used))
    data = bonus_phase_data(
        objective.advantage,
        objective.group_size,
        objective.reward.bonus,
        share=share,
        correct=float(problem.float_rewards.max()),
        wrong=float(problem.float_rewards.min()),
        marked=(plain, plain - with_tool),
    )
    return Picture(
        "bonus",
        f"A bonus of {objective.reward.bonus:g} for a tool that a share of {share:.3g} of the answers calls once, "
        "without noise or filter. Dotted: where the loss of pass rate costs as much reward as the bonus gives. Dot: "
        "this prompt.",
        "Map of pass rate and cost of the tool, coloured by whether the tool is encouraged, hatched where even a wrong "
        "answer that used it is pushed up.",
        lambda axes: bonus_phase(axes, data),
    )
