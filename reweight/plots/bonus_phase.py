"""Where a bonus for a tool encourages the tool, and where it reinforces wrong answers that used it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from reweight.groups.weights import group_weights
from reweight.objectives.advantage import Advantage

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["BonusPhase", "bonus_phase", "bonus_phase_data"]

Floats = NDArray[np.float64]
DISCOURAGED, ENCOURAGED, REINFORCED = 0, 1, 2
NAMES = ("tool discouraged", "tool encouraged", "wrong answers with tool reinforced too")
SHADES = ("#f2f2f2", "#9ecae1", "#3182bd")


@dataclass(frozen=True, eq=False)
class BonusPhase:
    """The phase of each pass rate and cost of the tool.

    Attributes
    ----------
    pass_rates : ndarray, shape (P,)
        Pass rate without the tool.
    costs : ndarray, shape (C,)
        How much lower it is with the tool; negative where the tool helps.
    phases : ndarray of int, shape (C, P)
        0: answers with the tool get less than those without; 1: they get more; 2: even a wrong one is pushed up. -1
        where the pass rate with the tool would leave [0, 1].
    bonus, share, group_size
        Of the reward, of answers that use the tool, and of a group.
    """

    pass_rates: Floats
    costs: Floats
    phases: NDArray[np.int64]
    bonus: float
    share: float
    group_size: int


def bonus_phase_data(
    advantage: Advantage,
    group_size: int = 8,
    bonus: float = 0.4,
    *,
    share: float = 0.5,
    points: int = 81,
) -> BonusPhase:
    """Compute the phases for rewards of +1 and -1 plus the bonus.

    Parameters
    ----------
    advantage : Advantage
    group_size : int
    bonus : float
        Added to the reward of an answer that used the tool.
    share : float
        Share of answers that use it.
    points : int
        Points of each axis.

    Notes
    -----
    Source: R13, H8. The effect of the tool is E[A_1 | used] - E[A_1 | not used].

    Examples
    --------
    >>> bonus_phase_data(Advantage(scale="none"), 4, points=3).phases.shape
    (3, 3)
    """
    rates = expit(np.linspace(-np.log(199.0), np.log(199.0), points))
    costs = np.linspace(-0.3, 0.5, points)
    phases = np.full((points, points), -1)
    rewards = np.array([1 + bonus, -1 + bonus, 1.0, -1.0])
    with_tool = rates[None, :] - costs[:, None]
    inside = (with_tool >= 0) & (with_tool <= 1)
    row, column = np.nonzero(inside)
    used, plain = with_tool[inside], rates[column]
    table = np.stack([share * used, share * (1 - used), (1 - share) * plain, (1 - share) * (1 - plain)], axis=1)
    weights = group_weights(rewards, table, group_size, advantage)
    effect = used * weights[:, 0] + (1 - used) * weights[:, 1] - plain * weights[:, 2] - (1 - plain) * weights[:, 3]
    phases[row, column] = np.where(weights[:, 1] > 0, REINFORCED, np.where(effect > 0, ENCOURAGED, DISCOURAGED))
    return BonusPhase(rates, costs, phases, bonus, share, group_size)


def bonus_phase(axes: Axes, data: BonusPhase) -> list[Artist]:
    """Draw the phases as a map, with a legend above it."""
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    shown = np.ma.masked_less(data.phases, 0)
    mesh = axes.pcolormesh(
        data.pass_rates,
        data.costs,
        shown,
        cmap=ListedColormap(SHADES),
        norm=BoundaryNorm([-0.5, 0.5, 1.5, 2.5], 3),
        shading="nearest",
        rasterized=True,
    )
    axes.set_xscale("logit")
    ticks = [0.01, 0.1, 0.5, 0.9, 0.99]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.axhline(0.0, color="black", linewidth=0.6)
    axes.axhline(data.bonus / 2, color="black", linewidth=0.6, linestyle=":")
    axes.set_xlabel("pass rate without the tool (log-odds scale)")
    axes.set_ylabel("pass rate lost by the tool")
    handles = [Patch(facecolor=shade, edgecolor="0.5", label=name) for shade, name in zip(SHADES, NAMES, strict=True)]
    axes.legend(handles=handles, frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    return [mesh]
