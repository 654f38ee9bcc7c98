"""Which prompts share a batch, where a statistic of the whole batch enters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from reweight.checks import choice, integer
from reweight.errors import InputError

__all__ = ["Batch"]

Rule = Literal["every_prompt", "drawn"]


@dataclass(frozen=True)
class Batch:
    """The batch rule: one group for every prompt, or for B prompts drawn by weight with replacement.

    Parameters
    ----------
    rule : {"every_prompt", "drawn"}
    prompts : int, optional
        The number B of prompts that are drawn; it belongs to "drawn" alone.

    Raises
    ------
    InputError
        If the rule is neither, or `prompts` is missing, superfluous or not a positive integer.

    Examples
    --------
    >>> Batch("drawn", prompts=4)
    Batch(rule='drawn', prompts=4)
    """

    rule: Rule = "every_prompt"
    prompts: int | None = None

    def __post_init__(self) -> None:
        choice(self.rule, "batch rule", get_args(Rule))
        if (self.rule == "drawn") != (self.prompts is not None):
            raise InputError("prompts goes with the batch rule 'drawn': give both or neither")
        if self.prompts is not None:
            integer(self.prompts, "batch prompts", at_least=1)
