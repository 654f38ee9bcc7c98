"""One JSON document: a value by its key, or the members of a large array or object without holding all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

from reweight.errors import InputError
from reweight.rollouts.files import MOST_TEXT, File
from reweight.rollouts.strict_json import decoded
from reweight.terminal import line, quoted

__all__ = ["elements", "keys", "members", "value"]

MEND = "write or copy it again"
MANY_DIGITS = re.compile(rb"[0-9]{4000}")
"""More than Python makes a number of; the streaming parser does not survive them."""


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
    with _parsing(file) as stream:
        yield from _checked(lambda kind: ijson.items(stream, prefix, use_float=True, map_type=kind))


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

    with _parsing(file) as stream:
        yield from _checked(lambda kind: ijson.kvitems(stream, key, use_float=True, map_type=kind))


def value(file: File, key: str) -> Any:
    """The value of a top-level key, None where there is none."""
    if file.size <= MOST_TEXT:
        document = _whole(file)
        if not isinstance(document, dict):
            raise InputError(f"{file.name}: this is JSON but not an object; {MEND}")
        return document.get(key)
    import ijson

    with _parsing(file) as stream:
        return next(_checked(lambda kind: ijson.items(stream, key, use_float=True, map_type=kind)), None)


def keys(beginning: bytes, layout: str) -> tuple[str, ...]:
    """Top-level keys that the beginning of a document shows; of an array, those of its first object."""
    import ijson

    found: dict[str, None] = {}
    if digits := MANY_DIGITS.search(beginning):
        beginning = beginning[: digits.start()]
    try:
        for prefix, event, name in ijson.parse(beginning):
            if event == "map_key" and prefix == ("item" if layout == "array" else ""):
                found.setdefault(name)
            if event == "end_map" and prefix == "item" and layout == "array":
                break
    except ijson.JSONError:  # the beginning ends within the document
        pass
    return tuple(found)


def _checked(parse: Callable[[type[dict[str, Any]]], Iterator[Any]]) -> Iterator[Any]:
    """What a parser finds, until a key stands twice in an object, since of two values one would be lost.

    The parser calls from C and does not pass on what is raised there, so the key is kept until the value is whole.
    """
    repeated: list[str] = []

    class UniqueKeys(dict[str, Any]):
        def __setitem__(self, key: str, item: Any) -> None:
            if key in self:
                repeated.append(key)
            super().__setitem__(key, item)

    for found in parse(UniqueKeys):
        if repeated:
            raise InputError(f"the key {quoted(repeated[0])} is written twice; write it once")
        yield found


def _whole(file: File) -> Any:
    return decoded(file.text, file.at(1), "mend or remove the line")


def _named(key: str | None) -> str:
    return "the document" if key is None else f"the value of {line(key)}"


class _WithoutManyDigits:
    """A stream that ends with an error where digits go on and on."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._tail = b""

    def read(self, size: int) -> bytes:
        chunk = self._stream.read(size)
        if MANY_DIGITS.search(self._tail + chunk):
            raise InputError("there are thousands of digits in a row; write smaller numbers")
        self._tail = chunk[-4000:] if len(chunk) >= 4000 else (self._tail + chunk)[-4000:]
        return chunk


@contextmanager
def _parsing(file: File) -> Iterator[_WithoutManyDigits]:
    """The bytes for the streaming parser, whose errors become sentences on the file."""
    import ijson

    try:
        with file.open() as stream:
            yield _WithoutManyDigits(stream)
    except InputError as error:
        raise InputError(f"{file.name}: {error}") from error
    except ijson.JSONError as error:
        raise InputError(f"{file.name}: this is not a whole JSON document ({line(error, 120)}); {MEND}") from error
