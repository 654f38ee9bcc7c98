"""Where runs go on the simplex of two correct answers and a wrong one: natural gradient against plain gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reweight.dynamics.run import run
from reweight.groups.coefficients import expected_coefficients
from reweight.objectives.advantage import Advantage
from reweight.objectives.objective import Objective
from reweight.plots import style
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem
from reweight.updates import Tilt

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["SimplexPortrait", "simplex_portrait", "simplex_portrait_data"]

Floats = NDArray[np.float64]

# In the plane the wrong answer is below and the two correct ones above, so the height is the pass rate.
CORNERS = np.array([[-0.5, 1.0], [0.5, 1.0], [0.0, 0.0]]) * [1.0, np.sqrt(3.0) / 2.0]
TILT_STEPS = 20
GRADIENT_TRAVEL = 15.0
"""How far the fastest logit goes along a path of PG, in nats: to within 1e-5 of the end."""


@dataclass(frozen=True, eq=False)
class SimplexPortrait:
    """Paths of both updates from the same base policies.

    Attributes
    ----------
    shares : ndarray, shape (S,)
        Base share of the first correct answer among the two.
    tilt, gradient : ndarray, shape (S, T + 1, 3)
        Probabilities of the first correct, the second correct and the wrong answer along each path; T differs.
    """

    shares: Floats
    tilt: Floats
    gradient: Floats


def simplex_portrait_data(
    shares: Sequence[float] = (0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9),
    *,
    pass_rate: float = 0.1,
    group_size: int = 8,
    largest_move: float = 0.15,
) -> SimplexPortrait:
    """Follow TILT and PG in exact steps that are small enough to draw.

    Parameters
    ----------
    shares : sequence of float
        Base share of the first correct answer among the two.
    pass_rate : float
        Base pass rate of all paths.
    group_size : int
        Number of draws G in a group.
    largest_move : float
        How far any logit may move in one step of PG, in nats.

    Returns
    -------
    SimplexPortrait
        The paths (R07, R09).

    Examples
    --------
    >>> data = simplex_portrait_data([0.7])
    >>> first, second, _ = data.tilt[0, -1]
    >>> round(float(first / (first + second)), 9)
    0.7
    """
    objective, problem = Objective(Advantage(), group_size), Problem([1, 1, 0])
    starts = [
        FlatPolicy.from_probabilities([pass_rate * share, pass_rate * (1.0 - share), 1.0 - pass_rate])
        for share in shares
    ]
    tilts = [
        np.exp(run(problem, start, objective, Tilt(0.25), TILT_STEPS, record=("log_probs",)).log_probs.values)
        for start in starts
    ]
    gradients = [_gradient_path(problem, start, objective, largest_move) for start in starts]
    return SimplexPortrait(np.asarray(shares, dtype=np.float64), np.array(tilts), np.array(gradients))


def _gradient_path(problem: Problem, start: FlatPolicy, objective: Objective, largest_move: float) -> Floats:
    """Lengthen the steps as the gradient fades: the last answers take times that grow without bound."""
    policy, visited = start, [start.log_probs(problem).probabilities]
    for _ in range(round(GRADIENT_TRAVEL / largest_move)):
        gradient = policy.pull_back(problem, expected_coefficients(problem, policy, objective))
        policy = policy.replace(policy.parameters + largest_move / np.abs(gradient).max() * gradient)
        visited.append(policy.log_probs(problem).probabilities)
    return np.array(visited)


def simplex_portrait(axes: Axes, paths: Floats, shares: Floats, name: str) -> list[Artist]:
    """Draw the paths of one update.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw; its frame is taken away.
    paths : ndarray, shape (S, T + 1, 3)
        Probabilities of the first correct, the second correct and the wrong answer.
    shares : ndarray, shape (S,)
        Base share of the first correct answer, which decides the colour.
    name : str
        The name of the update, written in the corner.

    Returns
    -------
    list of Artist
        Triangle, paths, points and labels.
    """
    axes.set_aspect("equal")
    axes.set_axis_off()
    artists: list[Artist] = [*axes.fill(*CORNERS.T, facecolor="none", edgecolor=style.GREY, linewidth=0.6)]
    for share, path in zip(shares, paths, strict=True):
        colour = style.BLACK if share == 0.5 else style.BLUE if share > 0.5 else style.RED
        x, y = (path @ CORNERS).T
        artists += axes.plot(x, y, color=colour, linewidth=1.0)
        artists += axes.plot(x[:1], y[:1], "o", color=colour, markersize=2.2)
        artists += axes.plot(x[-1:], y[-1:], "o", color=colour, markersize=3.6, clip_on=False, zorder=3)
        middle = int(np.searchsorted(y, 0.5 * np.sqrt(3.0) / 2.0))
        arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 0, "mutation_scale": 6, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (x[middle + 1], y[middle + 1]), (x[middle - 1], y[middle - 1]), arrowprops=arrow)
    for text, corner, side in (("correct $a$", 0, "left"), ("correct $b$", 1, "right"), ("wrong", 2, "center")):
        height, base = (-5, "top") if text == "wrong" else (4, "bottom")
        at = tuple(CORNERS[corner])
        artists.append(axes.annotate(text, at, (0, height), textcoords="offset points", ha=side, va=base))
    artists.append(axes.text(0.0, 0.05, name, transform=axes.transAxes))
    axes.margins(0.06)
    return artists
