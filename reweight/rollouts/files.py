"""From a path to bytes, and from bytes to numbered rows; every way this can fail is one sentence."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reweight.errors import InputError

__all__ = ["File", "Row", "csv_rows", "json_rows", "open_file"]

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
MISSING_CELLS = frozenset({"", "nan", "null", "none"})
PARQUET_MAGIC = b"PAR1"


@dataclass(frozen=True)
class Row:
    """One record of a file with the line it starts on, counted from 1."""

    line: int
    fields: dict[str, Any]


@dataclass(frozen=True)
class File:
    """A file's bytes and what its beginning looks like: `kind` is "parquet", "jsonl" or "csv"."""

    source: str
    content: bytes
    kind: str
    fields: tuple[str, ...]

    def text(self) -> str:
        """The content as text."""
        try:
            return self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.content.count(b"\n", 0, error.start) + 1
            raise InputError(f"{self.source}, line {line}: the text is not UTF-8; save the file as UTF-8") from error


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
        raise InputError(f"the file name {source!a} is not UTF-8; rename the file") from error
    content = _read_bytes(source)
    if not content.strip():
        raise InputError(f"{source}: the file is empty; give a file with at least one prompt")
    if content.startswith(PARQUET_MAGIC):
        return File(source, content, "parquet", ())
    file = File(source, content, "", ())
    text = file.text().lstrip()
    if text.startswith("{"):
        return File(source, content, "jsonl", tuple(next(json_rows(file)).fields))
    header = next(csv.reader(io.StringIO(text)))
    return File(source, content, "csv", tuple(name.strip() for name in header))


def _read_bytes(source: str) -> bytes:
    try:
        mode = Path(source).stat().st_mode
        if stat.S_ISDIR(mode):
            raise InputError(f"{source} is a folder; give one file of it")
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise InputError(f"{source} is a device; give a file")
        return Path(source).read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"there is no file {source}; check the path") from error
    except PermissionError as error:
        raise InputError(f"{source} may not be read by this user; change its permissions") from error
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{source!r} cannot be read ({error}); check the path") from error


def json_rows(file: File) -> Iterator[Row]:
    """One JSON object a line; a blank line is not a row, and a line without an object is refused."""
    for number, line in enumerate(file.text().split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line, object_pairs_hook=_unique)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{file.source}, line {number}: this is not a whole JSON object; mend or remove the line"
            ) from error
        if not isinstance(value, dict):
            raise InputError(f"{file.source}, line {number}: this is JSON but not an object; write one {{...}} a line")
        yield Row(number, value)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key is written twice")
    return fields


def csv_rows(file: File) -> Iterator[Row]:
    """Rows under a header line; cells become None, bool, int, float or stay text."""
    reader = csv.reader(io.StringIO(file.text(), newline=""), strict=True)
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = _header(file, cells)
                continue
            if len(cells) != len(header):
                where = f"{file.source}, line {reader.line_num}"
                raise InputError(f"{where}: {len(cells)} cells under {len(header)} columns; mend the line")
            yield Row(reader.line_num, {name: _cell(cell) for name, cell in zip(header, cells, strict=True)})
    except csv.Error as error:
        raise InputError(f"{file.source}, line {reader.line_num}: broken CSV ({error}); mend the line") from error


def _header(file: File, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    if len(set(names)) != len(names):
        raise InputError(f"{file.source}, line 1: a column name is written twice; give each column its own name")
    return names


def _cell(text: str) -> Any:
    stripped = text.strip()
    lowered = stripped.lower()
    if lowered in MISSING_CELLS:
        return None
    if lowered in ("true", "false"):
        return lowered == "true"
    if NUMBER.fullmatch(stripped):
        return int(stripped) if stripped.lstrip("+-").isdigit() and len(stripped) < 20 else float(stripped)
    return text
