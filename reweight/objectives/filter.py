"""Which groups are kept: dynamic sampling, and rules that draw until a group is worth something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from reweight.checks import choice, integer
from reweight.errors import InputError

__all__ = ["Filter"]

Keep = Literal["mixed", "solved"]
Rounds = Literal["redraw", "pool"]
MOST_POOLED_ROUNDS = 64


@dataclass(frozen=True)
class Filter:
    """Which groups enter the loss.

    Parameters
    ----------
    keep : {"mixed", "solved"}
        Groups whose rewards are not all equal (DAPO), or groups that hold a best reward.
    rounds : {"redraw", "pool"}
        What a prompt does whose group is not kept: draw a fresh group, or draw G more samples and judge all of its
        samples together (adaptive stopping).
    max_rounds : int, optional
        Rounds of G draws after which the prompt is dropped from the batch; None for as many as it takes ("redraw"
        only).

    Raises
    ------
    InputError
        If a field has a value that is not listed, or pooling has no limit.

    Notes
    -----
    What "best" and "equal" mean is decided on the observed rewards. Source: N07, C17, R24.

    Examples
    --------
    >>> Filter("mixed", max_rounds=10)
    Filter(keep='mixed', rounds='redraw', max_rounds=10)
    """

    keep: Keep = "mixed"
    rounds: Rounds = "redraw"
    max_rounds: int | None = None

    def __post_init__(self) -> None:
        choice(self.keep, "filter keep", get_args(Keep))
        choice(self.rounds, "filter rounds", get_args(Rounds))
        if self.max_rounds is not None:
            integer(self.max_rounds, "max_rounds", at_least=1)
        if self.rounds == "pool" and not (self.max_rounds and self.max_rounds <= MOST_POOLED_ROUNDS):
            raise InputError(f"pooled rounds have no limit: give max_rounds from 1 to {MOST_POOLED_ROUNDS}")
