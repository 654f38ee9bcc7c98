"""Panels of a forecast: dead groups and signal by group size, and the counts behind them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

from reweight.plots.style import BLUE, ORANGE

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["Number", "counts", "dead_share", "signal"]

ESTIMATE, BOUND = BLUE, ORANGE
BINS = 20


class Number(Protocol):
    """A forecast number: without an estimate, low and high are bounds."""

    @property
    def estimate(self) -> float | None:
        """The estimate, where there is one."""

    @property
    def low(self) -> float:
        """Lower limit."""

    @property
    def high(self) -> float:
        """Upper limit."""


def dead_share(axes: Axes, table: Mapping[int, Number], level: float) -> list[Artist]:
    """Share of groups that are all correct or all wrong, and so have no advantage, against the group size."""
    artists = _by_group_size(axes, table, level)
    axes.set_ylim(0, 1)
    axes.set_ylabel("dead-group share")
    axes.set_title("Groups without any advantage")
    return artists


def signal(axes: Axes, table: Mapping[int, Number], level: float) -> list[Artist]:
    """Expected reward times advantage of a generated rollout against the group size."""
    artists = _by_group_size(axes, table, level)
    axes.set_ylim(bottom=0)
    axes.set_ylabel(r"mean of reward $\times$ advantage")
    axes.set_title("Signal per generated rollout")
    return artists


def counts(axes: Axes, histogram: Mapping[int, Mapping[int, int]]) -> list[Artist]:
    """How many prompts have how many correct samples (histogram[n][c]); as shares where n differs."""
    from matplotlib.ticker import MaxNLocator

    if len(histogram) == 1:
        n, row = next(iter(histogram.items()))
        artists: list[Artist] = list(
            axes.bar(list(row), list(row.values()), width=0.9 if n <= BINS else 1.0, color=ESTIMATE)
        )
        axes.set_xlim(-0.6, n + 0.6)
        axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], integer=True))
        axes.set_xlabel(f"correct of {n} samples")
    else:
        shares = [c / n for n, row in histogram.items() for c in row]
        prompts = [number for row in histogram.values() for number in row.values()]
        axes.hist(shares, bins=BINS, range=(0, 1), weights=prompts, color=ESTIMATE)
        artists = list(axes.patches)
        axes.set_xlabel("share of correct samples")
    axes.set_ylabel("prompts")
    axes.set_title("Counts in the file")
    return artists


def _percent(level: float) -> str:
    """All digits of a level, so that none is rounded to 100 %."""
    return f"{(Decimal(repr(level)) * 100).normalize():f}"


def _by_group_size(axes: Axes, table: Mapping[int, Number], level: float) -> list[Artist]:
    """Points with intervals where a number is identified; bars that are hatched, and have no point, where it is not."""
    artists: list[Artist] = []
    known = {size: value for size, value in table.items() if value.estimate is not None}
    unknown = {size: value for size, value in table.items() if value.estimate is None}
    positions = {size: i for i, size in enumerate(table)}
    if known:
        middle = [value.estimate for value in known.values() if value.estimate is not None]
        below = [m - value.low for m, value in zip(middle, known.values(), strict=True)]
        above = [value.high - m for m, value in zip(middle, known.values(), strict=True)]
        label = f"estimate, {_percent(level)} % interval"
        places = [positions[size] for size in known]
        points = axes.errorbar(places, middle, yerr=[below, above], fmt="o", color=ESTIMATE, capsize=3, label=label)
        artists += points.get_children()
    if unknown:
        lows = [value.low for value in unknown.values()]
        heights = [value.high - value.low for value in unknown.values()]
        places = [positions[size] for size in unknown]
        boxes = axes.bar(places, heights, bottom=lows, width=0.5, facecolor="none", edgecolor=BOUND, hatch="////")
        boxes.set_label("not identified: bounds")
        artists += boxes.patches
    axes.set_xticks(list(positions.values()), [str(size) for size in positions])
    axes.set_xlim(-0.6, len(positions) - 0.4)
    axes.set_xlabel("group size G")
    return artists
