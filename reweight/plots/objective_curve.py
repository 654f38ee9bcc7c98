"""The gap of one objective on binary prompts over the pass rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from reweight.groups.binary import gap
from reweight.objectives.objective import Objective
from reweight.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["ObjectiveCurve", "objective_curve", "objective_curve_data"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ObjectiveCurve:
    """The gap, of all groups and of mixed groups alone, on a grid of pass rates, shapes (P,)."""

    pass_rates: Floats
    gaps: Floats
    mixed_gaps: Floats


def objective_curve_data(objective: Objective, points: int = 301) -> ObjectiveCurve:
    """Compute the curve from pass rate 0.001 to 0.999, even in log-odds.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> objective_curve_data(Objective(Advantage(), 2), points=3).gaps
    array([1., 1., 1.])
    """
    log_odds = np.linspace(-np.log(999.0), np.log(999.0), points)
    size, advantage = objective.group_size, objective.advantage
    return ObjectiveCurve(
        expit(log_odds),
        gap(None, size, advantage, logit=log_odds),
        gap(None, size, advantage, logit=log_odds, mixed_only=True),
    )


def objective_curve(axes: Axes, data: ObjectiveCurve) -> list[Artist]:
    """Draw both gaps, labelled at the curves."""
    artists: list[Artist] = []
    for values, colour, name in (
        (data.gaps, style.BLUE, "all groups"),
        (data.mixed_gaps, style.ORANGE, "mixed groups"),
    ):
        artists += axes.plot(data.pass_rates, values, color=colour, label=name)
    axes.set_xscale("logit")
    axes.set_yscale("log")
    ticks = [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("pass rate $p$ (log-odds scale)")
    axes.set_ylabel("gap, correct minus wrong")
    axes.legend(frameon=False)
    return artists
