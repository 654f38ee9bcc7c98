"""The inverse question: how large a base mass a target pass rate needs within a budget, and what raises it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from reweight.bounds import first_success_probability
from reweight.checks import integer, number
from reweight.errors import InputError
from reweight.forecasting.quantity import Quantity, shown
from reweight.forecasting.sampled_climb import climb
from reweight.forecasting.table import Table
from reweight.groups.binary import binary_advantages
from reweight.kernels.lumped_tilt import lumped_tilt
from reweight.objectives.advantage import Advantage

__all__ = ["BaseMass", "Target", "reach_bound", "sft_examples", "target"]

Floats = NDArray[np.float64]

LARGEST_GROUP = 1024
MOST_GROUPS = 10**7
SECTIONS = 64
DECADES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


@dataclass(frozen=True)
class BaseMass:
    """What one base mass can expect.

    Parameters
    ----------
    mass : float
        Base probability of a correct answer, pi_0(y).
    reach_at_most : float
        No sampled run reaches the target from it with a larger chance (closed form).
    first_success : float
        Expected number of groups until one holds a correct sample.
    examples : Quantity
        Supervised steps on the answer that raise it to what is necessary at least, and to what suffices with two
        answers at most.
    """

    mass: float
    reach_at_most: float
    first_success: float
    examples: Quantity


@dataclass(frozen=True)
class Target:
    """The smallest base mass Q from which a target pass rate is reached within T groups.

    Parameters
    ----------
    rate, chance : float
        Target pass rate, and the chance with which it is to be reached.
    groups, group_size : int
        T groups of G samples from the prompt, one update each.
    step, sft_step : float
        Steps of the updates, and of a supervised one, as the prompt sees them.
    lucky : float
        From less no sampled run gets there, whatever its samples: each update moves the log-odds by a bounded amount.
    discovery : float
        From less the chance that any correct sample is drawn is smaller than `chance`.
    necessary : float
        From less no sampled run on a flat table gets there with this chance.
    sufficient : float or None
        With one correct and one wrong answer this suffices; None where the budget is too long to compute it.
    tilt : Quantity
        What the expected update (TILT) needs: exact, between the limits of R07.
    ladder : tuple of BaseMass
    notes : tuple of str
    """

    rate: float
    chance: float
    groups: int
    group_size: int
    step: float
    sft_step: float
    lucky: float
    discovery: float
    necessary: float
    sufficient: float | None
    tilt: Quantity
    ladder: tuple[BaseMass, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; base masses that are bounds or exact are {"estimate", "low", "high", "identified"}."""
        return {
            "rate": self.rate,
            "chance": self.chance,
            "groups": self.groups,
            "group_size": self.group_size,
            "step": self.step,
            "sft_step": self.sft_step,
            "base_mass": {
                "lucky": self.lucky,
                "discovery": self.discovery,
                "two_answers": Quantity(None, self.necessary, self._sufficient, False).to_dict(),
                "tilt": self.tilt.to_dict(),
            },
            "ladder": [
                {
                    "mass": row.mass,
                    "reach_at_most": row.reach_at_most,
                    "groups_to_first_success": row.first_success,
                    "sft_examples": row.examples.to_dict(),
                }
                for row in self.ladder
            ],
            "notes": list(self.notes),
        }

    @property
    def _sufficient(self) -> float:
        """At the target nothing is left to be done."""
        return self.rate if self.sufficient is None else self.sufficient

    def tables(self) -> tuple[Table, ...]:
        """The base masses, and what smaller ones can expect."""
        rows = [
            ("smaller ones never get there, whatever is drawn", _mass(self.lucky)),
            (f"smaller ones see a correct sample with a chance below {self.chance:g}", _mass(self.discovery)),
            (f"necessary for a chance of {self.chance:g}, whatever the answers", _mass(self.necessary)),
            (
                "sufficient with one correct and one wrong answer",
                "not computed" if self.sufficient is None else _mass(self.sufficient),
            ),
            (
                "under the expected update (TILT), exact [limits]",
                f"{_mass(self.tilt.estimate or 0.0)} [{_mass(self.tilt.low)}, {_mass(self.tilt.high)}]",
            ),
        ]
        title = f"Base mass Q for a pass rate of {self.rate:g} within {self.groups} groups of {self.group_size}"
        ladder = [
            (
                _mass(row.mass),
                shown(row.reach_at_most),
                f"{row.first_success:.4g}",
                f"{row.examples.low:.0f} to {row.examples.high:.0f}",
            )
            for row in self.ladder
        ]
        header = ("base mass", "reached with a chance of at most", "groups to the first success", "SFT examples")
        return (
            Table(title, ("", "Q"), tuple(rows)),
            Table("From smaller base masses, and the supervised examples that raise them to Q", header, tuple(ladder)),
        )

    def __str__(self) -> str:
        lines = []
        for table in self.tables():
            lines += [table.title, *(" | ".join(cells) for cells in (table.header, *table.rows))]
        return "\n".join(lines)


def _mass(value: float) -> str:
    return f"{value:.4g}"


