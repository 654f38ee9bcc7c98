"""What can stand in a table cell, and how it reads on a page and in JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from reweight.errors import InputError

__all__ = ["Badge", "Cell", "cell_json", "cell_text", "is_number", "verdict_badge"]

Tone = Literal["good", "fair", "note", "bad", "plain"]


@dataclass(frozen=True)
class Badge:
    """A short coloured label; the text alone carries the meaning, the tone only helps the eye.

    Parameters
    ----------
    text : str
        What the label says.
    tone : {"good", "fair", "note", "bad", "plain"}
        The colour: shown, weaker evidence, a result against the statement, an alarm, or neutral.

    Examples
    --------
    >>> str(Badge("PROVED (all G)", "good"))
    'PROVED (all G)'
    """

    text: str
    tone: Tone = "plain"

    def __post_init__(self) -> None:
        if self.tone not in get_args(Tone):
            raise InputError(f"the tone of a badge is one of {', '.join(get_args(Tone))}, not {self.tone!r}")

    def __str__(self) -> str:
        return self.text


Cell = str | int | float | Fraction | np.generic | Badge | None

_VERDICT_TONES: dict[str, Tone] = {"PROVED": "good", "VERIFIED": "good", "TESTED": "fair", "REFUTED": "note"}


def verdict_badge(verdict: str, *, as_declared: bool = True) -> Badge:
    """The badge of a claim's verdict, coloured by its first word, or as an alarm where it is not the declared one.

    Parameters
    ----------
    verdict : str
        The headline verdict, with its quantifiers.
    as_declared : bool
        False makes the badge an alarm.

    Returns
    -------
    Badge
        The label.

    Examples
    --------
    >>> verdict_badge("REFUTED (N = 3, G = 2)").tone, verdict_badge("REFUTED", as_declared=False).tone
    ('note', 'bad')
    """
    words = verdict.split(maxsplit=1)
    tone = _VERDICT_TONES.get(words[0].upper(), "plain") if words else "plain"
    return Badge(verdict, tone if as_declared else "bad")


def is_number(cell: Cell) -> bool:
    """Whether a cell is a number, and so is set flush right."""
    return isinstance(cell, int | float | Fraction | np.number) and not isinstance(cell, bool)


def cell_text(cell: Cell) -> str:
    """The cell as a person reads it: four significant digits, a dash for what is not known."""
    value = cell.item() if isinstance(cell, np.generic) else cell
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", "\N{MINUS SIGN}").replace("inf", "∞")
    return str(value)


def cell_json(cell: Cell) -> str | int | float | bool | None:
    """The cell at full precision; NaN is null, infinities and fractions are text, since JSON has neither."""
    value = cell.item() if isinstance(cell, np.generic) else cell
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)
