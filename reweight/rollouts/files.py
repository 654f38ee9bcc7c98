"""From a path to a stream of bytes or of text; every way this can fail is one sentence."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from reweight.errors import InputError
from reweight.terminal import line, quoted

__all__ = ["LONGEST_LINE", "MOST_TEXT", "File", "Row", "as_path", "opened"]

LONGEST_LINE = 2**26
"""Bytes of one line; a row is read whole, so this bounds the memory that a row takes."""

MOST_TEXT = 2**28
"""Bytes of a file that may be read as one text."""

CHUNK = 2**20


@dataclass(frozen=True)
class Row:
    """One record of a file with the line it starts on (in an array its position), counted from 1."""

    line: int
    fields: dict[str, Any]

    def value(self, name: str, where: str) -> Any:
        """The value of a field that each row of the file must have."""
        if name not in self.fields:
            raise InputError(f"{where}: the row has no field {line(name)}; give every row the same fields")
        return self.fields[name]


@dataclass(frozen=True)
class File:
    """A file, or a folder of files, and what its beginning looks like; nothing of it is held in memory.

    Parameters
    ----------
    source : str
        The path as it was given.
    path : str
        Where the bytes are: the same, or a copy of what came through a pipe.
    kind : str
        "parquet", "json", "csv", "zip", or "folder".
    fields : tuple of str
        Keys of the first object, names of the columns, or of the folder's files.
    layout : str
        Of "json" alone: "lines", "array", or "document" (one object over several lines).
    """

    source: str
    path: str
    kind: str = ""
    fields: tuple[str, ...] = ()
    layout: str = ""
    _copy: object = field(default=None, repr=False, compare=False)

    @cached_property
    def name(self) -> str:
        """The path as a sentence may contain it."""
        return line(self.source)

    def at(self, number: int) -> str:
        """Where a row is, for the beginning of a sentence."""
        unit = "row" if self.kind == "parquet" else "item" if self.layout == "array" else "line"
        return f"{self.name}, {unit} {number}"

    def open(self) -> IO[bytes]:
        """The bytes from their beginning."""
        return opened(self.path, self.name)

    @property
    def size(self) -> int:
        """Number of bytes."""
        return Path(self.path).stat().st_size

    @property
    def text(self) -> str:
        """The whole content as text.

        Raises
        ------
        InputError
            If there is more than a small file holds, or it is not UTF-8.
        """
        if self.size > MOST_TEXT:
            raise InputError(f"{self.name}: the file has more than {MOST_TEXT >> 20} MiB; give a part of it")
        with self.open() as stream:
            content = stream.read()
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise self.not_utf8(content.count(b"\n", 0, error.start) + 1) from error

    def lines(self) -> Iterator[tuple[int, str]]:
        """Lines that are not blank, with their numbers from 1; LF or CR LF ends one."""
        with self.open() as stream:
            number = 0
            while raw := stream.readline(LONGEST_LINE + 1):
                number += 1
                if len(raw) > LONGEST_LINE:
                    raise InputError(f"{self.at(number)}: the line has more than {LONGEST_LINE >> 20} MiB; split it")
                try:
                    text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise self.not_utf8(number) from error
                if text.strip():
                    yield number, text

    def not_utf8(self, number: int) -> InputError:
        """The sentence on a line that is not text."""
        return InputError(f"{self.at(number)}: the text is not UTF-8; save the file as UTF-8")


def as_path(path: str | os.PathLike[str]) -> File:
    """The file at a path, unopened; what comes through a pipe is copied first, so that it can be read twice.

    Raises
    ------
    InputError
        If the name is not UTF-8, or there is no file, or it cannot be read.
    """
    source = os.fspath(path)
    try:
        source.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"the file name {quoted(source)} is not UTF-8; rename the file") from error
    if not source:
        raise InputError("the name of the file is empty; name a file of rollouts")
    shown = line(source)
    try:
        mode = Path(source).stat().st_mode
    except (OSError, ValueError) as error:
        raise _unreadable(shown, error) from error
    if stat.S_ISDIR(mode):
        return File(source, source, "folder", _names_in(source, shown))
    if stat.S_ISFIFO(mode):
        copy = _copied(source, shown)
        return File(source, copy.name, _copy=copy)
    if not stat.S_ISREG(mode):
        raise InputError(f"{shown} is a device; give a file")
    return File(source, source)


def opened(path: str, shown: str) -> IO[bytes]:
    """Open for reading, or say in one sentence why not."""
    try:
        return Path(path).open("rb")
    except (OSError, ValueError) as error:
        raise _unreadable(shown, error) from error


def _names_in(folder: str, shown: str) -> tuple[str, ...]:
    try:
        return tuple(sorted(entry.name for entry in Path(folder).iterdir()))
    except OSError as error:
        raise _unreadable(shown, error) from error


def _copied(source: str, shown: str) -> tempfile._TemporaryFileWrapper[bytes]:
    copy = tempfile.NamedTemporaryFile(prefix="reweight-")  # noqa: SIM115 - lives as long as the File
    with opened(source, shown) as stream:
        while chunk := stream.read(CHUNK):
            copy.write(chunk)
    copy.flush()
    return copy


def _unreadable(shown: str, error: OSError | ValueError) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError(f"there is no file {shown}; check the path")
    if isinstance(error, PermissionError):
        return InputError(f"{shown} may not be read by this user; change its permissions")
    reason = error.strerror if isinstance(error, OSError) else error
    return InputError(f"{shown} cannot be read ({reason}); check the path")
