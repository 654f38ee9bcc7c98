"""The gap between a correct and a wrong answer against the pass rate, for several group sizes, with its two limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from reweight.groups.binary import gap
from reweight.objectives.advantage import Advantage
from reweight.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["WeightCurve", "weight_curve", "weight_curve_data"]

Floats = NDArray[np.float64]

LARGEST_LOG_ODDS = float(np.log(1e4))


@dataclass(frozen=True, eq=False)
class WeightCurve:
    """Gaps by group size and pass rate.

    Attributes
    ----------
    pass_rates : ndarray, shape (P,)
        Increasing, inside (0, 1).
    group_sizes : tuple of int, length S
        The group sizes G.
    gaps : ndarray, shape (S, P)
        Delta_G(p), group standard deviation with ddof 0.
    rare : ndarray, shape (S,)
        Limit of the gap as p goes to 0 or 1: sqrt(G - 1).
    infinite : ndarray, shape (P,)
        Limit of the gap as G grows: 1 / sqrt(p (1 - p)).
    """

    pass_rates: Floats
    group_sizes: tuple[int, ...]
    gaps: Floats
    rare: Floats
    infinite: Floats


def weight_curve_data(group_sizes: Sequence[int] = (2, 3, 4, 8, 16, 32, 64), points: int = 401) -> WeightCurve:
    """Compute the gaps on an even grid of log-odds.

    Parameters
    ----------
    group_sizes : sequence of int
        The group sizes G.
    points : int
        Number of pass rates, from 1e-4 to 1 - 1e-4.

    Returns
    -------
    WeightCurve
        Curves and limits (R01).

    Examples
    --------
    >>> data = weight_curve_data([2, 8], points=3)
    >>> data.gaps.round(3).tolist()
    [[1.0, 1.0, 1.0], [2.645, 1.856, 2.645]]
    """
    log_odds = np.linspace(-LARGEST_LOG_ODDS, LARGEST_LOG_ODDS, points)
    advantage = Advantage()
    return WeightCurve(
        pass_rates=expit(log_odds),
        group_sizes=tuple(group_sizes),
        gaps=np.array([gap(group_size=size, advantage=advantage, logit=log_odds) for size in group_sizes]),
        rare=np.array([float(gap(0.0, size, advantage)) for size in group_sizes]),
        infinite=1.0 / np.sqrt(expit(log_odds) * expit(-log_odds)),
    )


def weight_curve(axes: Axes, data: WeightCurve) -> list[Artist]:
    """Draw one curve a group size, each with the limit that it tends to on the left.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw; its scales are set here.
    data : WeightCurve
        What to draw.

    Returns
    -------
    list of Artist
        Curves, limits and labels.
    """
    axes.set_xscale("logit")
    axes.set_yscale("log")
    p, top = data.pass_rates, 1.55 * data.rare.max()
    artists: list[Artist] = []
    shown = data.infinite <= top
    artists += axes.plot(p[shown], data.infinite[shown], color=style.RED, linestyle=(0, (4, 2)))
    for size, curve, limit, colour in zip(
        data.group_sizes, data.gaps, data.rare, style.shades(len(data.group_sizes))[::-1], strict=True
    ):
        artists += axes.plot(p, curve, color=colour)
        artists += axes.plot([p[0] / 6, p[0]], [limit, limit], color=colour, linestyle=":", linewidth=0.9)
        artists.append(
            axes.annotate(
                f"$G={size}$", (p[-1], curve[-1]), (3, 0), textcoords="offset points", va="center", color=colour
            )
        )
    _label_limits(axes, data, artists)
    axes.set_xlim(p[0] / 6, p[-1])
    axes.set_ylim(0.9 * data.rare.min(), top)
    ticks = [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_yticks([1, 2, 4, 8], ["1", "2", "4", "8"])
    axes.set_yticks([], minor=True)
    axes.set_xlabel("pass rate $p$ (log-odds scale)")
    axes.set_ylabel(r"gap $\Delta_G(p)$, correct minus wrong")
    return artists


def _label_limits(axes: Axes, data: WeightCurve, artists: list[Artist]) -> None:
    left, largest = float(data.pass_rates[0]) / 6, float(data.rare.max())
    artists.append(
        axes.annotate(
            r"$p\to 0$:  $\sqrt{G-1}$", (left, largest), (2, 3), textcoords="offset points", color=style.BLACK
        )
    )
    infinite = "$G\\to\\infty$\n$1/\\sqrt{p(1-p)}$"
    artists.append(axes.text(0.5, 1.5 * largest, infinite, color=style.RED, ha="center", va="top", linespacing=1.4))
