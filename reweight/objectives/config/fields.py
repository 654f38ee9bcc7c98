"""The keys of one configuration: each is read once, checked, and what was never read can be named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, nan
from typing import Any

from reweight.errors import InputError
from reweight.objectives.config.text import unique
from reweight.terminal import quoted

__all__ = ["Fields"]


class Fields:
    """A flat view of a configuration, by dotted key.

    Parameters
    ----------
    values : mapping of str to Any
        Nested mappings become dotted keys.

    Raises
    ------
    InputError
        If a key is there twice, nested and dotted.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = unique(_flat(values, ""))
        self.read: set[str] = set()

    def given(self, key: str) -> bool:
        """Whether the configuration sets this key."""
        self.read.add(key)
        return self.values.get(key) is not None

    def number(self, key: str, default: float) -> float:
        """Return a number, or the default where the key is absent or null.

        Raises
        ------
        InputError
            If the value is no number.
        """
        value = self._get(key)
        if value is None:
            return default
        try:
            found = nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            found = nan
        if not isfinite(found):
            raise InputError(f"{key} is {quoted(value)}: give a number")
        return found

    def integer(self, key: str, default: int, *, at_least: int | None = 1) -> int:
        """Return an integer, or the default.

        Raises
        ------
        InputError
            If the value is no integer, or a smaller one than `at_least`, if that is a number.
        """
        value = self.number(key, default)
        if value != int(value) or (at_least is not None and value < at_least):
            wanted = "a whole number" if at_least is None else f"a whole number from {at_least} on"
            raise InputError(f"{key} is {value:g}: give {wanted}")
        return int(value)

    def flag(self, key: str, default: bool) -> bool:
        """Return a truth value, or the default; words such as "true" and "False" count."""
        value = self._get(key)
        if value is None:
            return default
        words = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
        found = words.get(str(value).lower())
        if found is None:
            raise InputError(f"{key} is {quoted(value)}: give true or false")
        return found

    def choice(self, key: str, default: str, allowed: Sequence[str]) -> str:
        """Return one of several words, or the default."""
        value = self._get(key)
        word = default if value is None else str(value)
        if word not in allowed:
            raise InputError(f"{key} is {quoted(word)}, which has no counterpart here: known are {', '.join(allowed)}")
        return word

    def numbers(self, key: str) -> tuple[float, ...] | None:
        """Return a list of numbers, or None where the key is absent."""
        value = self._get(key)
        if value is None:
            return None
        rows = value.split(",") if isinstance(value, str) else value
        try:
            return tuple(float(each) for each in rows)
        except (TypeError, ValueError):
            raise InputError(f"{key} is {quoted(value)}: give a list of numbers") from None

    def unread(self) -> tuple[str, ...]:
        """Return the keys that nothing asked for, in order."""
        return tuple(key for key in self.values if key not in self.read)

    def _get(self, key: str) -> Any:
        self.read.add(key)
        return self.values.get(key)


def _flat(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
