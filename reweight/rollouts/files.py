"""From a path to bytes, and from bytes to numbered rows; every way this can fail is one sentence."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from reweight.errors import InputError
from reweight.terminal import line, quoted

__all__ = ["File", "Row", "csv_rows", "json_rows", "open_file"]

WHOLE = re.compile(r"[+-]?[0-9]{1,400}")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
MISSING_CELLS = frozenset({"", "nan", "null", "none"})
PARQUET_MAGIC = b"PAR1"
OTHER_MAGIC = {
    b"\x1f\x8b": "is compressed with gzip; unpack it first",
    b"BZh": "is compressed with bzip2; unpack it first",
    b"\xfd7zXZ": "is compressed with xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it first",
    b"PK\x03\x04": "is a zip archive; unpack it first",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}


@dataclass(frozen=True)
class Row:
    """One record of a file with the line it starts on, counted from 1."""

    line: int
    fields: dict[str, Any]

    def value(self, name: str, where: str) -> Any:
        """The value of a field that each row of the file must have."""
        if name not in self.fields:
            raise InputError(f"{where}: the row has no field {line(name)}; give every row the same fields")
        return self.fields[name]


@dataclass(frozen=True)
class File:
    """A file's bytes and what its beginning looks like: `kind` is "parquet", "jsonl" or "csv"."""

    source: str
    content: bytes
    kind: str = ""
    fields: tuple[str, ...] = ()

    @cached_property
    def name(self) -> str:
        """The path as a sentence may contain it."""
        return line(self.source)

    def at(self, number: int) -> str:
        """Where a line is, for the beginning of a sentence."""
        return f"{self.name}, line {number}"

    @cached_property
    def text(self) -> str:
        """The content as text."""
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            where = self.at(self.content.count(b"\n", 0, error.start) + 1)
            raise InputError(f"{where}: the text is not UTF-8; save the file as UTF-8") from error


def open_file(path: str | os.PathLike[str]) -> File:
    """Read a file whole and look at its first record.

    Raises
    ------
    InputError
        If the name or the text is not UTF-8, the file cannot be read or is empty, or its first record is broken.
    """
    source = os.fspath(path)
    try:
        source.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"the file name {quoted(source)} is not UTF-8; rename the file") from error
    file = File(source, _read_bytes(source))
    if file.content.startswith(PARQUET_MAGIC):
        return File(source, file.content, "parquet")
    for magic, what in OTHER_MAGIC.items():
        if file.content.startswith(magic):
            raise InputError(f"{file.name} {what}")
    beginning = file.text.lstrip()[:1]
    if not beginning:
        raise InputError(f"{file.name}: the file is empty; give a file with at least one prompt")
    if beginning == "[":
        raise InputError(f"{file.name}: this is a JSON array; write its objects one a line, without the brackets")
    if beginning == "{":
        return File(source, file.content, "jsonl", tuple(next(json_rows(file)).fields))
    return File(source, file.content, "csv", tuple(_header(file, *next(_csv_records(file)))))


def _read_bytes(source: str) -> bytes:
    shown = line(source)
    if not source:
        raise InputError("the name of the file is empty; name a file of rollouts")
    try:
        mode = Path(source).stat().st_mode
        if stat.S_ISDIR(mode):
            raise InputError(f"{shown} is a folder; give one file of it")
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise InputError(f"{shown} is a device; give a file")
        return Path(source).read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"there is no file {shown}; check the path") from error
    except PermissionError as error:
        raise InputError(f"{shown} may not be read by this user; change its permissions") from error
    except OSError as error:
        raise InputError(f"{shown} cannot be read ({error.strerror}); check the path") from error
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{shown} cannot be read ({error}); check the path") from error


class _WrittenTwiceError(ValueError):
    """A key of a JSON object is written twice; the key is the argument."""


def json_rows(file: File) -> Iterator[Row]:
    """One JSON object a line; a blank line is not a row, and a line without an object is refused."""
    for number, text in enumerate(file.text.split("\n"), start=1):
        if text.strip():
            yield Row(number, _json_object(text, file.at(number)))


def _json_object(text: str, where: str) -> dict[str, Any]:
    try:
        value = STRICT_JSON.decode(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: this is not a whole JSON object; mend or remove the line") from error
    except _WrittenTwiceError as error:
        raise InputError(f"{where}: the key {quoted(error.args[0])} is written twice; write it once") from error
    except RecursionError as error:
        raise InputError(f"{where}: the JSON is nested too deeply; write a flat object") from error
    except ValueError as error:
        raise InputError(f"{where}: a whole number has thousands of digits; write a smaller one") from error
    if not isinstance(value, dict):
        raise InputError(f"{where}: this is JSON but not an object; write one {{...}} a line")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _WrittenTwiceError(next(key for key in keys if keys.count(key) > 1))
    return fields


STRICT_JSON = json.JSONDecoder(object_pairs_hook=_unique)


def csv_rows(file: File, names: Collection[str]) -> Iterator[Row]:
    """Rows under a header line.

    A cell of a column in `names` is its text, unchanged: 007 and 7 name different prompts. Other cells become None,
    bool, int or float where they look like one, and stay text elsewhere.
    """
    records = _csv_records(file)
    header = _header(file, *next(records))
    for number, cells in records:
        if len(cells) != len(header):
            raise InputError(f"{file.at(number)}: {len(cells)} cells under {len(header)} columns; mend the line")
        pairs = zip(header, cells, strict=True)
        yield Row(number, {name: _text(cell) if name in names else _cell(cell) for name, cell in pairs})


def _csv_records(file: File) -> Iterator[tuple[int, list[str]]]:
    """Records that are not blank, with the line they start on; a line ends with LF, CR LF or CR."""
    reader = csv.reader(io.StringIO(file.text, newline=""), strict=True)
    start = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{file.at(start)}: broken CSV ({error}); mend the line") from error


def _header(file: File, number: int, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    if len(set(names)) != len(names):
        raise InputError(f"{file.at(number)}: a column name is written twice; give each column its own name")
    return names


def _text(cell: str) -> str | None:
    return cell if cell.strip() else None


def _cell(text: str) -> Any:
    stripped = text.strip()
    lowered = stripped.lower()
    if lowered in MISSING_CELLS:
        return None
    if lowered in ("true", "false"):
        return lowered == "true"
    if WHOLE.fullmatch(stripped):
        return int(stripped)
    return float(stripped) if NUMBER.fullmatch(stripped) else text
