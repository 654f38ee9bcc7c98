"""One-parameter models of how the pass rates of all prompts move together during a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.forecasting.flow import tilt_flow, two_answer_flow

if TYPE_CHECKING:
    from reweight.objectives.advantage import Advantage

__all__ = ["Movement", "common_shift", "policy_gradient", "sharpened", "spread", "tilted"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Movement:
    """A model: the log-odds of each prompt after a common amount of training.

    Parameters
    ----------
    name : str
    move : callable, ((M,), float) -> (M,)
        Log-odds after an amount, which grow with it.
    meaning : str
        What is assumed, for a note.
    declared : str
        The parameter that was declared or fitted; empty for a model without one.
    timed : bool
        Whether the amount is a time that adds up over steps.
    """

    name: str
    move: Callable[[Floats, float], Floats]
    meaning: str
    declared: str = ""
    timed: bool = True


def tilted(group_size: int, advantage: Advantage) -> Movement:
    """TILT: d logit p = Delta_G(p) d tau, the amount is tilt time (R07)."""
    meaning = "every prompt has its expected update in small steps and one tilt time, nothing carries over"
    return Movement("tilt", tilt_flow(group_size, advantage), meaning)


def policy_gradient(group_size: int, advantage: Advantage) -> Movement:
    """PG with one correct and one wrong answer a prompt, its fastest case: d logit p = 2 p q Delta_G(p) d tau (R10)."""
    meaning = "every prompt has one correct and one wrong answer and follows the expected gradient in small steps"
    return Movement("policy gradient", two_answer_flow(group_size, advantage), meaning)


def common_shift() -> Movement:
    """Logit p' = logit p + s.

    Examples
    --------
    >>> common_shift().move(np.array([-1.0, 2.0]), 0.5).tolist()
    [-0.5, 2.5]
    """
    return Movement("common shift", np.add, "the log-odds of all prompts rise by the same number of nats")


def spread(kappa: float) -> Movement:
    """Logit p' = s + kappa logit p with a declared kappa.

    Raises
    ------
    InputError
        If kappa is not positive.

    Examples
    --------
    >>> spread(1.4).move(np.array([-1.0, 2.0]), 0.5).round(12).tolist()
    [-0.9, 3.3]
    """
    if not 0.0 < kappa < math.inf:
        raise InputError(f"the spread {kappa} is not a positive number; give for example 1.4")
    meaning = "the log-odds of all prompts are stretched by the spread at once and rise by the same number of nats"
    return Movement("spread", lambda theta, s: kappa * theta + s, meaning, f"kappa = {kappa:g}", timed=False)


def sharpened(rate: float) -> Movement:
    """Logit p' = s + (1 + rate s) logit p for s >= 0: a spread that grows with the shift.

    A policy whose m wrong answers of a prompt are alike has these log-odds when it is sampled at a lower temperature,
    with rate 1/log(m): p^k / (p^k + m (q/m)^k) has log-odds k logit p + (k - 1) log m.

    Raises
    ------
    InputError
        If the rate is negative.

    Examples
    --------
    >>> p, m, k = 0.3, 5, 1.6
    >>> cold = p**k / (p**k + m * (0.7 / m) ** k)
    >>> theta, moved = np.log(p / 0.7), np.log(cold / (1 - cold))
    >>> bool(np.isclose(sharpened(1 / np.log(m)).move(np.array([theta]), (k - 1) * np.log(m))[0], moved))
    True
    """
    if not 0.0 <= rate < math.inf:
        raise InputError(f"the sharpening {rate} is not a number of at least 0; give for example 0.2")
    meaning = "a policy with equally likely wrong answers is sharpened, as by a falling temperature"

    def move(theta: Floats, s: float) -> Floats:
        return (1.0 + rate * max(s, 0.0)) * theta + s

    return Movement("sharpening", move, meaning, f"rate = {rate:g}", timed=False)
