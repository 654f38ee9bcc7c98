"""The importance ratio of a token's term of the loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from reweight.checks import choice

__all__ = ["Ratio"]

Level = Literal["token", "sequence_product", "sequence_mean", "detached_weight"]


@dataclass(frozen=True)
class Ratio:
    """What multiplies the advantage in a token's term of the loss.

    Parameters
    ----------
    level : {"token", "sequence_product", "sequence_mean", "detached_weight"}
        "token": pi / pi_old of the token (GRPO, PPO). "sequence_product": that of the whole answer, in every token's
        term. "sequence_mean": the geometric mean of the token ratios of the answer (GSPO). "detached_weight": the
        clipped token ratio as a constant weight of A log pi (CISPO), whose gradient clipping never removes.

    Raises
    ------
    InputError
        If the level is none of these.

    Notes
    -----
    Source: N08 (GSPO), N09 (CISPO).

    Examples
    --------
    >>> Ratio("sequence_mean")
    Ratio(level='sequence_mean')
    """

    level: Level = "token"

    def __post_init__(self) -> None:
        choice(self.level, "ratio level", get_args(Level))
