"""The weights of the answers of one prompt over the group size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.groups.answer_table import earned, expected_weights
from reweight.groups.expectation import composition_entries
from reweight.objectives.objective import Objective
from reweight.plots import style
from reweight.problems.problem import Problem

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["AnswerCurve", "answer_curve", "answer_curve_data"]

Floats = NDArray[np.float64]
GROUP_SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32)
MOST_CURVES, MOST_ENTRIES = 8, 2_000_000


@dataclass(frozen=True, eq=False)
class AnswerCurve:
    """Weights by answer and group size.

    Attributes
    ----------
    group_sizes : tuple of int, length S
    weights : ndarray, shape (C, S)
        Expected advantage times aggregation weight, of answers that differ in it or in what they earn.
    answers : tuple of tuple of int, length C
        Which answers share the curve.
    rewards : tuple of float, length C
        What these earn.
    group_size : int
        The group size of the objective.
    """

    group_sizes: tuple[int, ...]
    weights: Floats
    answers: tuple[tuple[int, ...], ...]
    rewards: tuple[float, ...]
    group_size: int


def answer_curve_data(
    objective: Objective,
    problem: Problem,
    probabilities: Sequence[Fraction],
    group_sizes: Sequence[int] = GROUP_SIZES,
) -> AnswerCurve:
    """Compute the weights for every group size that the objective allows and that takes no longer than moments.

    Parameters
    ----------
    objective : Objective
        Its own group size is one of those drawn.
    problem : Problem
    probabilities : sequence of Fraction, length N
    group_sizes : sequence of int

    Raises
    ------
    InputError
        If the objective makes no sense on this prompt.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> half = Fraction(1, 2)
    >>> data = answer_curve_data(Objective(Advantage(), 4), Problem([1, 0]), [half, half], [2])
    >>> data.group_sizes, data.weights.round(4).tolist()
    ((2, 4), [[0.5, 0.808], [-0.5, -0.808]])
    """
    masses = np.array([float(mass) for mass in probabilities])
    rewards = [float(reward) for reward in earned(problem, objective)]
    lengths = np.ones(len(problem)) if problem.lengths is None else problem.lengths
    types = len(set(zip(rewards, lengths.tolist(), strict=True)))
    columns: dict[int, Floats] = {}
    for size in sorted({*group_sizes, objective.group_size}):
        if size != objective.group_size and composition_entries(types, size) > MOST_ENTRIES:
            continue
        try:
            columns[size] = expected_weights(replace(objective, group_size=size), problem, masses)[0]
        except InputError:  # k of pass@k above the group size
            if size == objective.group_size:
                raise
    table = np.stack(list(columns.values()), axis=1)
    shared: dict[tuple[str, ...], list[int]] = {}
    for index, (reward, row) in enumerate(zip(rewards, table, strict=True)):
        shared.setdefault(tuple(f"{value:.12g}" for value in (reward, *row)), []).append(index)
    first = [members[0] for members in shared.values()]
    return AnswerCurve(
        tuple(columns),
        table[first],
        tuple(tuple(members) for members in shared.values()),
        tuple(rewards[index] for index in first),
        objective.group_size,
    )


def answer_curve(axes: Axes, data: AnswerCurve) -> list[Artist]:
    """Draw one curve an answer, at most eight: those that are pushed hardest at the objective's own group size."""
    own = data.group_sizes.index(data.group_size)
    order = np.argsort(-np.abs(data.weights[:, own]), kind="stable")[:MOST_CURVES]
    order = order[np.argsort(-data.weights[order, own], kind="stable")]
    artists: list[Artist] = [axes.axhline(0.0, color=style.GREY, linewidth=0.6)]
    artists.append(axes.axvline(data.group_size, color=style.GREY, linewidth=0.8, linestyle=":"))
    for place, (row, colour) in enumerate(zip(order, style.shades(len(order)), strict=True)):
        names = ", ".join(str(answer) for answer in data.answers[row][:3]) + (
            "..." if len(data.answers[row]) > 3 else ""
        )
        artists += axes.plot(
            data.group_sizes,
            data.weights[row],
            color=colour,
            marker="osD^v<>p"[place],
            label=f"answer {names}: reward {data.rewards[row]:.3g}",
        )
    axes.set_xscale("log", base=2)
    ticks = [size for size in (2, 4, 8, 16, 32, 64, 128) if data.group_sizes[0] <= size <= data.group_sizes[-1]]
    axes.set_xticks(ticks, [f"{size}" for size in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("group size $G$")
    axes.set_ylabel("expected weight")
    places: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 1 if len(order) < 4 else 2}
    axes.legend(frameon=False, columnspacing=1.0, handlelength=1.5, **places)
    return artists
