"""One JSON document: a value by its key, or the members of a large array or object without holding all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.files import MOST_TEXT, File
from reweight.rollouts.strict_json import decoded
from reweight.terminal import line, quoted

__all__ = ["elements", "keys", "members", "value"]

MEND = "write or copy it again"


def elements(file: File, key: str | None = None) -> Iterator[Any]:
    """Items of the array under a top-level key, or of the document itself.

    Raises
    ------
    InputError
        If the document is broken, or there is no array.
    """
    if file.size <= MOST_TEXT:
        found = _whole(file) if key is None else value(file, key)
        if not isinstance(found, list):
            raise InputError(f"{file.name}: {_named(key)} is not an array; {MEND}")
        yield from found
        return
    import ijson

    prefix = "item" if key is None else f"{key}.item"
    with file.open() as stream, _syntax(file):
        yield from ijson.items(stream, prefix, use_float=True, map_type=_UniqueKeys)


def members(file: File, key: str) -> Iterator[tuple[str, Any]]:
    """Keys and values of the object under a top-level key.

    Raises
    ------
    InputError
        If the document is broken, or there is no object.
    """
    if file.size <= MOST_TEXT:
        found = value(file, key)
        if not isinstance(found, dict):
            raise InputError(f"{file.name}: {_named(key)} is not an object; {MEND}")
        yield from found.items()
        return
    import ijson

    with file.open() as stream, _syntax(file):
        yield from ijson.kvitems(stream, key, use_float=True, map_type=_UniqueKeys)


def value(file: File, key: str) -> Any:
    """The value of a top-level key, None where there is none."""
    if file.size <= MOST_TEXT:
        document = _whole(file)
        if not isinstance(document, dict):
            raise InputError(f"{file.name}: this is JSON but not an object; {MEND}")
        return document.get(key)
    import ijson

    with file.open() as stream, _syntax(file):
        return next(ijson.items(stream, key, use_float=True, map_type=_UniqueKeys), None)


def keys(beginning: bytes, layout: str) -> tuple[str, ...]:
    """Top-level keys that the beginning of a document shows; of an array, those of its first object."""
    import ijson

    found: dict[str, None] = {}
    try:
        for prefix, event, name in ijson.parse(beginning):
            if event == "map_key" and prefix == ("item" if layout == "array" else ""):
                found.setdefault(name)
            if event == "end_map" and prefix == "item" and layout == "array":
                break
    except ijson.JSONError:  # the beginning ends within the document
        pass
    return tuple(found)


class _UniqueKeys(dict[str, Any]):
    """A dict that takes each key once, since of two values one would be lost."""

    def __setitem__(self, key: str, item: Any) -> None:
        if key in self:
            raise InputError(f"the key {quoted(key)} is written twice; write it once")
        super().__setitem__(key, item)


def _whole(file: File) -> Any:
    return decoded(file.text, file.at(1), "mend or remove the line")


def _named(key: str | None) -> str:
    return "the document" if key is None else f"the value of {line(key)}"


@contextmanager
def _syntax(file: File) -> Iterator[None]:
    import ijson

    try:
        yield
    except InputError as error:
        raise InputError(f"{file.name}: {error}") from error
    except ijson.JSONError as error:
        raise InputError(f"{file.name}: this is not a whole JSON document ({line(error, 120)}); {MEND}") from error
