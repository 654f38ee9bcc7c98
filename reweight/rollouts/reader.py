"""What a reader is: a module with NAME, HOLDS, OPTIONS, `recognises` and `read`; and what readers share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from reweight.errors import InputError
from reweight.rollouts.files import File
from reweight.rollouts.table import Rollouts

__all__ = ["ID_FIELDS", "Options", "Reader", "first_of", "prompt_id", "unused_fields"]

ID_FIELDS = ("id", "prompt_id", "task_id")


@dataclass(frozen=True)
class Options:
    """What a user may tell a reader; each reader names in OPTIONS those that it honours."""

    threshold: float | None = None
    merge: bool = False
    reward: str | None = None
    step: int | None = None

    def given(self) -> set[str]:
        """Names of the options that were set."""
        return {name for name, value in vars(self).items() if value is not None and value is not False}


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


def prompt_id(value: Any, where: str) -> str:
    """A prompt's id as text, so that 7 in one file and "7" in another are one prompt.

    Examples
    --------
    >>> prompt_id(7, "here"), prompt_id(7.0, "here"), prompt_id("7", "here")
    ('7', '7', '7')
    """
    if isinstance(value, str) and value:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() else repr(value)
    if value is None or value == "":
        raise InputError(f"{where}: the row has no prompt id; give it a field {' or '.join(ID_FIELDS)}")
    raise InputError(f"{where}: {value!r} is not a prompt id; write a string or a number")


def unused_fields(fields: Iterable[str], used: Iterable[str | None]) -> tuple[str, ...]:
    """A sentence on the fields that were not looked at, if there are any."""
    taken = set(used)
    rest = [name for name in fields if name not in taken]
    return (f"fields not used: {', '.join(rest)}",) if rest else ()
