"""JSON text as Python values, strictly: a key written twice is refused, since one of the two would be lost."""

from __future__ import annotations

import json
from typing import Any

from reweight.errors import InputError
from reweight.terminal import quoted

__all__ = ["an_object", "decoded", "json_object"]


class _WrittenTwiceError(ValueError):
    """A key of a JSON object is written twice; the key is the argument."""


def json_object(text: str, where: str) -> dict[str, Any]:
    """The JSON object that a text is.

    Raises
    ------
    InputError
        If it is broken, no object, nested beyond measure, or has a key twice.
    """
    return an_object(decoded(text, where, "mend or remove the line"), where)


def decoded(text: str, where: str, remedy: str) -> Any:
    """The JSON value that a text is; a key written twice is refused, since one of the two would be lost."""
    text = text.strip(" \t\n\r")
    try:
        value, end = STRICT.raw_decode(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: this is not a whole JSON object; {remedy}") from error
    except _WrittenTwiceError as error:
        raise InputError(f"{where}: the key {quoted(error.args[0])} is written twice; write it once") from error
    except RecursionError as error:
        raise InputError(f"{where}: the JSON is nested too deeply; write a flat object") from error
    except ValueError as error:
        raise InputError(f"{where}: a whole number has thousands of digits; write a smaller one") from error
    if end < len(text):
        raise InputError(f"{where}: this is not a whole JSON object; {remedy}")
    return value


def an_object(value: Any, where: str) -> dict[str, Any]:
    """A decoded value, refused if it is no object."""
    if not isinstance(value, dict):
        raise InputError(f"{where}: this is JSON but not an object; write one {{...}} a line")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _WrittenTwiceError(next(key for key in keys if keys.count(key) > 1))
    return fields


STRICT = json.JSONDecoder(object_pairs_hook=_unique)
