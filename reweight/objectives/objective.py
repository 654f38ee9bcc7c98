"""The whole description of what a group of samples is worth."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields, is_dataclass
from typing import Any, Literal, get_args

from reweight.checks import choice, number
from reweight.errors import InputError
from reweight.objectives.advantage import Advantage, check_group_size
from reweight.objectives.batch import Batch
from reweight.objectives.clip import Clip
from reweight.objectives.filter import Filter
from reweight.objectives.kl import KLPenalty
from reweight.objectives.ratio import Ratio
from reweight.objectives.reward import RewardRule

__all__ = ["Aggregation", "Objective", "diff", "flatten"]

Aggregation = Literal["token_mean", "prompt_token_mean", "sequence_mean", "sequence_sum", "constant"]
LARGEST_LENGTH = 1e12
PLAIN_REWARD, TOKEN_RATIO = RewardRule(), Ratio()


@dataclass(frozen=True)
class Objective:
    """What a group of samples is worth: one frozen description.

    Parameters
    ----------
    advantage : Advantage
        From rewards to advantages.
    group_size : int
        Draws G of one prompt that are compared with each other.
    reward : RewardRule
        From what an answer earns to the numbers that the group compares.
    ratio : Ratio
        Level of the importance ratio.
    clip : Clip, optional
        Clip range of the ratio; None for none.
    kl : KLPenalty, optional
        Penalty against the reference policy; None for none.
    aggregation : {"token_mean", "prompt_token_mean", "sequence_mean", "sequence_sum", "constant"}
        How token terms are averaged: over all tokens of the batch, over all tokens of a prompt's group and then over
        prompts, within each answer and then over answers, summed within each answer and averaged over answers, or the
        same divided by a constant length. Without a batch the first two agree; all five do when every answer has one
        token.
    constant_length : float, optional
        The length that "constant" divides by, in tokens; it belongs to "constant" alone.
    filter : Filter, optional
        Which groups are kept; None for all.
    batch : Batch, optional
        Which prompts share a batch; None for prompts that never meet, which is what the theorems on one prompt are
        about.

    Raises
    ------
    InputError
        If a field has a value that is not listed, the group size is not a positive integer, or two options make no
        sense together.

    Examples
    --------
    >>> Objective(Advantage(ddof=1), 8).aggregation
    'token_mean'
    """

    advantage: Advantage
    group_size: int
    _: KW_ONLY
    reward: RewardRule = PLAIN_REWARD
    ratio: Ratio = TOKEN_RATIO
    clip: Clip | None = None
    kl: KLPenalty | None = None
    aggregation: Aggregation = "token_mean"
    constant_length: float | None = None
    filter: Filter | None = None
    batch: Batch | None = None

    def __post_init__(self) -> None:
        check_group_size(self.group_size, self.advantage)
        choice(self.aggregation, "aggregation", get_args(Aggregation))
        if (self.aggregation == "constant") != (self.constant_length is not None):
            raise InputError("constant_length goes with aggregation 'constant': give both or neither")
        if self.constant_length is not None:
            number(self.constant_length, "constant_length", above=0.0, at_most=LARGEST_LENGTH)
        _check_transform(self.reward, self.group_size)
        _check_batch(self)
        _check_filter(self)
        if self.ratio.level == "detached_weight" and self.clip and (self.clip.dual or self.clip.ratio_cap):
            raise InputError("a detached weight has no dual clip or ratio cap: clip it with low and high")

    @property
    def couples_prompts(self) -> bool:
        """Whether what a prompt gets depends on the other prompts of its batch."""
        return self.batch is not None and (self.advantage.couples_prompts or self.aggregation == "token_mean")

    def __str__(self) -> str:
        return "\n".join(f"{name:<28}{value}" for name, value in flatten(self).items())

    def to_dict(self) -> dict[str, Any]:
        """Return every field, nested ones by dotted name, as JSON values."""
        return {
            name: value if isinstance(value, int | float | str | None) else str(value)
            for name, value in flatten(self).items()
        }


def _check_transform(rule: RewardRule, group_size: int) -> None:
    largest = group_size - (rule.transform == "leave_one_out_pass_at_k")
    if rule.k is not None and rule.k > largest:
        raise InputError(f"k = {rule.k} is above {largest}, the most that groups of {group_size} can estimate")
    if rule.transform == "rank" and group_size < 2:
        raise InputError("a group of one has no ranks: give a group size of at least 2")


def _check_batch(objective: Objective) -> None:
    if objective.batch is None and objective.advantage.couples_prompts:
        raise InputError("a batch baseline, scale or second normalisation couples prompts: give a batch")
    if objective.batch is not None and objective.filter is not None and objective.filter.rounds == "pool":
        raise InputError("pooled rounds give groups of unequal sizes, which a batch cannot hold: use rounds 'redraw'")


def _check_filter(objective: Objective) -> None:
    rule = objective.filter
    if (
        rule is not None
        and objective.reward.order == "normalise_then_sum"
        and (rule.keep, rule.rounds) != ("mixed", "redraw")
    ):
        raise InputError("with channels that are normalised apart there is no best reward: use Filter('mixed')")


def flatten(objective: Objective) -> dict[str, Any]:
    """Return the fields of an objective by dotted name; an absent part is None."""
    table: dict[str, Any] = {}

    def enter(part: Any, prefix: str) -> None:
        for field in fields(part):
            value = getattr(part, field.name)
            if is_dataclass(value):
                enter(value, f"{prefix}{field.name}.")
            else:
                table[prefix + field.name] = value

    enter(objective, "")
    return table


def diff(left: Objective, right: Objective) -> dict[str, tuple[Any, Any]]:
    """Return the fields on which two objectives differ, by dotted name; a part that one side lacks is None there.

    Examples
    --------
    >>> diff(Objective(Advantage(), 8), Objective(Advantage(ddof=1), 8))
    {'advantage.ddof': (0, 1)}
    """
    first, second = flatten(left), flatten(right)
    names = [*first, *(name for name in second if name not in first)]
    return {name: (first.get(name), second.get(name)) for name in names if first.get(name) != second.get(name)}
