"""A trainer's log against a model: what was seen, what was expected, and the interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from reweight.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["calibration"]


def calibration(
    axes: Axes,
    steps: ArrayLike,
    seen: ArrayLike,
    expected: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    *,
    name: str,
    verdict: str,
    level: float = 0.95,
    fitted_until: float | None = None,
) -> list[Artist]:
    """Draw one quantity of a log by step.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    steps, seen, expected, low, high : array_like, shape (W,)
        Middle step of each window; the log's value; what the model expects, and its interval.
    name : str
        The quantity, as the axis is to be labelled.
    verdict : str
        What is said of the model, in the corner.
    level : float
        Coverage of the interval.
    fitted_until : float, optional
        The last step that the model was fitted to.

    Returns
    -------
    list of Artist
        Band, lines, points inside and points outside the interval.
    """
    x, y, middle, bottom, top = (np.asarray(each, dtype=float) for each in (steps, seen, expected, low, high))
    inside = (bottom <= y) & (y <= top)
    artists: list[Artist] = [
        axes.fill_between(
            x, bottom, top, color=style.BLUE, alpha=0.15, linewidth=0, label=f"{100 * level:g} % interval"
        )
    ]
    artists += axes.plot(x, middle, color=style.BLUE, label="expected")
    artists += axes.plot(x[inside], y[inside], "o", color=style.BLACK, label="log")
    if not inside.all():
        artists += axes.plot(x[~inside], y[~inside], "x", color=style.RED, markersize=4, label="log, outside")
    if fitted_until is not None:
        artists.append(axes.axvspan(0.0, fitted_until, color=style.GREY, alpha=0.2, linewidth=0, label="fitted to"))
    axes.set_xlim(left=0.0)
    axes.set_ylim(0.0, 1.0)
    axes.set_xlabel("step")
    axes.set_ylabel(name)
    axes.set_title(verdict, loc="right")
    return artists
