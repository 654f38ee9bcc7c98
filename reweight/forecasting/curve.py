"""The rows of a trainer's log: reward mean and shares of all-correct and all-wrong groups, and how many groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError

__all__ = ["Curve", "Window", "groups_behind"]

Floats = NDArray[np.float64]

MOST_GROUPS = 4096
ROUNDED = 10**6
EXACT = 1e-13
"""Distance from an integer, relative to a share's denominator, that is still rounding of a float64."""


@dataclass(frozen=True)
class Window:
    """Some rows of a log, pooled by groups.

    Attributes
    ----------
    steps : tuple of float
        Of its rows.
    groups : int
    pass_rate : float
    dead, all_correct, all_wrong : float
        Shares of groups without any advantage, and of their two kinds; NaN where the log does not have them.
    """

    steps: tuple[float, ...]
    groups: int
    pass_rate: float
    dead: float = math.nan
    all_correct: float = math.nan
    all_wrong: float = math.nan


@dataclass(frozen=True, eq=False)
class Curve:
    """A log as columns, in the order of its steps.

    Parameters
    ----------
    group_size : int
    steps, pass_rate : (R,) arrays
        Step numbers; mean reward of a step, where rewards are 1 for correct and 0 for wrong.
    groups : (R,) array of int
        Groups behind each row.
    dead, all_correct, all_wrong : (R,) arrays, or None
        Shares of groups without any advantage, and of their two kinds.
    """

    group_size: int
    steps: Floats
    pass_rate: Floats
    groups: NDArray[np.int64]
    dead: Floats | None = None
    all_correct: Floats | None = None
    all_wrong: Floats | None = None

    @classmethod
    def of(
        cls,
        group_size: int,
        steps: Sequence[float] | Floats,
        pass_rate: Sequence[float] | Floats,
        *,
        all_correct: Sequence[float] | Floats | None = None,
        all_wrong: Sequence[float] | Floats | None = None,
        dead: Sequence[float] | Floats | None = None,
        groups: Sequence[int] | NDArray[np.int64] | int | None = None,
    ) -> Curve:
        """Check the columns and find the numbers of groups where they are not given.

        `dead` is for a log that has the share of groups with equal rewards, and not its two kinds.

        Raises
        ------
        InputError
            If columns differ in length, a value is not a share, only one of the shares is given, or the numbers of
            groups are neither given nor found.

        Examples
        --------
        >>> Curve.of(2, [1, 2], [0.5, 0.625], all_correct=[0.25, 0.5], all_wrong=[0.25, 0.25]).groups.tolist()
        [4, 4]
        """
        if (all_correct is None) != (all_wrong is None):
            raise InputError("only one of the shares of all-correct and all-wrong groups is given; give both or none")
        if dead is not None and all_correct is not None:
            raise InputError("the share of dead groups is the sum of its two kinds; leave it out where both are given")
        given = {"pass_rate": pass_rate, "dead": dead, "all_correct": all_correct, "all_wrong": all_wrong}
        columns = {name: _shares(values, name) for name, values in given.items() if values is not None}
        moments = np.asarray(steps, dtype=np.float64)
        if moments.ndim != 1 or any(column.shape != moments.shape for column in columns.values()):
            raise InputError("the columns of the log differ in length; give one value for each step")
        if not (np.diff(moments) > 0).all() or not np.isfinite(moments).all():
            raise InputError("the steps of the log do not increase; give each step once, in order")
        if groups is None:
            groups = _found_groups(group_size, moments, list(columns.values()))
        number = np.broadcast_to(np.asarray(groups), moments.shape).astype(np.int64)
        if (number < 1).any():
            raise InputError("a row of the log has no group; give at least one")
        if all_correct is not None:
            columns["dead"] = columns["all_correct"] + columns["all_wrong"]
        return cls(group_size, moments, groups=number, **columns)

    def window(self, first: int, last: int) -> Window:
        """Rows first to last - 1 as one."""
        rows = slice(first, last)
        weights = self.groups[rows] / self.groups[rows].sum()
        columns = (self.pass_rate, self.dead, self.all_correct, self.all_wrong)
        shares = [math.nan if column is None else float(weights @ column[rows]) for column in columns]
        return Window(tuple(self.steps[rows].tolist()), int(self.groups[rows].sum()), *shares)

    def windows(self, first: int, size: int) -> tuple[Window, ...]:
        """Consecutive windows of `size` rows from row `first` on; rows that do not fill the last are left out."""
        return tuple(self.window(i, i + size) for i in range(first, self.steps.size - size + 1, size))


def groups_behind(group_size: int, pass_rate: float, *shares: float) -> int | None:
    """The fewest groups that give a reward mean and shares of groups exactly; None if there are none up to 4,096.

    The true number can be a multiple of it: intervals with the fewest are the widest.

    Examples
    --------
    >>> groups_behind(8, 1095 / (8 * 250), 30 / 250, 17 / 250)
    250
    >>> groups_behind(8, 2**-0.5) is None
    True
    """
    number = np.arange(1, MOST_GROUPS + 1)
    fits = np.ones(number.size, bool)
    for share, per in ((pass_rate, group_size), *((each, 1) for each in shares)):
        times = share * per * number
        fits &= np.abs(times - np.round(times)) <= EXACT * per * number
    return int(number[fits.argmax()]) if fits.any() else None


def _found_groups(group_size: int, steps: Floats, columns: list[Floats]) -> NDArray[np.int64]:
    """Groups behind each row; refused where they are not found, or found only because the shares were rounded."""
    found = [groups_behind(group_size, *row) for row in zip(*columns, strict=True)]
    ask = "say how many groups a row has"
    if None in found:
        raise InputError(f"no number of groups explains the shares of step {steps[found.index(None)]:g}; {ask}")
    numbers = np.array(found, dtype=np.int64)
    powers_of_two = numbers & (numbers - 1) == 0
    if numbers.size and (ROUNDED % numbers == 0).all() and not powers_of_two.all():
        raise InputError(f"the shares of the log seem to be rounded, so the number of groups is not in them; {ask}")
    return numbers


def _shares(values: Sequence[float] | Floats, name: str) -> Floats:
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1 or not ((column >= 0) & (column <= 1)).all():
        raise InputError(
            f"{name} of the log is not between 0 and 1 in every row; scale rewards to 0 and 1, drop the rest"
        )
    return column
