"""A number of correct samples from the share of them that a file states."""

from __future__ import annotations

import math
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.tally import Tally
from reweight.terminal import line, quoted

__all__ = ["add_share"]

NEAR = 1e-6
"""How far from a whole number a share times the samples may be, a sample: shares are stored in float32 too."""


def add_share(
    tally: Tally, prompt: str, share: Any, samples: int, name: str, where: str, *, whole: int = 1, remedy: str
) -> bool:
    """Count `samples` of a prompt, of which share / whole are correct; False where the share is missing.

    Raises
    ------
    InputError
        If the share is no number, or not that of a whole number of samples.
    """
    tally.open(prompt)
    if share is None or (isinstance(share, float) and math.isnan(share)):
        tally.miss(samples)
        return False
    truth = isinstance(share, bool) and whole > 1  # a percentage is none
    number = isinstance(share, int | float) and not truth and abs(share) <= whole
    exact = float(share) / whole * samples if number else -1.0
    if exact < 0 or abs(exact - round(exact)) > NEAR * samples:
        raise InputError(
            f"{where}: {line(name)} = {quoted(share)} of {samples} samples is no share of correct ones; {remedy}"
        )
    correct = round(exact)
    for verdict, times in ((True, correct), (False, samples - correct)):
        if times:
            tally.add(prompt, verdict, times=times)
    return True
