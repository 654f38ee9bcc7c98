"""Where a bonus for a tool encourages the tool, and where it reinforces wrong answers that used it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from reweight.checks import number
from reweight.errors import InputError
from reweight.groups.weights import group_weights
from reweight.objectives.advantage import Advantage
from reweight.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["BonusPhase", "bonus_phase", "bonus_phase_data"]

Floats = NDArray[np.float64]
LEAST_COST, MOST_COST, LARGEST_LOG_ODDS = -0.3, 0.5, float(np.log(199.0))
ENCOURAGED, DISCOURAGED, NOWHERE = "#a6cee3", "#fdd0a2", "#d9d9d9"


@dataclass(frozen=True, eq=False)
class BonusPhase:
    """What a bonus does, by pass rate and cost of the tool.

    Attributes
    ----------
    pass_rates : ndarray, shape (P,)
        Pass rate of answers without the tool.
    costs : ndarray, shape (C,)
        How much lower it is with the tool; negative where the tool helps.
    effect : ndarray, shape (C, P)
        Expected advantage of answers that used the tool minus that of the others. Where a cost would take the pass rate
        with the tool out of [0, 1], this is what the nearest cost that does not gives.
    wrong_with_tool : ndarray, shape (C, P)
        Expected advantage of a wrong answer that used the tool.
    break_even : float
        Cost at which the bonus is worth the pass rate that is lost: bonus / (correct - wrong).
    marked : (float, float) or None
        Pass rate and cost to point out.
    """

    pass_rates: Floats
    costs: Floats
    effect: Floats
    wrong_with_tool: Floats
    break_even: float
    marked: tuple[float, float] | None


def bonus_phase_data(
    advantage: Advantage,
    group_size: int = 8,
    bonus: float = 0.4,
    *,
    share: float = 0.5,
    correct: float = 1.0,
    wrong: float = -1.0,
    marked: tuple[float, float] | None = None,
    points: int = 81,
) -> BonusPhase:
    """Compute the map for rewards of right and wrong answers plus the bonus.

    Parameters
    ----------
    advantage : Advantage
        One that looks at the rewards of one prompt alone.
    group_size : int
    bonus : float
        Added to the reward of an answer that used the tool.
    share : float
        Share of answers that use it, inside (0, 1).
    correct, wrong : float
        Rewards without the bonus.
    marked : (float, float), optional
        Pass rate and cost to point out.
    points : int
        Points of each axis.

    Raises
    ------
    InputError
        If the share is not inside (0, 1), or correct answers do not earn more.

    Notes
    -----
    Source: R13, H8. Without a std the effect is (G - 1)/G times bonus - cost (correct - wrong), so it changes its sign
    at one cost for all pass rates; with a std it does not.

    Examples
    --------
    >>> data = bonus_phase_data(Advantage(scale="none"), 4, points=3)  # costs -0.3, 0.1, 0.5; pass rate 1/2
    >>> data.effect[:, 1].round(3), data.break_even
    (array([ 0.75,  0.15, -0.45]), 0.2)
    """
    if number(share, "share", above=0.0, at_most=1.0) == 1:
        raise InputError("share is 1: leave some answers without the tool")
    if correct <= wrong:
        raise InputError(f"a correct answer earns {correct:g}, a wrong one {wrong:g}: give the correct one more")
    rates = expit(np.linspace(-LARGEST_LOG_ODDS, LARGEST_LOG_ODDS, points))
    costs = np.linspace(LEAST_COST, MOST_COST, points)
    used = np.clip(rates[None, :] - costs[:, None], 0.0, 1.0)
    plain = np.broadcast_to(rates, used.shape)
    table = np.stack([share * used, share * (1 - used), (1 - share) * plain, (1 - share) * (1 - plain)], axis=-1)
    rewards = np.array([correct + bonus, wrong + bonus, correct, wrong])
    weights = group_weights(rewards, table, group_size, advantage)
    gained = used * weights[..., 0] + (1 - used) * weights[..., 1]
    effect = gained - plain * weights[..., 2] - (1 - plain) * weights[..., 3]
    return BonusPhase(rates, costs, effect, weights[..., 1], bonus / (correct - wrong), marked)


def bonus_phase(axes: Axes, data: BonusPhase) -> list[Artist]:
    """Draw the sign of both as a map, colour for the tool and hatching for wrong answers, with a legend above it."""
    grid = (data.pass_rates, data.costs)
    artists: list[Artist] = [
        axes.contourf(*grid, data.effect, levels=[-np.inf, 0.0, np.inf], colors=[DISCOURAGED, ENCOURAGED]),
        axes.contourf(*grid, data.wrong_with_tool, levels=[0.0, np.inf], colors="none", hatches=["////"]),
    ]
    for values, line in ((data.effect, "-"), (data.wrong_with_tool, "--")):
        if values.min() < 0 < values.max():
            artists.append(
                axes.contour(*grid, values, levels=[0.0], colors=style.BLACK, linewidths=0.8, linestyles=line)
            )
    for ends in ((data.pass_rates, 1.0), (-1.0, data.pass_rates - 1.0)):  # beyond the frame, so that no edge is left
        below, above = np.broadcast_arrays(*ends)
        artists.append(axes.fill_between(data.pass_rates, below, above, color=NOWHERE, linewidth=0, zorder=3))
    artists.append(axes.axhline(0.0, color=style.BLACK, linewidth=0.5, zorder=4))
    axes.set_xscale("logit")
    ticks = [0.01, 0.1, 0.5, 0.9, 0.99]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_ylim(LEAST_COST, MOST_COST)
    axes.set_xlabel("pass rate without the tool (log-odds scale)")
    axes.set_ylabel("pass rate lost by the tool")
    handles = _legend_entries(axes, data)
    axes.legend(handles=handles, frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, columnspacing=1.0)
    return [*artists, *handles]


def _legend_entries(axes: Axes, data: BonusPhase) -> list[Any]:
    """Draw the line of break-even and the marked prompt, and return them with patches that name the areas."""
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(facecolor=ENCOURAGED, edgecolor="0.4", linewidth=0.5, label="tool encouraged"),
        Patch(facecolor=DISCOURAGED, edgecolor="0.4", linewidth=0.5, label="tool discouraged"),
        Patch(facecolor=NOWHERE, edgecolor="0.4", linewidth=0.5, label="no such pass rate"),
        Patch(facecolor="white", edgecolor="0.2", linewidth=0.5, hatch="//////", label="wrong with tool: pushed up"),
    ]
    if LEAST_COST <= data.break_even <= MOST_COST:
        even: dict[str, Any] = {
            "color": style.BLACK,
            "linewidth": 0.8,
            "linestyle": ":",
            "label": "bonus pays for the cost",
        }
        handles.append(axes.axhline(data.break_even, zorder=4, **even))
    inside = data.marked is not None and data.pass_rates[0] <= data.marked[0] <= data.pass_rates[-1]
    if data.marked is not None and inside and LEAST_COST <= data.marked[1] <= MOST_COST:
        dot: dict[str, Any] = {"color": style.RED, "markeredgecolor": "white", "markersize": 5, "linestyle": "none"}
        handles += axes.plot(*data.marked, marker="o", zorder=5, label="this prompt", **dot)
    return handles
