"""Probability of a correct answer that has not been sampled yet, under sampled runs, against its two ceilings."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from reweight.bounds import discovery_ceiling as ceiling
from reweight.bounds import unsampled_step_bound
from reweight.objectives.advantage import Advantage
from reweight.objectives.objective import Objective
from reweight.plots import style
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem
from reweight.updates import SampledPolicyGradient

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["DiscoveryCeiling", "discovery_ceiling", "discovery_ceiling_data"]

Floats = NDArray[np.float64]

# A rare correct answer (watched), a much rarer one, the common correct answer, and one wrong answer.
REWARDS, BASE, WATCHED = (1, 1, 1, 0), (0.01, 0.001, 0.189, 0.8), 0


@dataclass(frozen=True, eq=False)
class DiscoveryCeiling:
    """Paths of one answer's probability while it has not been sampled.

    Attributes
    ----------
    paths : tuple of ndarray
        One sampled run each, from the base policy to the policy from which the answer is first drawn, or to the end.
    found : tuple of bool
        Whether the answer was drawn in the update that follows the path's last point.
    largest : ndarray, shape (T + 1,)
        The largest value that any sequence of groups without the answer gives.
    ceiling : float
        pi_0(y) / p_0.
    growth : ndarray, shape (T + 1,)
        pi_0(y) e^{eta t / 2}.
    """

    paths: tuple[Floats, ...]
    found: tuple[bool, ...]
    largest: Floats
    ceiling: float
    growth: Floats


def discovery_ceiling_data(
    rng: np.random.Generator, *, runs: int = 60, steps: int = 10, group_size: int = 4, step: float = 1.0
) -> DiscoveryCeiling:
    """Sample runs of a four-answer problem, and search all groups that leave one answer out.

    Parameters
    ----------
    rng : numpy.random.Generator
        For the sampled runs.
    runs : int
        Number of sampled runs.
    steps : int
        Number of updates T; the search visits every multiset of T groups.
    group_size : int
        Number of draws G in a group.
    step : float
        Step size eta.

    Returns
    -------
    DiscoveryCeiling
        Paths and bounds (R05, R06).

    Examples
    --------
    >>> data = discovery_ceiling_data(np.random.default_rng(0), runs=2, steps=3)
    >>> round(data.ceiling, 12), data.largest.round(4).tolist()
    (0.05, [0.01, 0.0146, 0.0202, 0.0262])
    """
    objective, update = Objective(Advantage(), group_size), SampledPolicyGradient(step)
    runs_made = [_run(objective, update, steps, rng) for _ in range(runs)]
    base, correct = np.asarray(BASE), np.asarray(REWARDS) == 1
    return DiscoveryCeiling(
        paths=tuple(path for path, _ in runs_made),
        found=tuple(found for _, found in runs_made),
        largest=_largest(objective, update, steps),
        ceiling=float(ceiling(base[WATCHED], base[correct].sum())),
        growth=base[WATCHED] * np.exp(np.arange(steps + 1) * unsampled_step_bound(step, group_size)),
    )


def _run(
    objective: Objective, update: SampledPolicyGradient, steps: int, rng: np.random.Generator
) -> tuple[Floats, bool]:
    problem, policy = Problem(REWARDS), FlatPolicy.from_probabilities(BASE)
    path = [BASE[WATCHED]]
    for _ in range(steps):
        probabilities = policy.log_probs(problem).probabilities
        draws = rng.choice(len(BASE), size=(1, objective.group_size), p=probabilities / probabilities.sum())
        if WATCHED in draws:
            return np.array(path), True
        policy = update.apply_to_draws(problem, {0: draws}, policy, objective)
        path.append(float(policy.log_probs(problem).probabilities[WATCHED]))
    return np.array(path), False


def _largest(objective: Objective, update: SampledPolicyGradient, steps: int) -> Floats:
    """Search all states; a group moves the logits by the same amount from every policy, so states are sums."""
    problem, start = Problem(REWARDS), FlatPolicy.from_probabilities(BASE)
    others = [answer for answer in range(len(BASE)) if answer != WATCHED]
    groups = [np.array([group]) for group in combinations_with_replacement(others, objective.group_size)]
    moved = [update.apply_to_draws(problem, {0: group}, start, objective).parameters for group in groups]
    moves = np.unique(np.round(np.array(moved) - start.parameters, 9), axis=0)
    states, largest = np.zeros((1, len(BASE))), [BASE[WATCHED]]
    for _ in range(steps):
        states = np.unique(np.round(states[:, None] + moves, 9).reshape(-1, len(BASE)), axis=0)
        logits = start.parameters + states
        largest.append(float(np.exp((logits[:, WATCHED] - logsumexp(logits, axis=1)).max())))
    return np.array(largest)


def discovery_ceiling(axes: Axes, data: DiscoveryCeiling) -> list[Artist]:
    """Draw the runs up to the discovery, the largest possible path, and the two ceilings.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw; its vertical scale becomes logarithmic.
    data : DiscoveryCeiling
        What to draw.

    Returns
    -------
    list of Artist
        Lines, points and labels.
    """
    axes.set_yscale("log")
    updates, last = np.arange(len(data.largest)), len(data.largest) - 1
    artists: list[Artist] = []
    for path in data.paths:
        artists += axes.plot(updates[: len(path)], path, color=style.BLUE, linewidth=0.5, alpha=0.45)
    ends = [(len(path) - 1, path[-1]) for path, found in zip(data.paths, data.found, strict=True) if found]
    if ends:
        artists += axes.plot(*zip(*ends, strict=True), "o", color=style.BLUE, markersize=2.6, clip_on=False)
    artists += axes.plot(updates, data.largest, color=style.BLACK)
    artists.append(axes.axhline(data.ceiling, color=style.RED, linestyle=(0, (4, 2))))
    top = 1.9 * data.ceiling
    time = np.linspace(0, last, 200)
    growth = np.exp(np.interp(time, updates, np.log(data.growth)))
    artists += axes.plot(time[growth <= top], growth[growth <= top], color=style.GREEN, linestyle=(0, (4, 2)))
    _label(axes, data, artists)
    axes.set_xlim(0, last)
    axes.set_ylim(min(path.min() for path in data.paths) / 1.9, top)
    ticks = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_yticks([], minor=True)
    axes.set_xlabel("update $t$")
    axes.set_ylabel(r"$\pi_t(y)$ of an unsampled correct answer")
    return artists


def _label(axes: Axes, data: DiscoveryCeiling, artists: list[Artist]) -> None:
    last = len(data.largest) - 1
    crossing = float(np.interp(np.log(data.ceiling), np.log(data.growth), np.arange(last + 1)))
    notes = (
        (r"ceiling $\pi_0(y)/p_0$", last, data.ceiling, 4, style.RED),
        (r"$\pi_0(y)\,e^{\eta t/2}$", crossing, data.ceiling, 4, style.GREEN),
        ("largest over all\ngroups without $y$", last, data.largest[-1], -5, style.BLACK),
    )
    for text, x, y, height, colour in notes:
        base = "top" if height < 0 else "bottom"
        offset = (-2, height)
        artists.append(
            axes.annotate(text, (x, y), offset, textcoords="offset points", ha="right", va=base, color=colour)
        )
    runs = "sampled runs, to the dot\nwhere $y$ is drawn"
    artists.append(axes.text(0.02, 0.03, runs, color=style.BLUE, transform=axes.transAxes))
