"""Signal-to-noise per rollout over the group size: what a fixed budget of samples buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.groups.expectation import composition_entries
from reweight.groups.signal import gradient_signal
from reweight.groups.table_facts import LARGEST_RATIO
from reweight.objectives.advantage import Advantage
from reweight.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["SignalCurve", "signal_curve", "signal_curve_data"]

Floats = NDArray[np.float64]
GROUP_SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32)
MOST_WORK, SHORT_AXIS, SHORTEST_AXIS = 4_000_000, 100.0, 8.0


@dataclass(frozen=True, eq=False)
class SignalCurve:
    """Signal-to-noise of the gradient per rollout, by prompt and group size.

    Attributes
    ----------
    names : tuple of str, length P
    group_sizes : tuple of int, length S
    generated, kept : ndarray, shape (P, S)
        Squared norm of the expected gradient over the variance, for each generated rollout when all groups count, and
        for each kept rollout when only mixed groups do; NaN where there is no signal, no noise, or no mixed group.
    """

    names: tuple[str, ...]
    group_sizes: tuple[int, ...]
    generated: Floats
    kept: Floats


def signal_curve_data(
    advantage: Advantage,
    prompts: Mapping[str, tuple[ArrayLike, ArrayLike]],
    group_sizes: Sequence[int] = GROUP_SIZES,
) -> SignalCurve:
    """Compute the curves of some prompts.

    Parameters
    ----------
    advantage : Advantage
    prompts : mapping of str to (array_like, array_like), shapes (N,)
        Rewards and probabilities of the answers, by name.
    group_sizes : sequence of int
        Those that would take longer than a moment are left out.

    Raises
    ------
    InputError
        If rewards and probabilities do not fit together.

    Examples
    --------
    >>> data = signal_curve_data(Advantage(), {"even": ([1, 0], [0.5, 0.5])}, [2, 4])
    >>> data.generated.round(4).tolist(), data.kept.round(4).tolist()  # two answers: every mixed pair pushes alike
    ([[0.5, 1.6807]], [[nan, 48.4987]])
    """
    levels = max(len(np.unique(np.asarray(rewards))) for rewards, _ in prompts.values())
    sizes = [size for size in group_sizes if composition_entries(levels, size) * levels * (levels + 1) <= MOST_WORK]
    tables = np.full((2, len(prompts), len(sizes)), np.nan)
    for row, (rewards, masses) in enumerate(prompts.values()):
        for column, size in enumerate(sizes):
            every = gradient_signal(rewards, masses, size, advantage)
            tables[0, row, column] = every.per_generated_rollout
            if every.dead_share < 1:
                mixed = gradient_signal(rewards, masses, size, advantage, mixed_only=True)
                tables[1, row, column] = mixed.per_kept_rollout
    tables[~((tables > 0) & (tables < LARGEST_RATIO))] = np.nan
    return SignalCurve(tuple(prompts), tuple(sizes), *tables)


def signal_curve(axes: Axes, data: SignalCurve) -> list[Artist]:
    """Draw both, full lines for generated and dashed ones for kept rollouts, one colour a prompt."""
    artists: list[Artist] = []
    colours = (style.BLUE, style.ORANGE, style.GREEN)
    for row, name in enumerate(data.names):
        colour = colours[row % len(colours)]
        artists += axes.plot(data.group_sizes, data.generated[row], color=colour, label=f"{name}, generated")
        artists += axes.plot(data.group_sizes, data.kept[row], color=colour, linestyle="--", label=f"{name}, kept")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = [size for size in (2, 4, 8, 16, 32) if data.group_sizes[0] <= size <= data.group_sizes[-1]]
    axes.set_xticks(ticks, [f"{size}" for size in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("group size $G$")
    _label_ratios(axes)
    axes.set_ylabel("signal-to-noise per rollout")
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    return artists


def _label_ratios(axes: Axes) -> None:
    """Label 0.1, 1, 10 as such, and 0.2 and 0.5 too where the axis is short."""
    low, high = axes.get_ylim()
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    steps = (1,) if high / low > SHORT_AXIS else (1, 2, 5) if high / low > SHORTEST_AXIS else (1, 1.5, 2, 3, 4, 5, 7)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    ticks = [tick for tick in ticks if low <= tick <= high]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    if len(steps) > 1:
        axes.set_yticks([], minor=True)
