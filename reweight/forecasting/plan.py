"""The plan: what a budget of rollouts buys with groups of each size, with and without redrawing dead groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.forecasting.functional import Functional, dead_share, signal
from reweight.forecasting.quantity import Estimator, Quantity
from reweight.forecasting.ranking import Ranking, rank
from reweight.forecasting.table import Table
from reweight.terminal import quoted

if TYPE_CHECKING:
    from reweight.objectives.objective import Objective
    from reweight.rollouts import Counts

__all__ = ["Choice", "Plan", "plan"]

Floats = NDArray[np.float64]
GROUP_SIZES = (4, 8, 16, 32)
MOST_BUDGET = 10**12


@dataclass(frozen=True)
class Choice:
    """What the budget buys with groups of one size.

    Parameters
    ----------
    group_size : int
    prompts_a_step : float
        Groups in one step of `Plan.step_rollouts` rollouts.
    groups_a_prompt : float
        Groups that each prompt gets from the budget.
    mixed_share : Quantity
        Share of groups with a correct and a wrong sample; the others teach nothing.
    never_mixed : Quantity
        Share of prompts that see no mixed group in the whole budget, at their present pass rates.
    signal : Quantity
        Mean of reward times advantage over all generated rollouts.
    steps : float
        Steps of the budget without a filter.
    filtered_steps : Quantity
        Steps where dead groups are redrawn until a step has its number of mixed ones.
    """

    group_size: int
    prompts_a_step: float
    groups_a_prompt: float
    mixed_share: Quantity
    never_mixed: Quantity
    signal: Quantity
    steps: float
    filtered_steps: Quantity

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            name: value.to_dict() if isinstance(value, Quantity) else value
            for name, value in ((name, getattr(self, name)) for name in self.__dataclass_fields__)
        }


@dataclass(frozen=True)
class Plan:
    """Choices of a group size for one budget, and which of them learn most.

    Parameters
    ----------
    budget : int
        Rollouts of the whole run.
    step_rollouts : int
        Rollouts that one step learns from.
    tokens : float or None
        Tokens of the whole run, where their number a rollout is known.
    level : float
    choices : tuple of Choice
    rankings : tuple of Ranking
        At one step size with as many rollouts a step, and with as many groups a step.
    notes : tuple of str
    """

    budget: int
    step_rollouts: int
    tokens: float | None
    level: float
    choices: tuple[Choice, ...]
    rankings: tuple[Ranking, ...]
    notes: tuple[str, ...]

    @property
    def recommendation(self) -> str:
        """One sentence."""
        return "; ".join(map(str, self.rankings))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "budget": self.budget,
            "step_rollouts": self.step_rollouts,
            "tokens": self.tokens,
            "choices": [choice.to_dict() for choice in self.choices],
            "rankings": [each.to_dict() for each in self.rankings],
            "recommendation": self.recommendation,
            "notes": list(self.notes),
        }

    def tables(self) -> tuple[Table, ...]:
        """What the budget buys, the cost of redrawing, and the recommendation."""
        cost = f"{self.budget} rollouts" + ("" if self.tokens is None else f", {self.tokens:.3g} tokens")
        bought = tuple(
            (str(each.group_size), str(each.mixed_share), str(each.never_mixed), str(each.signal))
            for each in self.choices
        )
        spent = tuple(
            (
                str(each.group_size),
                f"{each.prompts_a_step:g}",
                f"{each.groups_a_prompt:.3g}",
                f"{each.steps:.4g}",
                _range(each.filtered_steps),
                _range(_inverse(each.mixed_share)),
            )
            for each in self.choices
        )
        return (
            Table(
                f"Plan for {cost}: {self.recommendation}",
                ("G", "mixed groups", "prompts never mixed", "signal a rollout"),
                bought,
            ),
            Table(
                f"Steps of {self.step_rollouts} rollouts, and what redrawing dead groups (dynamic sampling) costs",
                ("G", "groups a step", "groups a prompt", "steps", "steps, redrawn", "generated for one kept"),
                spent,
            ),
            *self._leads(),
        )

    def _leads(self) -> tuple[Table, ...]:
        """How much more the best sizes learn; no table where there is nothing to compare."""
        rows = tuple(
            (ranking.held, f"{ranking.best} over {each.group_size}", str(each.difference), each.decided)
            for ranking in self.rankings
            for each in ranking.against
        )
        header = ("as many", "G", "more signal", "decided by")
        return (Table("How much more the best group size learns, limits that hold together", header, rows),) * bool(
            rows
        )


def plan(
    counts: Counts,
    objective: Objective,
    *,
    budget: int,
    step_rollouts: int = 512,
    group_sizes: Sequence[int] = GROUP_SIZES,
    length: float | None = None,
    level: float = 0.95,
) -> Plan:
    """Compare group sizes for a budget of rollouts by what each generated rollout teaches.

    Parameters
    ----------
    counts : Counts
        n and c of P prompts.
    objective : Objective
        Its advantage defines the signal of a group.
    budget : int
        Rollouts of the whole run.
    step_rollouts : int
        Rollouts that one step learns from.
    group_sizes : sequence of int
    length : float, optional
        Tokens a rollout.
    level : float
        Coverage of each interval and of all bounds of one number of samples together.

    Raises
    ------
    InputError
        If a number makes no sense, or the advantage needs more than the rewards of one group.

    Notes
    -----
    A group with K correct samples moves the log-odds of its prompt by g(K) = (1/G) sum r_i A_i times the step size,
    divided by the groups of the step over which the loss is averaged (R01; docs/theory.md). A prompt gets R / (P G)
    groups of the budget. So at one step size it moves in all by R / (P S) times E g with S rollouts a step, and by
    R / (P B) times E g / G with B groups a step. Redrawing dead groups, for which g = 0, buys larger steps and fewer of
    them: the signal of a generated rollout stays as it is.

    Examples
    --------
    >>> from reweight.objectives import Advantage, Objective
    >>> from reweight.rollouts import Counts
    >>> counts = Counts.of([8] * 200, [8] * 80 + [0] * 20 + [4] * 100)
    >>> found = plan(counts, Objective(Advantage(), 8), budget=100_000, group_sizes=[4, 8])
    >>> [round(choice.groups_a_prompt, 1) for choice in found.choices]
    [125.0, 62.5]
    >>> print(found.choices[1].mixed_share)
    0.5000 [0.4288, 0.5712]
    """
    for value, name in ((budget, "budget"), (step_rollouts, "step_rollouts")):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_BUDGET:
            raise InputError(f"{name} is {quoted(value)}; give a whole number of rollouts from 1 to {MOST_BUDGET:g}")
    sizes = sorted(set(group_sizes))
    if not sizes or sizes[0] < 2 or sizes[-1] > step_rollouts:
        raise InputError(
            f"a plan needs group sizes from 2 to the {step_rollouts} rollouts of a step; give for example 8"
        )
    estimator = Estimator(counts, level)
    worth = {size: signal(size, objective.advantage) for size in sizes}
    prompts = len(counts.prompts)
    choices = tuple(
        _choice(estimator, size, worth[size], budget=budget, step_rollouts=step_rollouts, prompts=prompts)
        for size in sizes
    )
    rankings = (
        rank(counts, level, "rollouts a step", worth),
        rank(counts, level, "groups a step", {size: Functional(each.table / size) for size, each in worth.items()}),
    )
    tokens = None if length is None else budget * length
    return Plan(budget, step_rollouts, tokens, level, choices, rankings, NOTES)


NOTES = (
    "the plan is for present pass rates: prompts that are learnt become dead, and others come within reach",
    "at one step size the signal E g of a rollout decides with as many rollouts a step, E g / G with as many groups",
    "which of two group sizes learns more is often the same for every pass rate: then a file tells only how much more",
    "redrawing dead groups leaves the signal of a generated rollout as it is: steps get larger, and fewer",
    "redrawing generates 1 / (mean mixed share) groups for one kept, if each new group is of a random prompt",
)


def _choice(
    estimator: Estimator,
    size: int,
    worth: Functional,
    *,
    budget: int,
    step_rollouts: int,
    prompts: int,
) -> Choice:
    mixed = _complement(estimator.mean(dead_share(size)))
    groups = budget / (prompts * size)
    steps = budget / step_rollouts
    return Choice(
        group_size=size,
        prompts_a_step=step_rollouts / size,
        groups_a_prompt=groups,
        mixed_share=mixed,
        never_mixed=estimator.bounds(_never_mixed(size, groups), (0.0, 1.0)),
        signal=estimator.mean(worth),
        steps=steps,
        filtered_steps=_scaled(mixed, steps),
    )


def _never_mixed(size: int, groups: float) -> Callable[[Floats], Floats]:
    dead = dead_share(size)
    return lambda p: dead.at(p) ** groups


def _complement(share: Quantity) -> Quantity:
    middle = None if share.estimate is None else 1.0 - share.estimate
    return Quantity(middle, 1.0 - share.high, 1.0 - share.low, share.identified)


def _scaled(share: Quantity, by: float) -> Quantity:
    middle = None if share.estimate is None else share.estimate * by
    return Quantity(middle, share.low * by, share.high * by, share.identified)


def _inverse(share: Quantity) -> Quantity:
    largest = float("inf") if share.low == 0.0 else 1.0 / share.low
    middle = None if not share.estimate else 1.0 / share.estimate
    return Quantity(middle, 1.0 / share.high if share.high else float("inf"), largest, share.identified)


def _range(found: Quantity) -> str:
    low, high = (f"{end:.4g}" if np.isfinite(end) else "no end" for end in (found.low, found.high))
    return f"{low} to {high}" if found.estimate is None else f"{found.estimate:.4g} [{low}, {high}]"
