"""The envelope of policy gradients: how far a mean pass rate can have risen by each tilt time, whatever the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from reweight.checks import real
from reweight.errors import InputError
from reweight.forecasting.flow import Flow, two_answer_flow
from reweight.forecasting.functional import pass_at
from reweight.forecasting.likelihood import mean_interval
from reweight.forecasting.mixture import MixtureBounds
from reweight.forecasting.path import TAUS
from reweight.forecasting.quantity import Estimator, Quantity
from reweight.forecasting.region import Region, count_region
from reweight.forecasting.table import Table
from reweight.groups.binary import gap

if TYPE_CHECKING:
    from reweight.objectives.objective import Objective
    from reweight.rollouts import Counts

__all__ = ["Envelope", "envelope", "slowest_and_fastest"]

Floats = NDArray[np.float64]
Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]

COARSE, FINE = (49, 7, 7), (193, 13, 13)
"""Grid points of pass rate, and of the concentration of correct and of wrong answers."""
SURE = 40.0


@dataclass(frozen=True)
class Envelope:
    """Bounds on the mean pass rate under the population policy gradient of a flat table.

    Parameters
    ----------
    group_size : int
    level : float
    taus : tuple of float
    pass_rate : tuple of Quantity
        By tilt time; low and high hold for every number and every distribution of answers that the file allows.
    from_answers : bool
        Whether answers of the file made it narrower.
    notes : tuple of str
    """

    group_size: int
    level: float
    taus: tuple[float, ...]
    pass_rate: tuple[Quantity, ...]
    from_answers: bool
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The envelope as plain JSON values."""
        rows = zip(self.taus, self.pass_rate, strict=True)
        return {
            "group_size": self.group_size,
            "level": self.level,
            "path": [{"tau": tau, "pass_rate": quantity.to_dict()} for tau, quantity in rows],
            "from_answers": self.from_answers,
            "notes": list(self.notes),
        }

    def tables(self) -> tuple[Table, ...]:
        """One row a tilt time."""
        rows = tuple((f"{tau:g}", str(each)) for tau, each in zip(self.taus, self.pass_rate, strict=True))
        return (Table("Policy gradient by tilt time", ("tau", "pass rate"), rows),)

    def __str__(self) -> str:
        (table,) = self.tables()
        return "\n".join([table.title, *("  ".join(row) for row in (table.header, *table.rows))])


def envelope(
    counts: Counts,
    objective: Objective,
    equal_pairs: Pairs | None = None,
    *,
    taus: Sequence[float] = TAUS,
    level: float = 0.95,
) -> Envelope:
    """Bound the mean pass rate under policy gradients, whose path depends on how mass is spread over answers.

    Parameters
    ----------
    counts : Counts
        n and c of P prompts.
    objective : Objective
        Its advantage and group size define the gap Delta_G.
    equal_pairs : pair of (P,) arrays of int, optional
        Pairs of samples of each prompt that have one and the same answer, both correct and both wrong
        (`Answers.equal_pairs`); used where all prompts have the same number of samples, at least 3.
    taus : sequence of float
        Tilt times, at least 0.
    level : float
        Coverage.

    Raises
    ------
    InputError
        If a tilt time is negative or not a number, or pairs and counts contradict each other.

    Notes
    -----
    Source: R10, R09, R08. With a and b the sums of squares of the conditional probabilities of correct and of wrong
    answers, d logit p / d tau = p q Delta_G(p) (a + b), and a never falls and b never rises. Without answers a + b is
    anything from 0, no movement, to 2, the two-answer rate. See :func:`slowest_and_fastest` for what a and b at the
    start say about later.

    Examples
    --------
    >>> from reweight.objectives import Advantage, Objective
    >>> from reweight.rollouts import Counts
    >>> counts = Counts.of([8] * 200, [8] * 80 + [0] * 20 + [4] * 100)
    >>> print(envelope(counts, Objective(Advantage(), 8), taus=[0, 1]).pass_rate[0])
    0.6030 to 0.7010 (bounds)
    """
    times = tuple(float(tau) for tau in np.sort(real(list(taus), "taus", at_least=0.0)))
    advantage = objective.advantage
    if advantage.couples_prompts:
        raise InputError("the advantage uses statistics of a batch, which counts do not hold; choose another preset")
    usable = equal_pairs is not None and bool(counts.n.min() == counts.n.max() >= 3)
    if usable and equal_pairs is not None:
        found = _from_answers(counts, objective, equal_pairs, times, level)
    else:
        estimator, moving = Estimator(counts, level), two_answer_flow(objective.group_size, advantage)
        still = estimator.mean(pass_at(1))
        tops = [estimator.bounds(_moved(moving, tau), (0.0, 1.0)) for tau in times]
        found = [Quantity(None, still.low, top.high, False) for top in tops]
    return Envelope(objective.group_size, level, times, tuple(found), usable, _notes(usable, equal_pairs is not None))


