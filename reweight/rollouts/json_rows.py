"""JSON objects of a file, one after the other: a line each, or the items of one array."""

from __future__ import annotations

from collections.abc import Iterator

from reweight.rollouts.documents import elements
from reweight.rollouts.files import File, Row
from reweight.rollouts.strict_json import an_object, json_object

__all__ = ["json_rows"]


def json_rows(file: File) -> Iterator[Row]:
    """One JSON object a line, or an array of objects; a blank line is not a row, and what is no object is refused."""
    if file.layout == "array":
        for number, value in enumerate(elements(file), start=1):
            yield Row(number, an_object(value, file.at(number)))
        return
    for number, text in file.lines():
        yield Row(number, json_object(text, file.at(number)))
