"""The gap of one objective on binary prompts over the pass rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from reweight.groups.binary_table import gaps_over_log_odds
from reweight.objectives.filter import Filter
from reweight.objectives.objective import Objective
from reweight.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["ObjectiveCurve", "objective_curve", "objective_curve_data"]

Floats = NDArray[np.float64]
ONE, ZERO = Fraction(1), Fraction(0)


@dataclass(frozen=True, eq=False)
class ObjectiveCurve:
    """The gap, of all groups and of kept groups alone.

    Attributes
    ----------
    pass_rates, gaps, kept_gaps : ndarray, shape (P,)
        From pass rate 0.001 to 0.999, even in log-odds.
    marked, marked_gaps : ndarray, shape (M,)
        Pass rates to point out, and the objective's own gap there.
    """

    pass_rates: Floats
    gaps: Floats
    kept_gaps: Floats
    marked: Floats
    marked_gaps: Floats


def objective_curve_data(
    objective: Objective, points: int = 301, *, tpr: Fraction = ONE, fpr: Fraction = ZERO, marked: Sequence[float] = ()
) -> ObjectiveCurve:
    """Compute the curves.

    Parameters
    ----------
    objective : Objective
        Kept groups are those of its filter, mixed ones if it has none.
    points : int
    tpr, fpr : Fraction
        Of the verifier.
    marked : sequence of float
        Pass rates to point out; those beyond the curve are left out.

    Raises
    ------
    InputError
        If the objective couples prompts or has a bonus.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> objective_curve_data(Objective(Advantage(), 2), points=3).gaps
    array([1., 1., 1.])
    """
    log_odds = np.linspace(-np.log(999.0), np.log(999.0), points)
    inside = np.array([rate for rate in marked if 0.001 <= rate <= 0.999], dtype=np.float64)
    noise = {"tpr": tpr, "fpr": fpr}
    kept = replace(objective, filter=objective.filter or Filter("mixed"))
    return ObjectiveCurve(
        expit(log_odds),
        gaps_over_log_odds(replace(objective, filter=None), log_odds, **noise),
        gaps_over_log_odds(kept, log_odds, **noise),
        inside,
        gaps_over_log_odds(objective, logit(inside), **noise),
    )


def objective_curve(axes: Axes, data: ObjectiveCurve) -> list[Artist]:
    """Draw both gaps, with dots at the marked pass rates."""
    artists: list[Artist] = []
    for values, colour, line, name in (
        (data.gaps, style.BLUE, "-", "all groups"),
        (data.kept_gaps, style.ORANGE, "--", "kept groups"),
    ):
        artists += axes.plot(data.pass_rates, values, color=colour, linestyle=line, label=name)
    if data.marked.size:
        artists += axes.plot(data.marked, data.marked_gaps, "o", color=style.BLACK, clip_on=False, label="asked for")
    axes.set_xscale("logit")
    gaps = np.concatenate([data.gaps, data.kept_gaps])
    if (gaps[np.isfinite(gaps)] > 0).all():
        axes.set_yscale("log")
    else:
        axes.set_yscale("symlog", linthresh=1.0)
    ticks = [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("pass rate $p$ (log-odds scale)")
    axes.set_ylabel("gap, correct minus wrong")
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 3}
    axes.legend(frameon=False, columnspacing=1.0, handlelength=1.5, **place)
    return artists