def slowest_and_fastest(
    pass_rate: Floats, correct: Floats, wrong: Floats, /, objective: Objective, taus: Sequence[float]
) -> tuple[Floats, Floats]:
    """Pass rates that policy gradients cannot be below and above, given how concentrated the answers were.

    Parameters
    ----------
    pass_rate : (M,) array
    correct, wrong : (M,) arrays
        a and b at the start: sums of squared conditional probabilities, 0 for infinitely many equal answers, 1 for one.
    objective : Objective
    taus : sequence of float
        Increasing, at least 0.

    Returns
    -------
    slowest, fastest : ndarray, shape (T, M)

    Notes
    -----
    Along theta = logit p: da/dtheta = 2 (sum of cubes - a^2)/(a + b) is at most 2 (sqrt a - a), as a sum of cubes is at
    most a^(3/2); so sqrt(a) is at most 1 - (1 - sqrt(a_0)) exp(theta_0 - theta), and b at most b_0. From below a is at
    least a_0, and db/dtheta at least -2 (b^(3/2) - b^2)/(a_0 + b). A larger a + b at every theta is a faster path.

    Examples
    --------
    >>> from reweight.objectives import Advantage, Objective
    >>> one = np.ones(1)
    >>> slow, fast = slowest_and_fastest(0.3 * one, one, one, Objective(Advantage(), 8), [1.0])
    >>> bool(np.isclose(slow[0, 0], fast[0, 0]))  # two answers: the path is known
    True
    """
    from scipy.integrate import solve_ivp

    start = np.clip(logit(pass_rate), -SURE, SURE)
    size = start.size

    def rate(theta: Floats) -> Floats:
        both = expit(theta) * expit(-theta)
        return np.asarray(both * gap(logit=theta, group_size=objective.group_size, advantage=objective.advantage))

    def fastest(_: float, theta: Floats) -> Floats:
        rising = (1.0 - (1.0 - np.sqrt(correct)) * np.exp(np.minimum(start - theta, 0.0))) ** 2
        return np.asarray(rate(theta) * (rising + wrong))

    def slowest(_: float, state: Floats) -> Floats:
        theta, left = state[:size], np.clip(state[size:], 0.0, 1.0)
        speed = rate(theta)
        return np.concatenate([speed * (correct + left), -2.0 * speed * (left**1.5 - left**2)])

    times = np.asarray(taus, dtype=float)
    ends = []
    for motion, initial in ((slowest, np.concatenate([start, wrong])), (fastest, start)):
        solved = solve_ivp(motion, (0.0, max(times.max(), 1e-9)), initial, t_eval=times, rtol=1e-8, atol=1e-9)
        moved = expit(solved.y[:size].T)
        ends.append(np.where((pass_rate == 0.0) | (pass_rate == 1.0), pass_rate, moved))
    return ends[0], ends[1]


