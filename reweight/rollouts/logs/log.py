"""The one canonical table that every log fills: one row a step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.rollouts.table import LeftOut
from reweight.terminal import line, quoted

__all__ = ["Columns", "LogOptions", "TrainerLog", "log_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LogOptions:
    """What a user may tell a reader of logs.

    Parameters
    ----------
    reward : str, optional
        The column whose mean says how many samples were correct.
    values : (float, float)
        Reward of a wrong and of a correct sample.
    """

    reward: str | None = None
    values: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True)
class Columns:
    """Names of a log's columns by their meaning; a missing one is empty."""

    reward: str
    dead: str = ""
    all_correct: str = ""
    all_wrong: str = ""
    kl: str = ""
    entropy: str = ""
    length: str = ""


@dataclass(frozen=True, eq=False)
class TrainerLog:
    """Means by step.

    Parameters
    ----------
    source, format : str
        The file and the reader that understood it.
    steps : (S,) array of int
        Increasing.
    pass_rate : (S,) array
        Share of correct samples.
    dead, all_correct, all_wrong, kl, entropy, length : (S,) arrays or None
        Share of groups with equal rewards; of groups that are all correct, all wrong; divergence from the reference and
        entropy, in nats as the trainer defines them; mean tokens of a completion. NaN where a row has none.
    understood : tuple of str
        What the reader took the columns for.
    left_out : tuple of LeftOut
        Rows that are in the file and not here.
    """

    source: str
    format: str
    steps: NDArray[np.int64]
    pass_rate: Floats
    dead: Floats | None = None
    all_correct: Floats | None = None
    all_wrong: Floats | None = None
    kl: Floats | None = None
    entropy: Floats | None = None
    length: Floats | None = None
    understood: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """The columns as plain JSON values, None for NaN."""
        names = ("pass_rate", "dead", "all_correct", "all_wrong", "kl", "entropy", "length")
        columns = {name: getattr(self, name) for name in names}
        return {
            "source": self.source,
            "format": self.format,
            "steps": self.steps.tolist(),
            **{
                name: [None if math.isnan(each) else each for each in column.tolist()]
                for name, column in columns.items()
                if column is not None
            },
            "understood": list(self.understood),
            "left_out": [{"reason": item.reason, "rows": item.rows} for item in self.left_out],
        }

    def __str__(self) -> str:
        first = f"{line(self.source)}: {self.format}, {self.steps.size} steps"
        lost = [f"left out: {item.rows} {item.reason}" for item in self.left_out]
        return "\n".join([first, *self.understood, *lost])


def log_of(
    source: str, name: str, rows: Iterable[tuple[str, Mapping[str, Any]]], columns: Columns, options: LogOptions
) -> TrainerLog:
    """Gather rows, each with its place for sentences, by step; a step that comes again replaces the earlier one.

    Raises
    ------
    InputError
        If no row has the reward, a value is no number, or the mean reward lies beyond the values of one sample.
    """
    found: dict[int, tuple[str, Mapping[str, Any]]] = {}
    without = again = 0
    for where, fields in rows:
        if fields.get(columns.reward) is None:
            without += 1
            continue
        step = _step(fields.get("step"), where)
        again += step in found
        found[step] = where, fields
    if not found:
        raise InputError(f"{line(source)}: no row has a number {line(columns.reward)}; name the column of the verdict")
    ordered = [found[step] for step in sorted(found)]
    low, high = options.values
    if not low < high:
        raise InputError(f"a wrong sample's reward {low:g} is not below a correct one's {high:g}; give for example 0,1")
    reward = _column(ordered, columns.reward)
    if not ((low - 1e-6 <= reward) & (reward <= high + 1e-6)).all():
        raise InputError(
            f"{line(source)}: the mean of {line(columns.reward)} goes from {reward.min():g} to {reward.max():g}, "
            f"beyond the rewards {low:g} and {high:g} of a wrong and a correct sample; say what these are, or name "
            "another column"
        )
    others = {
        meaning: _column(ordered, column)
        for meaning, column in vars(columns).items()
        if meaning != "reward" and column and any(fields.get(column) is not None for _, fields in ordered)
    }
    left_out = [
        LeftOut(reason, rows_lost)
        for reason, rows_lost in (
            (f"rows without {columns.reward} (evaluations, summaries)", without),
            ("rows of a step that comes again later (a resumed run)", again),
        )
        if rows_lost
    ]
    read = [f"{meaning.replace('_', ' ')} is {line(getattr(columns, meaning))}" for meaning in others]
    judged = f"the pass rate is the mean of {line(columns.reward)}, with {low:g} for wrong and {high:g} for correct"
    pass_rate = np.clip((reward - low) / (high - low), 0.0, 1.0)
    return TrainerLog(
        source, name, np.array(sorted(found)), pass_rate, **others, understood=(judged, *read), left_out=tuple(left_out)
    )


def _step(value: Any, where: str) -> int:
    whole = isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer()
    if not whole or abs(value) > 2**53:
        raise InputError(f"{where}: the step {quoted(value)} is not a whole number; write its number")
    return int(value)


def _column(rows: list[tuple[str, Mapping[str, Any]]], name: str) -> Floats:
    return np.array([_number(fields.get(name), name, where) for where, fields in rows])


def _number(value: Any, name: str, where: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isinf(value) or abs(value) > 1e300:
        raise InputError(f"{where}: {line(name)} = {quoted(value)} is not a finite number; mend or remove the row")
    return float(value)
