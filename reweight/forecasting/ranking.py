"""Which group size learns most from a rollout, by how much, and whether a file is needed to tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reweight.forecasting.functional import Functional
from reweight.forecasting.quantity import Estimator, Quantity

if TYPE_CHECKING:
    from reweight.rollouts import Counts

__all__ = ["Lead", "Ranking", "rank"]

ROUNDING = 1e-13


@dataclass(frozen=True)
class Lead:
    """How much more the best group size learns than another one.

    Parameters
    ----------
    group_size : int
        The other one.
    difference : Quantity
        The best one's value minus its own, compared prompt by prompt.
    certain : bool
        The difference is negative for no pass rate, so that no file could say otherwise: only how large it is, is open.
    """

    group_size: int
    difference: Quantity
    certain: bool

    @property
    def equal(self) -> bool:
        """Whether they learn the same at every pass rate."""
        return self.certain and self.difference.high <= 0.0

    @property
    def decided(self) -> str:
        """What tells the two apart."""
        if self.equal:
            return "no difference"
        if self.certain:
            return "every pass rate"
        return "this file" if self.difference.low > 0.0 else "not decided: the limits hold 0"


@dataclass(frozen=True)
class Ranking:
    """Which group size learns most from the budget, and which the file cannot tell from it.

    Parameters
    ----------
    held : str
        What is the same for all sizes: "rollouts a step" or "groups a step".
    best : int
    against : tuple of Lead
        Each other size. The limits hold together at the level of the plan.
    """

    held: str
    best: int
    against: tuple[Lead, ...]

    @property
    def ties(self) -> tuple[int, ...]:
        """Group sizes that neither mathematics nor the file can tell from the best one."""
        return tuple(
            each.group_size for each in self.against if each.equal or not (each.certain or each.difference.low > 0.0)
        )

    def __str__(self) -> str:
        found = f"with as many {self.held} G = {self.best} learns most"
        return found + (f", not told apart from G = {', '.join(map(str, self.ties))}" if self.ties else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "held": self.held,
            "best": self.best,
            "not_told_apart": list(self.ties),
            "against": [
                {"group_size": each.group_size, "difference": each.difference.to_dict(), "certain": each.certain}
                for each in self.against
            ],
        }


def rank(counts: Counts, level: float, held: str, worth: dict[int, Functional]) -> Ranking:
    """Find the group size that learns most, and by how much.

    Sizes are compared prompt by prompt, which is narrower than to compare the intervals of two means. The best one is
    found in the data, so the level is split over all pairs of sizes.

    Parameters
    ----------
    counts : Counts
        n and c of P prompts.
    level : float
        With which all limits hold together.
    held : str
        What is the same for all sizes.
    worth : dict of Functional
        What a rollout teaches, by group size.

    Examples
    --------
    >>> from reweight.forecasting.functional import signal
    >>> from reweight.objectives import Advantage
    >>> from reweight.rollouts import Counts
    >>> counts = Counts.of([8] * 200, [8] * 80 + [0] * 20 + [4] * 100)
    >>> found = rank(counts, 0.95, "rollouts a step", {size: signal(size, Advantage()) for size in (4, 8)})
    >>> print(found, found.against[0].difference, found.against[0].decided, sep="; ")
    with as many rollouts a step G = 8 learns most; 0.0225 [0.0193, 0.0257]; every pass rate
    """
    pairs = max(1, len(worth) * (len(worth) - 1) // 2)
    estimator = Estimator(counts, 1.0 - (1.0 - level) / pairs)

    def minus(first: int, second: int) -> Quantity:
        difference = _difference(worth[first], worth[second])
        if counts.n.min() >= difference.degree:
            return estimator.mean(difference)
        return estimator.bounds(difference.at, difference.range)

    first, *others = worth
    middles = {first: 0.0} | {size: _middle(minus(size, first)) for size in others}
    best = max(middles, key=lambda size: middles[size])
    return Ranking(
        held,
        best,
        tuple(
            Lead(size, minus(best, size), _never_negative(_difference(worth[best], worth[size])))
            for size in worth
            if size != best
        ),
    )


def _middle(found: Quantity) -> float:
    return (found.low + found.high) / 2.0 if found.estimate is None else found.estimate


def _never_negative(difference: Functional) -> bool:
    """Whether no coefficient in Bernstein form is negative: then the polynomial is nowhere so."""
    return difference.range[0] >= 0.0


def _difference(first: Functional, second: Functional) -> Functional:
    """One minus the other, both written for the larger number of samples (elevation of the degree)."""
    samples = max(first.degree, second.degree)
    k = np.arange(samples + 1)
    table = first.unbiased(samples, k) - second.unbiased(samples, k)
    return Functional(np.where(np.abs(table) <= ROUNDING, 0.0, table))
