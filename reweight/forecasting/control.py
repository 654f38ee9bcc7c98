"""Negative control: the same analysis of the two halves of a file, which differ by chance alone."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reweight.forecasting.quantity import Quantity, shown
from reweight.forecasting.table import Table
from reweight.rollouts import Counts

__all__ = ["Control", "Halves", "control", "halves"]


@dataclass(frozen=True)
class Halves:
    """One number for the whole file and for each half of its prompts.

    Parameters
    ----------
    whole, first, second : Quantity
    """

    whole: Quantity
    first: Quantity
    second: Quantity

    @property
    def difference(self) -> Quantity | None:
        """First minus second half, None where they are not estimated.

        The halves are independent samples, so the limits follow from theirs: sqrt((a - low a)^2 + (high b - b)^2) below
        the difference, and likewise above (Zou and Donner 2008).
        """
        a, b = self.first, self.second
        if a.estimate is None or b.estimate is None:
            return None
        middle = a.estimate - b.estimate
        below = math.hypot(a.estimate - a.low, b.high - b.estimate)
        above = math.hypot(a.high - a.estimate, b.estimate - b.low)
        return Quantity(middle, middle - below, middle + above, True)

    @property
    def agree(self) -> bool:
        """Whether chance explains the difference: its interval contains 0, or the bounds overlap."""
        found = self.difference
        if found is not None:
            return found.low <= 0.0 <= found.high
        return self.first.low <= self.second.high and self.second.low <= self.first.high


@dataclass(frozen=True)
class Control:
    """Both halves beside the whole, for each number of a forecast that one decides by.

    Parameters
    ----------
    prompts : (int, int)
        Prompts of the halves.
    level : float
    numbers : mapping of str to Halves
    """

    prompts: tuple[int, int]
    level: float
    numbers: Mapping[str, Halves]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the control can and cannot show."""
        apart = [name for name, row in self.numbers.items() if not row.agree]
        told = (
            f"the halves differ beyond chance in {len(apart)} of {len(self.numbers)} numbers ({', '.join(apart)})"
            if apart
            else "the halves of the file agree within chance, as they must"
        )
        return (f"{told}; about {1 - self.level:.3g} of such comparisons fail by chance",)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "prompts": list(self.prompts),
            "numbers": {
                name: {
                    "whole": row.whole.to_dict(),
                    "first": row.first.to_dict(),
                    "second": row.second.to_dict(),
                    "difference": None if row.difference is None else row.difference.to_dict(),
                    "agree": row.agree,
                }
                for name, row in self.numbers.items()
            },
        }

    def tables(self) -> tuple[Table, ...]:
        """One table."""
        title = f"Control: the file split into halves of {self.prompts[0]} and {self.prompts[1]} prompts"
        header = ("", "whole file", "first half", "second half", "difference", "agree")
        rows = tuple(
            (
                name,
                *(_short(each) for each in (row.whole, row.first, row.second)),
                "-" if row.difference is None else str(row.difference),
                "yes" if row.agree else "NO",
            )
            for name, row in self.numbers.items()
        )
        return (Table(title, header, rows),)


def _short(found: Quantity) -> str:
    """Without its interval, which stands in the tables above, where it is an estimate."""
    return str(found) if found.estimate is None else shown(found.estimate)


def control(counts: Counts, analyse: Callable[[Counts], Mapping[str, Quantity]], level: float) -> Control | None:
    """Run an analysis on the whole and on both halves; None where there are fewer than two prompts.

    Parameters
    ----------
    counts : Counts
        P prompts.
    analyse : callable
        Gives named numbers for counts.
    level : float
        That of the analysis, for the note.

    Examples
    --------
    >>> from reweight.forecasting.functional import pass_at
    >>> from reweight.forecasting.quantity import Estimator
    >>> counts = Counts.of([8] * 40, [0, 3, 8, 8] * 10)
    >>> found = control(counts, lambda part: {"pass rate": Estimator(part, 0.95).mean(pass_at(1))}, 0.95)
    >>> found.prompts, found.numbers["pass rate"].agree
    ((20, 20), True)
    """
    if len(counts.prompts) < 2:
        return None
    first, second = halves(counts)
    whole, one, other = analyse(counts), analyse(first), analyse(second)
    return Control(
        (len(first.prompts), len(second.prompts)),
        level,
        {name: Halves(whole[name], one[name], other[name]) for name in whole if name in one and name in other},
    )


def halves(counts: Counts) -> tuple[Counts, Counts]:
    """Split the prompts by the hash of their names, so that neither the order of the file nor luck decides.

    Examples
    --------
    >>> first, second = halves(Counts.of([8, 8, 4], [1, 2, 3]))
    >>> sorted([*first.prompts, *second.prompts])
    ['0', '1', '2']
    """
    marks = [hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).digest() for prompt in counts.prompts]
    order = np.array(sorted(range(len(marks)), key=marks.__getitem__))
    parts = np.sort(order[::2]), np.sort(order[1::2])
    first, second = (
        Counts(tuple(counts.prompts[i] for i in part.tolist()), counts.n[part], counts.c[part]) for part in parts
    )
    return first, second
