"""Signal-to-noise per rollout over the group size: what a fixed budget of samples buys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reweight.groups.signal import gradient_signal
from reweight.objectives.advantage import Advantage
from reweight.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["SignalCurve", "signal_curve", "signal_curve_data"]

Floats = NDArray[np.float64]
GROUP_SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32)


@dataclass(frozen=True, eq=False)
class SignalCurve:
    """Signal-to-noise of the gradient per rollout, by pass rate and group size.

    Attributes
    ----------
    pass_rates : tuple of float, length P
    group_sizes : tuple of int, length S
    generated, kept : ndarray, shape (P, S)
        Squared norm of the expected gradient over the variance, for each generated rollout when all groups count, and
        for each kept rollout when only mixed groups do.
    """

    pass_rates: tuple[float, ...]
    group_sizes: tuple[int, ...]
    generated: Floats
    kept: Floats


def signal_curve_data(
    advantage: Advantage,
    pass_rates: Sequence[float] = (0.01, 0.1, 0.5),
    group_sizes: Sequence[int] = GROUP_SIZES,
    wrong_answers: int = 4,
) -> SignalCurve:
    """Compute the curves for one correct answer among equally likely wrong ones.

    Parameters
    ----------
    advantage : Advantage
    pass_rates : sequence of float
    group_sizes : sequence of int
    wrong_answers : int
        How many wrong answers share the rest of the probability.

    Examples
    --------
    >>> signal_curve_data(Advantage(), [0.5], [2, 4]).generated.shape
    (1, 2)
    """
    rewards = [1.0, *[0.0] * wrong_answers]
    tables = np.empty((2, len(pass_rates), len(group_sizes)))
    for row, p in enumerate(pass_rates):
        masses = [p, *[(1 - p) / wrong_answers] * wrong_answers]
        for column, size in enumerate(group_sizes):
            every = gradient_signal(rewards, masses, size, advantage)
            mixed = gradient_signal(rewards, masses, size, advantage, mixed_only=True)
            tables[:, row, column] = every.per_generated_rollout, mixed.per_kept_rollout
    return SignalCurve(tuple(pass_rates), tuple(group_sizes), *tables)


def signal_curve(axes: Axes, data: SignalCurve) -> list[Artist]:
    """Draw both, full lines for generated and dashed ones for kept rollouts, one colour a pass rate."""
    artists: list[Artist] = []
    colours = (style.BLUE, style.ORANGE, style.GREEN)
    for row, p in enumerate(data.pass_rates):
        colour = colours[row % len(colours)]
        artists += axes.plot(data.group_sizes, data.generated[row], color=colour, label=f"$p = {p:g}$, generated")
        artists += axes.plot(data.group_sizes, data.kept[row], color=colour, linestyle="--", label=f"$p = {p:g}$, kept")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(data.group_sizes, [f"{size}" for size in data.group_sizes])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("group size $G$")
    axes.set_ylabel("signal-to-noise per rollout")
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    return artists