def target(
    rate: float,
    *,
    groups: int,
    group_size: int = 8,
    step: float,
    advantage: Advantage | None = None,
    chance: float = 0.95,
    sft_step: float | None = None,
    bases: Sequence[float] = DECADES,
) -> Target:
    """Find the smallest base pass rate of a prompt from which a target is reached within T groups of G samples.

    Parameters
    ----------
    rate : float
        Target pass rate, between 0 and 1.
    groups : int
        T, the groups drawn from the prompt; a budget of R rollouts has T = R / G.
    group_size : int
        G.
    step : float
        Step size eta that the prompt sees: with a loss averaged over B prompts that is the step over B.
    advantage : Advantage, optional
        A group-mean or leave-one-out baseline, divided by the group's std or not at all; std with ddof 0 by default.
    chance : float
        With which the target is to be reached.
    sft_step : float, optional
        Step size of a supervised update; `step` by default.
    bases : sequence of float
        Base masses of the ladder; those from the target on are left out.

    Raises
    ------
    InputError
        If a number is out of range, the advantage is another one, or the step is so long that tilts overtake.

    Notes
    -----
    Source: R05, R06, C60 (discovery and growth), R07 (TILT), C77 (supervised steps).

    Examples
    --------
    >>> found = target(0.5, groups=1000, group_size=8, step=0.05)
    >>> found.discovery <= found.necessary <= found.sufficient
    True
    >>> print(f"{found.necessary:.5f} {found.sufficient:.5f}")
    0.00496 0.00507
    """
    advantage = Advantage() if advantage is None else advantage
    for value, name in ((rate, "rate"), (chance, "chance")):
        if not 0.0 < number(value, name) < 1.0:
            raise InputError(f"{name} must be between 0 and 1, got {value!r}; give for example 0.9")
    integer(groups, "groups", at_least=1)
    integer(group_size, "group_size", at_least=2)
    if groups > MOST_GROUPS or group_size > LARGEST_GROUP:
        raise InputError(f"groups must be at most {MOST_GROUPS} and group_size at most {LARGEST_GROUP}; give less")
    number(step, "step", above=0.0)
    teaching = step if sft_step is None else number(sft_step, "sft_step", above=0.0)
    gains = _gains(group_size, advantage, step)
    goal = float(logit(rate))
    lucky = float(expit(goal - groups * gains.max()))
    discovery = -math.expm1(math.log1p(-chance) / (groups * group_size))
    necessary, sufficient = _sampled(rate, chance, groups, gains)
    masses = sorted({number(base, "base", above=0.0) for base in bases})
    ladder = tuple(
        BaseMass(
            mass,
            reach_bound(mass, rate, groups, gains),
            1.0 / float(first_success_probability(mass, group_size, 1)),
            _to_reach(mass, necessary, rate if sufficient is None else sufficient, teaching),
        )
        for mass in masses
        if mass < rate
    )
    return Target(
        rate=rate,
        chance=chance,
        groups=groups,
        group_size=group_size,
        step=step,
        sft_step=teaching,
        lucky=lucky,
        discovery=min(discovery, rate),
        necessary=necessary,
        sufficient=sufficient,
        tilt=_tilt(rate, groups, group_size, step, advantage),
        ladder=ladder,
        notes=(*ASSUMPTIONS, TOO_LONG) if sufficient is None else ASSUMPTIONS,
    )


def reach_bound(mass: float, rate: float, groups: int, gains: Floats) -> float:
    """Largest chance that a sampled run gets from a base mass to a rate within T groups, in closed form.

    Parameters
    ----------
    mass, rate : float
        Pass rate at the start and at the end.
    groups : int
    gains : (G + 1,) array
        2 step push(K); the largest of them is the step bound of R05.

    Notes
    -----
    After the first correct sample at least m = ceil(distance in log-odds / largest gain) updates are needed, that
    group's included. So it must fall into the first T - m + 1 groups, during which all others were all wrong and
    taught nothing: 1 - (1 - p_0)^{G (T - m + 1)}. Source: R05, C60.

    Examples
    --------
    >>> gains = 2 * 0.1 * np.array([0.0, 0.5, 0.0])  # groups of two
    >>> round(reach_bound(0.01, 0.5, 100, gains), 6) == round(1 - 0.99 ** (2 * (100 - 46 + 1)), 6)
    True
    """
    if mass >= rate:
        return 1.0
    needed = math.ceil((float(logit(rate)) - float(logit(mass))) / float(gains.max()) * (1.0 - 1e-12))
    return float(first_success_probability(mass, gains.size - 1, max(0, groups - needed + 1)))


