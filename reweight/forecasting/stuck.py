"""Prompts that will not move at a budget: those that see no group with a correct and a wrong sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reweight.checks import integer
from reweight.forecasting.functional import dead_share
from reweight.forecasting.quantity import Estimator, Quantity, shown
from reweight.forecasting.table import Table
from reweight.rollouts import Counts
from reweight.terminal import listed, quoted

__all__ = ["Stuck", "StuckClass", "stuck"]

NAMED = 12


@dataclass(frozen=True)
class StuckClass:
    """Prompts with one kind of counts.

    Parameters
    ----------
    name : str
        "all", "never solved" or "always solved".
    prompts : tuple of str
        Their ids; for "all" none are listed.
    number : int
        How many they are.
    chance : Quantity
        Chance that one of them sees no mixed group.
    """

    name: str
    prompts: tuple[str, ...]
    number: int
    chance: Quantity

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"prompts": self.number, "ids": list(self.prompts), "chance": self.chance.to_dict()}


@dataclass(frozen=True)
class Stuck:
    """Who does not move while each prompt gets T groups of G samples.

    Parameters
    ----------
    group_size, groups : int
        G and T.
    classes : tuple of StuckClass
    notes : tuple of str
    """

    group_size: int
    groups: int
    classes: tuple[StuckClass, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; every id is there."""
        return {
            "group_size": self.group_size,
            "groups": self.groups,
            **{each.name.replace(" ", "_"): each.to_dict() for each in self.classes},
            "notes": list(self.notes),
        }

    def tables(self) -> tuple[Table, ...]:
        """One row a kind of prompts, with the first ids."""
        rows = tuple(
            (
                each.name,
                str(each.number),
                f"{shown(each.number * each.chance.low, 2)} to {shown(each.number * each.chance.high, 2)}",
                listed(map(quoted, each.prompts[:NAMED])) + (" ..." if len(each.prompts) > NAMED else ""),
            )
            for each in self.classes
        )
        title = f"Prompts that see no mixed group in {self.groups} groups of {self.group_size} each"
        return (Table(title, ("prompts", "number", "of them stuck", "first ids"), rows),)


def stuck(counts: Counts, *, group_size: int, groups: int, level: float = 0.95) -> Stuck:
    """Bound how many prompts see no mixed group in T groups, at their present pass rates.

    Parameters
    ----------
    counts : Counts
        n and c of P prompts.
    group_size, groups : int
        G and T.
    level : float
        Coverage of all bounds of one number of samples together.

    Notes
    -----
    A group of G is dead with probability p^G + q^G (R01), T of them with (p^G + q^G)^T. Among the prompts without a
    correct sample, and among those without a wrong one, the chance is a ratio of two means over all prompts, as for
    discovery (`Estimator.unsolved`).

    Examples
    --------
    >>> counts = Counts.of([8] * 200, [8] * 118 + [0] * 6 + [5] * 76)
    >>> found = stuck(counts, group_size=8, groups=50)
    >>> [(each.name, each.number) for each in found.classes]
    [('all', 200), ('never solved', 6), ('always solved', 118)]
    """
    integer(group_size, "group_size", at_least=2)
    integer(groups, "groups", at_least=1)
    estimator, dead = Estimator(counts, level), dead_share(group_size)

    def never_mixed(p: np.ndarray) -> np.ndarray:
        return np.asarray(dead.at(p) ** groups)

    classes = [StuckClass("all", (), len(counts.prompts), estimator.bounds(never_mixed, (0.0, 1.0)))]
    # p^G + q^G does not change when right and wrong change places.
    mirrored = Estimator(Counts(counts.prompts, counts.n, counts.n - counts.c), level)
    for name, members, each in (
        ("never solved", counts.c == 0, estimator),
        ("always solved", counts.c == counts.n, mirrored),
    ):
        chance = each.unsolved(never_mixed)
        if chance is not None:
            ids = tuple(counts.prompts[i] for i in np.flatnonzero(members).tolist())
            classes.append(StuckClass(name, ids, len(ids), chance))
    notes = (
        "a prompt without a mixed group gets no gradient of its own: only what other prompts teach can move it",
        "pass rates stay what they are while the groups are drawn",
    )
    return Stuck(group_size, groups, tuple(classes), notes)
