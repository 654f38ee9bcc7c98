"""The path of a forecast by tilt time: bounds on the pass rate with its limits, and on the share of dead groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from reweight.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["dead_share_path", "pass_rate_path"]

ON_LINE: dict[str, Any] = {
    "ha": "right",
    "va": "center",
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.8},
    "color": style.GREEN,
    "fontsize": "small",
}


def pass_rate_path(
    axes: Axes,
    taus: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    compatible: ArrayLike | None = None,
    policy_gradient: tuple[ArrayLike, ArrayLike] | None = None,
    ceilings: Mapping[str, ArrayLike] | None = None,
    leash: Mapping[float, float] | None = None,
) -> list[Artist]:
    """Draw the mean pass rate under TILT between its bounds, the envelope of PG, and what no run can pass.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    taus, low, high : array_like, shape (T,)
        Tilt times, and bounds on the mean pass rate.
    compatible : array_like, shape (T,), optional
        The path of one distribution that agrees with the counts.
    policy_gradient : (array_like, array_like), shapes (T,), optional
        Lower and upper end of the envelope of policy gradients.
    ceilings : mapping of str to array_like, shape (T,), optional
        Limits by name.
    leash : mapping of float to float, optional
        By KL budget in nats a sequence, the most that the mean pass rate can be for any trainer.

    Returns
    -------
    list of Artist
    """
    x = np.asarray(taus, dtype=float)
    artists = _band(axes, x, low, high, compatible, style.BLUE, "TILT")
    if policy_gradient is not None:
        bottom, top = (np.asarray(end, dtype=float) for end in policy_gradient)
        band = axes.fill_between(x, bottom, top, facecolor="none", edgecolor=style.ORANGE, hatch="////", linewidth=0.6)
        band.set_label("policy gradient: envelope")
        artists.append(band)
    lines = ((0, (4, 2)), (0, (1, 1.5)))
    for place, (name, values) in enumerate((ceilings or {}).items()):
        artists += axes.plot(
            x, np.asarray(values, dtype=float), color=style.RED, linestyle=lines[place % 2], label=name
        )
    for place, (budget, cap) in enumerate((leash or {}).items()):
        artists.append(axes.axhline(cap, color=style.GREEN, linewidth=0.8))
        # Caps lie close together where budgets are small, so their names stand side by side.
        at = 0.99 - 0.2 * (len(leash or {}) - 1 - place)
        artists.append(axes.annotate(f"{budget:g} nats", (at, cap), xycoords=("axes fraction", "data"), **ON_LINE))
    if leash:
        axes.plot([], [], color=style.GREEN, linewidth=0.8, label="KL leash of any trainer")
    lowest = low if policy_gradient is None else np.minimum(low, policy_gradient[0])
    _label(axes, x, (lowest, high), "mean pass rate")
    return artists


def dead_share_path(
    axes: Axes,
    taus: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    group_size: int,
    *,
    compatible: ArrayLike | None = None,
) -> list[Artist]:
    """Draw the share of groups that are all correct or all wrong under TILT between its bounds.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    taus, low, high : array_like, shape (T,)
        Tilt times, and bounds on the share.
    group_size : int
    compatible : array_like, shape (T,), optional
        The path of one distribution that agrees with the counts.

    Returns
    -------
    list of Artist
    """
    x = np.asarray(taus, dtype=float)
    artists = _band(axes, x, low, high, compatible, style.BLUE, "TILT")
    _label(axes, x, (low, high), f"dead-group share, $G={group_size}$")
    return artists


def _band(
    axes: Axes, x: ArrayLike, low: ArrayLike, high: ArrayLike, compatible: ArrayLike | None, colour: str, name: str
) -> list[Artist]:
    bottom, top = (np.asarray(end, dtype=float) for end in (low, high))
    artists: list[Artist] = [axes.fill_between(x, bottom, top, color=colour, alpha=0.2, linewidth=0)]
    artists[0].set_label(f"{name}: bounds")
    for end in (bottom, top):
        artists += axes.plot(x, end, color=colour, linewidth=0.6)
    if compatible is not None:
        values = np.asarray(compatible, dtype=float)
        artists += axes.plot(x, values, color=colour, label=f"{name}: one distribution that fits the counts")
    return artists


def _label(axes: Axes, x: ArrayLike, ends: tuple[ArrayLike, ArrayLike], name: str) -> None:
    axes.set_xlim(float(np.min(x)), float(np.max(x)))
    bottom, top = float(np.min(ends[0])), float(np.max(ends[1]))
    axes.set_ylim(max(0.0, np.floor(10 * bottom - 0.5) / 10), min(1.0, np.ceil(10 * top + 0.5) / 10))
    axes.set_xlabel(r"tilt time $\tau$ (sum of step sizes, not steps)")
    axes.set_ylabel(name)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(0.0, -0.22), borderaxespad=0.0)