def _from_answers(
    counts: Counts, objective: Objective, pairs: Pairs, times: tuple[float, ...], level: float
) -> list[Quantity]:
    """The mean pass rate now, and linear programs for gain and end over the joint distribution of p, a and b.

    Given c, equal pairs of the correct samples are C(c, 2) a in the mean, so the means of a and of b within ranges of c
    are limited by intervals of their own. The mean now and the programs have half of what may go wrong each.
    """
    half = (1.0 + level) / 2.0
    still = Estimator(counts, half).mean(pass_at(1))
    coarse, fine = _grid(COARSE), _grid(FINE)
    points = np.concatenate([coarse, fine], axis=1)
    bounds = MixtureBounds(*_limits(counts, pairs, half, points), np.arange(coarse.shape[1]))
    slowest, fastest = slowest_and_fastest(points[0], points[1], points[2], objective, times)
    found = []
    for slow, fast in zip(slowest, fastest, strict=True):
        least, _ = bounds.mean(_always(slow - points[0]), (0.0, 1.0))
        _, most = bounds.mean(_always(fast - points[0]), (0.0, 1.0))
        lowest, _ = bounds.mean(_always(slow), (0.0, 1.0))
        _, highest = bounds.mean(_always(fast), (0.0, 1.0))
        top = min(highest, still.high + most)
        found.append(Quantity(None, min(top, max(lowest, still.low + least)), top, False))
    return found


def _always(values: Floats) -> Callable[[Floats], Floats]:
    return lambda _: values


def _moved(moving: Flow, tau: float) -> Callable[[Floats], Floats]:
    return lambda p: moving.pass_rate(p, tau)


def _grid(points: tuple[int, int, int]) -> Floats:
    """Pass rates even in the angle, concentrations even in their root; shape (3, M)."""
    p = np.sin(np.linspace(0.0, np.pi / 2, points[0])) ** 2
    a, b = (np.linspace(0.0, 1.0, number) ** 2 for number in points[1:])
    return np.array([each.ravel() for each in np.meshgrid(p, a, b, indexing="ij")])


def _limits(counts: Counts, pairs: Pairs, level: float, points: Floats) -> tuple[Region, Floats, Floats]:
    """Limits of the law of c with half of the level's complement, of a and b by ranges of c with the other half."""
    from scipy.stats import binom

    n, c = int(counts.n[0]), counts.c
    right, wrong = (np.asarray(each, dtype=float) for each in pairs)
    most = c * (c - 1) / 2, (n - c) * (n - c - 1) / 2
    if right.shape != c.shape or wrong.shape != c.shape or (right > most[0]).any() or (wrong > most[1]).any():
        raise InputError("the pairs of equal answers do not fit the counts; give both of one file")
    region = count_region(n, c, (1.0 + level) / 2)
    ranges = ((0, 2, n - 1), (0, n, n), (1, 0, 0), (1, 1, n - 2))
    low, high = [*region.low], [*region.high]
    law = [*region.probabilities(points[0])]
    for kind, first, last in ranges:
        inside = (first <= c) & (c <= last)
        share = np.where(inside, (right, wrong)[kind] / np.maximum(most[kind], 1.0), 0.0)
        limits = mean_interval(share, 0.0, 1.0, 1.0 - (1.0 - level) / (2 * len(ranges)))
        low.append(limits[0])
        high.append(limits[1])
        chance = binom.cdf(last, n, points[0]) - binom.cdf(first - 1, n, points[0])
        law.append(chance * points[1 + kind])
    joint = Region(n, region.first, region.last, np.array(low), np.array(high))
    return joint, points, np.array(law)


def _notes(usable: bool, given: bool) -> tuple[str, ...]:
    notes = [
        "policy gradients are the expected ones of a table of answers in small steps, tau the sum of the step sizes",
        "nothing is carried over between prompts, rewards are 0 and 1, no clipping and no KL penalty",
    ]
    if usable:
        notes.append(
            "answers count as equal where their texts are equal in the file; a sequence with other words is another"
        )
    elif given:
        notes.append(
            "answers are used where all prompts have the same number of samples, 3 or more, which is not so here"
        )
    if not usable:
        notes.append(
            "the lower end is that of infinitely many equally likely answers, the upper end that of two answers"
        )
    return tuple(notes)
