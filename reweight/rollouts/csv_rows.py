"""Records of a CSV file under a header line."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.files import LONGEST_LINE, File, Row

__all__ = ["csv_rows", "header"]

WHOLE = re.compile(r"[+-]?[0-9]{1,400}")
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
MISSING_CELLS = frozenset({"", "nan", "null", "none"})


def csv_rows(file: File, names: Collection[str]) -> Iterator[Row]:
    """Rows under a header line.

    A cell of a column in `names` is its text, unchanged: 007 and 7 name different prompts. Other cells become None,
    bool, int or float where they look like one, and stay text elsewhere.
    """
    records = _records(file)
    columns = _columns(file, *next(records))
    for number, cells in records:
        if len(cells) != len(columns):
            raise InputError(f"{file.at(number)}: {len(cells)} cells under {len(columns)} columns; mend the line")
        pairs = zip(columns, cells, strict=True)
        yield Row(number, {name: _text(cell) if name in names else _cell(cell) for name, cell in pairs})


def header(file: File) -> tuple[str, ...]:
    """Names of the columns."""
    return tuple(_columns(file, *next(_records(file))))


def _records(file: File) -> Iterator[tuple[int, list[str]]]:
    """Records of lines that are not blank, with the line they start on; a line ends with LF, CR LF or CR."""
    with file.open() as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(_bounded(file, text), strict=True)
        start = 1
        try:
            for cells in reader:
                if len(cells) > 1 or any(cell.strip() for cell in cells):
                    yield start, cells
                start = reader.line_num + 1
        except csv.Error as error:
            raise InputError(f"{file.at(start)}: broken CSV ({error}); mend the line") from error
        except UnicodeDecodeError as error:
            raise file.not_utf8(_first_undecodable(file)) from error


def _bounded(file: File, text: io.TextIOWrapper) -> Iterator[str]:
    number = 0
    while chunk := text.readline(LONGEST_LINE + 1):
        number += 1
        if len(chunk) > LONGEST_LINE:
            raise InputError(f"{file.at(number)}: the line has more than {LONGEST_LINE >> 20} MiB; split it")
        yield chunk


def _first_undecodable(file: File) -> int:
    """The line where the text stops being UTF-8, counted by LF."""
    with file.open() as stream:
        number = 0
        while raw := stream.readline(LONGEST_LINE + 1):
            number += 1
            try:
                raw.decode("utf-8")
            except UnicodeDecodeError:
                break
    return number


def _columns(file: File, number: int, cells: list[str]) -> list[str]:
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
