"""What the group compares: the reward of an answer, and its transformation within the group."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reweight.checks import choice, integer, number, real
from reweight.errors import InputError

__all__ = ["LengthPenalty", "RewardRule"]

Transform = Literal["pass_at_k", "leave_one_out_pass_at_k", "rank"]
Order = Literal["sum_then_normalise", "normalise_then_sum"]
LARGEST = 1e12


@dataclass(frozen=True)
class LengthPenalty:
    """min(most, per_token * tokens beyond `free`), subtracted from the reward.

    Parameters
    ----------
    per_token : float
        Reward lost a token beyond `free`.
    free : float
        Tokens that cost nothing.
    most : float, optional
        Largest penalty; None for no limit.

    Raises
    ------
    InputError
        If a field is negative or not finite.

    Notes
    -----
    DAPO's overlong shaping with limit L and cache C is ``LengthPenalty(1 / C, free=L - C, most=1)``. Source: N07.

    Examples
    --------
    >>> LengthPenalty(0.25, free=4, most=1)([2, 6, 100])
    array([0. , 0.5, 1. ])
    """

    per_token: float
    free: float = 0.0
    most: float | None = None

    def __post_init__(self) -> None:
        number(self.per_token, "length penalty per_token", at_least=0.0, at_most=LARGEST)
        number(self.free, "length penalty free", at_least=0.0, at_most=LARGEST)
        if self.most is not None:
            number(self.most, "length penalty most", at_least=0.0, at_most=LARGEST)

    def __call__(self, lengths: ArrayLike) -> NDArray[np.float64]:
        """Return the penalty of answers of these lengths, in reward units."""
        beyond = np.maximum(real(lengths, "lengths", at_least=0.0) - self.free, 0.0) * self.per_token
        return beyond if self.most is None else np.minimum(beyond, self.most)


@dataclass(frozen=True)
class RewardRule:
    """From what an answer earns to the numbers that a group compares.

    Parameters
    ----------
    transform : {"pass_at_k", "leave_one_out_pass_at_k", "rank"}, optional
        Replaces the rewards of a group: by G times each sample's share in the unbiased estimate of max@k (PKPO), by G
        times what the estimate loses when the sample is left out, or by the midrank from 0 to 1.
    k : int, optional
        The k of pass@k; it belongs to the first two transforms alone.
    channel_weights : tuple of float, optional
        Weight of each reward channel; one each by default.
    order : {"sum_then_normalise", "normalise_then_sum"}
        Whether the group statistics are those of the weighted sum, or of each channel before they are added.
    bonus : float
        Added to the reward for each process event (tool call) of the answer: alpha times `Problem.counts`.
    length_penalty : LengthPenalty, optional
        Subtracted from the reward.

    Raises
    ------
    InputError
        If a field has a value that is not listed, k stands without a pass@k transform or the reverse, or a bonus,
        penalty or transform is asked of channels that are normalised apart.

    Notes
    -----
    Source: N13 (PKPO), R13 (bonus).

    Examples
    --------
    >>> RewardRule(bonus=0.1).order
    'sum_then_normalise'
    """

    transform: Transform | None = None
    k: int | None = None
    channel_weights: tuple[float | Fraction, ...] | None = None
    order: Order = "sum_then_normalise"
    bonus: float = 0.0
    length_penalty: LengthPenalty | None = None

    def __post_init__(self) -> None:
        if self.transform is not None:
            choice(self.transform, "reward transform", get_args(Transform))
        choice(self.order, "order of channels", get_args(Order))
        if (self.k is not None) != self.counts_passes:
            raise InputError("k goes with the transforms 'pass_at_k' and 'leave_one_out_pass_at_k': give both or none")
        if self.k is not None:
            integer(self.k, "k", at_least=1)
        number(self.bonus, "bonus", at_least=-LARGEST, at_most=LARGEST)
        if self.channel_weights is not None:
            if not isinstance(self.channel_weights, tuple) or not self.channel_weights:
                raise InputError("channel_weights are no tuple of numbers: give one weight a channel")
            for weight in self.channel_weights:
                number(weight, "channel weight", at_least=-LARGEST, at_most=LARGEST)
        if self.order == "normalise_then_sum" and (self.transform or self.bonus or self.length_penalty):
            raise InputError(
                "channels that are normalised apart take no transform, bonus or length penalty: make it a channel"
            )

    @property
    def counts_passes(self) -> bool:
        """Whether the transform is one of the two for pass@k."""
        return self.transform in ("pass_at_k", "leave_one_out_pass_at_k")
