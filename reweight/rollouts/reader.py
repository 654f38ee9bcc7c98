"""What a reader is: a module with NAME, HOLDS, OPTIONS, `recognises` and `read`; and what readers share."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from reweight.errors import InputError
from reweight.rollouts.files import File
from reweight.rollouts.table import Rollouts
from reweight.terminal import line, listed, quoted

__all__ = ["GROUP_FIELD", "ID_FIELDS", "NAME_FIELDS", "Names", "Options", "Reader", "first_of", "unused_fields"]

ID_FIELDS = ("id", "prompt_id", "task_id")
GROUP_FIELD = "group"
NAME_FIELDS = frozenset({*ID_FIELDS, GROUP_FIELD})
WHOLE_FLOATS = 2**53
"""Below this each whole number is a float of its own."""


@dataclass(frozen=True)
class Options:
    """What a user may tell a reader; each reader names in OPTIONS those that it honours."""

    threshold: float | None = None
    merge: bool = False
    reward: str | None = None
    step: int | None = None
    all_steps: bool = False
    group_rows: int | None = None
    filter: str | None = None
    answer: str | None = None

    def given(self) -> set[str]:
        """Names of the options that were set."""
        return {name for name, value in vars(self).items() if value is not None and value is not False}

    def check(self, honoured: Collection[str], file_name: str, format_name: str) -> None:
        """Refuse an option that would be silently without effect."""
        unused = sorted(self.given() - set(honoured))
        if unused:
            option = unused[0].replace("_", "-")
            raise InputError(f"{file_name}: a {format_name} file has no use for --{option}; leave it out")


class Reader(Protocol):
    """The contract of a module in READERS."""

    NAME: str
    HOLDS: str
    OPTIONS: frozenset[str]

    def recognises(self, file: File) -> bool:
        """Whether the beginning of the file looks like this format."""

    def read(self, file: File, options: Options) -> Rollouts:
        """The whole file as rollouts."""


def first_of(names: Iterable[str], fields: Iterable[str]) -> str | None:
    """The first of `names` that is among `fields`."""
    present = set(fields)
    return next((name for name in names if name in present), None)


@dataclass(frozen=True)
class Names:
    """Names of prompts, or of groups, as text: strings, and whole numbers as their digits.

    Two rows with one name are one prompt, so a name must not arise by rounding (a number with a fraction, or a float
    with more digits than floats hold) nor from a number in one row and a string in another.

    Parameters
    ----------
    meaning : str
        What is named, for error messages.

    Examples
    --------
    >>> names = Names("prompt id")
    >>> names.of(7, "line 1"), names.of(7.0, "line 2"), names.of("a", "line 3")
    ('7', '7', 'a')
    >>> names.of("7", "line 4")
    Traceback (most recent call last):
    reweight.errors.InputError: line 4: the prompt id 7 is a string here and a number before; write it in one way
    """

    meaning: str
    _is_text: dict[str, bool] = field(default_factory=dict, init=False, repr=False)

    def of(self, value: Any, where: str) -> str:
        """The name of a row, which is neither missing nor empty."""
        if value is None or value == "":
            raise InputError(f"{where}: the row has no {self.meaning}; write a string or a whole number")
        is_text = isinstance(value, str)
        is_whole = (isinstance(value, int) and not isinstance(value, bool)) or (
            isinstance(value, float) and value.is_integer() and abs(value) < WHOLE_FLOATS
        )
        if not (is_text or is_whole):
            raise InputError(f"{where}: {quoted(value)} is not a {self.meaning}; write a string or a whole number")
        name = value if is_text else str(int(value))
        if self._is_text.setdefault(name, is_text) is not is_text:
            here, before = ("a string", "a number") if is_text else ("a number", "a string")
            raise InputError(
                f"{where}: the {self.meaning} {line(name)} is {here} here and {before} before; write it in one way"
            )
        return str(name)


def unused_fields(fields: Iterable[str], used: Iterable[str | None]) -> tuple[str, ...]:
    """A sentence on the fields that were not looked at, if there are any."""
    taken = set(used)
    rest = [name for name in fields if name not in taken]
    return (f"fields not used: {listed(rest)}",) if rest else ()
