"""The whole description of what a group of samples is worth."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields, is_dataclass
from typing import Any, Literal, get_args

from reweight.checks import choice, number
from reweight.errors import InputError
from reweight.objectives.advantage import Advantage, check_group_size
from reweight.objectives.clip import Clip
from reweight.objectives.kl import KLPenalty

__all__ = ["Objective", "Ratio", "diff"]

Aggregation = Literal["token_mean", "sequence_mean", "sequence_sum", "constant"]
Level = Literal["token", "sequence_product"]
LARGEST_LENGTH = 1e12


@dataclass(frozen=True)
class Ratio:
    """The importance ratio of a token's term of the loss: pi / pi_old of that token, or of the whole answer.

    With "sequence_product" every token of an answer has the same term; "sequence_mean" then leaves one term an answer.
    """

    level: Level = "token"

    def __post_init__(self) -> None:
        choice(self.level, "ratio level", get_args(Level))


@dataclass(frozen=True)
class Objective:
    """What a group of samples is worth: one frozen description.

    Parameters
    ----------
    advantage : Advantage
        From rewards to advantages.
    group_size : int
        Draws G of one prompt that are compared with each other.
    ratio : Ratio
        Level of the importance ratio.
    clip : Clip, optional
        Clip range of the ratio; None for none.
    kl : KLPenalty, optional
        Penalty against the reference policy; None for none.
    aggregation : {"token_mean", "sequence_mean", "sequence_sum", "constant"}
        How token terms are averaged: over all tokens of the group, within each answer and then over answers, summed
        within each answer and averaged over answers, or the same divided by a constant length. All four agree when
        every answer has one token.
    constant_length : float, optional
        The length that "constant" divides by, in tokens; it belongs to "constant" alone.

    Raises
    ------
    InputError
        If a field has a value that is not listed, or the group size is not a positive integer.

    Examples
    --------
    >>> Objective(Advantage(ddof=1), 8).aggregation
    'token_mean'
    """

    advantage: Advantage
    group_size: int
    _: KW_ONLY
    ratio: Ratio = Ratio()
    clip: Clip | None = None
    kl: KLPenalty | None = None
    aggregation: Aggregation = "token_mean"
    constant_length: float | None = None

    def __post_init__(self) -> None:
        check_group_size(self.group_size, self.advantage)
        choice(self.aggregation, "aggregation", get_args(Aggregation))
        if (self.aggregation == "constant") != (self.constant_length is not None):
            raise InputError("constant_length goes with aggregation 'constant': give both or neither")
        if self.constant_length is not None:
            number(self.constant_length, "constant_length", above=0.0, at_most=LARGEST_LENGTH)

    def __str__(self) -> str:
        return "\n".join(f"{name:<28}{value}" for name, value in flatten(self).items())

    def to_dict(self) -> dict[str, Any]:
        """Return every field, nested ones by dotted name, as JSON values."""
        return {
            name: value if isinstance(value, int | float | str | None) else str(value)
            for name, value in flatten(self).items()
        }


def flatten(objective: Objective) -> dict[str, Any]:
    """Return the fields of an objective by dotted name; an absent part is None."""
    table: dict[str, Any] = {}
    for field in fields(objective):
        value = getattr(objective, field.name)
        if is_dataclass(value):
            table.update({f"{field.name}.{inner.name}": getattr(value, inner.name) for inner in fields(value)})
        else:
            table[field.name] = value
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