def sft_examples(base: float, goal: float, step: float) -> Quantity:
    """Number of supervised steps on one answer that raise its probability from `base` to `goal`, as bounds.

    A step raises the answer's logit by eta (1 - pi) and lowers each other one by eta pi_z, so its log-odds rise by
    eta (1 - pi) where the others are many and small, and by twice that where there is one other. Source: C77.

    Parameters
    ----------
    base, goal : float
        Probabilities of the answer, above 0 and below 1.
    step : float
        Step size eta of the supervised update.

    Returns
    -------
    Quantity
        Fewest (one other answer, the first step's rate kept) and most steps (the flow's time with many others, which a
        run of steps does not exceed since the rate falls).

    Examples
    --------
    >>> bounds = sft_examples(1e-6, 0.01, 1.0)
    >>> bounds.low, bounds.high
    (5.0, 10.0)
    """
    if goal <= base:
        return Quantity(None, 0.0, 0.0, False)
    distance = float(logit(goal) - logit(base))
    fewest = math.ceil(distance / (2.0 * step * (1.0 - base)))
    most = math.ceil((distance + goal / (1.0 - goal) - base / (1.0 - base)) / step)
    return Quantity(None, float(fewest), float(most), False)


def _to_reach(base: float, necessary: float, sufficient: float, step: float) -> Quantity:
    low, high = sft_examples(base, necessary, step), sft_examples(base, sufficient, step)
    return Quantity(None, low.low, high.high, False)


def _gains(group_size: int, advantage: Advantage, step: float) -> Floats:
    """2 step push(K), K = 0..G: the move of the log-odds with two answers, and the largest with any (R05)."""
    plain = advantage.selection == "all" and advantage.second is None
    if not (plain and advantage.baseline in ("mean", "leave_one_out") and advantage.scale in ("std", "none")):
        raise InputError(
            "the bounds need advantages that sum to zero in a group with one divisor; give baseline mean "
            "or leave_one_out with scale std or none"
        )
    correct, _ = binary_advantages(group_size, advantage)
    shares = np.arange(group_size + 1) / group_size
    return np.asarray(2.0 * step * shares * np.where(shares > 0, correct, 0.0))


def _sampled(rate: float, chance: float, groups: int, gains: Floats) -> tuple[float, float | None]:
    """Base mass below which the chance is too small for every table, and one that suffices with two answers."""
    goal = float(logit(rate))
    lowest = _smallest(lambda mass: reach_bound(mass, rate, groups, gains) >= chance, rate)
    grid = climb(goal, lowest, groups, gains)
    if grid is None:
        return float(expit(lowest)), None
    above, enough = np.flatnonzero(grid.at_most >= chance), np.flatnonzero(grid.at_least >= chance)
    first = int(above[0]) if above.size else grid.log_odds.size
    necessary = max(lowest, float(grid.log_odds[first - 1])) if first else lowest
    return float(expit(necessary)), float(expit(grid.log_odds[enough[0]])) if enough.size else rate


def _smallest(holds: Callable[[float], bool], rate: float) -> float:
    """Log-odds of the smallest mass below the rate for which something that stays true holds, from below."""
    low, high = -745.0, float(logit(rate))
    for _ in range(80):
        middle = (low + high) / 2.0
        low, high = (low, middle) if holds(float(expit(middle))) else (middle, high)
    return low


def _tilt(rate: float, groups: int, size: int, step: float, advantage: Advantage) -> Quantity:
    """Smallest pass rate that T tilts carry to the rate, by sections of the compiled path, between its limits.

    The gap in Bernstein form lies between its smallest and its largest coefficient, which gives the limits.
    """
    correct, wrong = binary_advantages(size, advantage)
    coefficients = np.asarray(correct[1:] - wrong[:-1], dtype=np.float64)
    goal = float(logit(rate))
    fastest, slowest = step * float(coefficients.max()), step * float(coefficients.min())
    low, high = goal - groups * fastest, goal - groups * slowest
    limits = low, high
    # Beyond 60 nats the gap no longer changes, so that nothing overtakes.
    near = np.linspace(max(low, -60.0) - fastest, max(goal, -59.0), 4096)
    if (np.diff(lumped_tilt(near, 1, step, coefficients)) <= 0).any():
        raise InputError(
            f"with step {step:g} one tilt carries a lower pass rate past a higher one; give a smaller step"
        )
    while high - low > 1e-12 * max(1.0, abs(high)):
        points = np.linspace(low, high, SECTIONS)
        arrived = lumped_tilt(points[:-1], groups, step, coefficients) >= goal
        first = int(np.argmax(arrived)) if arrived.any() else SECTIONS - 1
        low, high = float(points[max(first - 1, 0)]), float(points[first])
    return Quantity(float(expit(high)), float(expit(limits[0])), float(expit(limits[1])), True)


ASSUMPTIONS = (
    "base masses are for one prompt with a logit for each answer and nothing shared with other prompts",
    "rewards 0 and 1, one inner step, no KL penalty, entropy bonus or decay, plain gradient steps, one group an update",
    "groups of equal rewards teach nothing, so that before the first correct sample the policy stays the base",
    "sufficient is for two answers, the fastest case; with more of them a run may need any number of groups",
    "the expected update (TILT) moves before anything correct is drawn: a model of many prompts, no promise for one",
    "SFT examples are supervised steps on one correct answer, fewest to what is necessary, most to what suffices",
)
TOO_LONG = "the budget is too long for what suffices with two answers to be computed"
