"""How a reward becomes an advantage: baseline, scale and their conventions, as one frozen description."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Literal, get_args

from reweight.checks import choice, integer, number
from reweight.errors import InputError

__all__ = ["Advantage", "check_group_size"]

Baseline = Literal["mean", "leave_one_out", "batch_mean", "length_weighted", "second_best", "none"]
Scale = Literal["std", "leave_one_out_std", "batch_std", "mean", "none"]
EpsRule = Literal["added", "inside_root", "clamp"]
Selection = Literal["all", "best"]
Singleton = Literal["zero", "reward", "error"]
Missing = Literal["exclude", "zero", "error"]
Second = Literal["batch_standardise", "token_whiten"]
LARGEST_EPS = 1e12


@dataclass(frozen=True)
class Advantage:
    """The advantage of one sample in its group: (reward - baseline) / scale.

    Parameters
    ----------
    baseline : {"mean", "leave_one_out", "batch_mean", "length_weighted", "second_best", "none"}
        What is subtracted: the group's mean, the mean of the other members, the mean of all groups of the batch, the
        group's mean weighted by answer length, the second best reward of the group, or nothing.
    scale : {"std", "leave_one_out_std", "batch_std", "mean", "none"}
        What the difference is divided by: the group's standard deviation, that of the other members, that of the whole
        batch, the group's mean reward, or nothing. Where the others' standard deviation is zero or undefined the
        difference stays undivided; where any other divisor is zero the advantage is zero.
    ddof : {0, 1}
        Degrees of freedom subtracted in a standard deviation.
    eps : float or Fraction
        The stabiliser; a decimal float means the decimal that it prints as (1e-4 is 1/10000).
    eps_rule : {"added", "inside_root", "clamp"}
        s + eps, sqrt(s^2 + eps), or sqrt(max(s^2, eps)) for a standard deviation s; to a mean eps is always added.
    second : {"batch_standardise", "token_whiten"}, optional
        A second normalisation, with the same ddof, eps and eps_rule: the z-score of all advantages of the batch, or
        that in which each answer counts once a token (its ddof too is in tokens).
    selection : {"all", "best"}
        Whether every member keeps its advantage or only the single best one.
    singleton : {"zero", "reward", "error"}
        What a group with one valid reward gets where a statistic of the group enters: zero, the reward itself (divided
        by a standard deviation of one, with its eps, where the scale is "std"), or an error.
    missing : {"exclude", "zero", "error"}
        What a missing (NaN) reward is: left out of the statistics with advantage zero, a reward of zero, or an error.

    Raises
    ------
    InputError
        If a field has a value that is not listed, or `eps` is not between 0 and 1e12.

    Notes
    -----
    A group whose rewards are all equal is degenerate and gets exact zeros whenever its baseline is a statistic of the
    group or its scale the standard deviation of the group or of the others. Degeneracy is equality of rewards, never a
    small standard deviation; the same holds of a batch.

    Examples
    --------
    >>> Advantage(ddof=1, eps=1e-4)  # doctest: +ELLIPSIS
    Advantage(baseline='mean', scale='std', ddof=1, eps=0.0001, eps_rule='added', second=None, ...)
    """

    baseline: Baseline = "mean"
    scale: Scale = "std"
    ddof: Literal[0, 1] = 0
    eps: float | Fraction = 0.0
    eps_rule: EpsRule = "added"
    _: KW_ONLY
    second: Second | None = None
    selection: Selection = "all"
    singleton: Singleton = "zero"
    missing: Missing = "exclude"

    def __post_init__(self) -> None:
        choices = {
            "baseline": get_args(Baseline),
            "scale": get_args(Scale),
            "ddof": (0, 1),
            "eps_rule": get_args(EpsRule),
            "selection": get_args(Selection),
            "singleton": get_args(Singleton),
            "missing": get_args(Missing),
        }
        for name, allowed in choices.items():
            choice(getattr(self, name), name, allowed)
        if self.second is not None:
            choice(self.second, "second", get_args(Second))
        integer(self.ddof, "ddof", at_least=0)
        number(self.eps, "eps", at_least=0.0, at_most=LARGEST_EPS)

    @property
    def exact_eps(self) -> Fraction:
        """`eps` as a Fraction: the decimal that the float prints as."""
        return self.eps if isinstance(self.eps, Fraction) else Fraction(repr(self.eps))

    @property
    def needs_group(self) -> bool:
        """Whether a statistic of the group enters, so that a group of one has no advantage."""
        return (
            self.baseline not in ("none", "batch_mean")
            or self.scale not in ("none", "batch_std")
            or self.selection == "best"
        )

    @property
    def couples_prompts(self) -> bool:
        """Whether a statistic of the whole batch enters, so that prompts of one batch depend on each other."""
        return self.baseline == "batch_mean" or self.scale == "batch_std" or self.second is not None


def check_group_size(group_size: int, advantage: Advantage) -> None:
    """Refuse what is no group size, and a group of one where a statistic of the group enters.

    Raises
    ------
    InputError
        In both cases.
    """
    integer(group_size, "group_size", at_least=1)
    if advantage.needs_group and group_size < 2:
        raise InputError("a group of one has no group baseline or scale: give a group size of at least 2")
