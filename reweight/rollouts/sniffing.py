"""What the beginning of a file looks like: its kind and the fields of its first record."""

from __future__ import annotations

import os
from dataclasses import replace

from reweight.errors import InputError
from reweight.rollouts.csv_rows import header
from reweight.rollouts.documents import keys
from reweight.rollouts.files import CHUNK, LONGEST_LINE, File, as_path
from reweight.rollouts.strict_json import decoded, json_object

__all__ = ["open_file"]

MAGIC_BYTES = 8
PARQUET = b"PAR1"
ZIP = b"PK\x03\x04"
UNPACK = {
    b"\x1f\x8b": "is compressed with gzip; unpack it first",
    b"BZh": "is compressed with bzip2; unpack it first",
    b"\xfd7zXZ": "is compressed with xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it first",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}


def open_file(path: str | os.PathLike[str]) -> File:
    """Look at the first record of a file.

    Raises
    ------
    InputError
        If the name or the text is not UTF-8, the file cannot be read or is empty, or its first record is broken.
    """
    file = as_path(path)
    if file.kind == "folder":
        return file
    with file.open() as stream:
        magic = stream.read(MAGIC_BYTES)
    if magic.startswith(PARQUET):
        from reweight.rollouts.parquet_rows import columns

        file = replace(file, kind="parquet")
        return replace(file, fields=tuple(columns(file)))
    if magic.startswith(ZIP):
        return replace(file, kind="zip")
    for start, what in UNPACK.items():
        if magic.startswith(start):
            raise InputError(f"{file.name} {what}")
    return _text(file)


def _text(file: File) -> File:
    number, first, cut = _first_line(file)
    if first[0] in "{[":
        return _json(file, number, first, cut)
    file = replace(file, kind="csv")
    return replace(file, fields=header(file))


def _first_line(file: File) -> tuple[int, str, bool]:
    """Number and text of the first line that is not blank, and whether it goes on beyond the longest one."""
    with file.open() as stream:
        number = 0
        while raw := stream.readline(LONGEST_LINE):
            number += 1
            cut = len(raw) == LONGEST_LINE
            try:
                text = raw.decode("utf-8-sig", "ignore" if cut else "strict").strip()
            except UnicodeDecodeError as error:
                raise file.not_utf8(number) from error
            if text:
                return number, text, cut
    raise InputError(f"{file.name}: the file is empty; give a file with at least one prompt")


def _json(file: File, number: int, first: str, cut: bool) -> File:
    array = first.startswith("[")
    file = replace(file, kind="json", layout="array" if array else "lines")
    if not (array or cut):
        try:
            return replace(file, fields=tuple(json_object(first, file.at(number))))
        except InputError as broken:
            file = replace(file, layout="document")
            if file.size <= CHUNK and not _is_json(file):  # else it is a document over several lines
                raise broken from None
    with file.open() as stream:
        found = keys(stream.read(CHUNK).removeprefix(b"\xef\xbb\xbf"), file.layout)
    if not found and not array:
        raise InputError(f"{file.at(number)}: this is not a whole JSON object; mend or remove the line")
    return replace(file, layout=file.layout if array else "document", fields=found)


def _is_json(file: File) -> bool:
    try:
        decoded(file.text, file.name, "mend it")
    except InputError:
        return False
    return True
