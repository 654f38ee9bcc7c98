"""Seeded damage to rows and to bytes, to see that a reader refuses it in one sentence or counts what it leaves out."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["BYTES", "ROWS", "damaged_bytes", "damaged_rows"]

Row = dict[str, Any]
STRANGE: tuple[Any, ...] = (
    None, True, False, "", " ", "0", "abc", "\u202e\x1b[31m", "\ud800", -1, 0, 2, 0.5, 1e308, -1e308, 10**30, 2**53 + 1,
    math.nan, math.inf, [], [[]], [None], [math.nan], {}, {"a": {"b": [1]}}, b"bytes",
)  # fmt: skip


def _keys(rows: Sequence[Row], rng: np.random.Generator) -> tuple[int, str]:
    place = int(rng.integers(len(rows)))
    return place, str(rng.choice(sorted(rows[place])))


def _strange_value(rows: list[Row], rng: np.random.Generator) -> None:
    place, key = _keys(rows, rng)
    rows[place][key] = STRANGE[int(rng.integers(len(STRANGE)))]


def _strange_column(rows: list[Row], rng: np.random.Generator) -> None:
    _, key = _keys(rows, rng)
    value = STRANGE[int(rng.integers(len(STRANGE)))]
    for row in rows:
        row[key] = value


def _missing_key(rows: list[Row], rng: np.random.Generator) -> None:
    place, key = _keys(rows, rng)
    del rows[place][key]


def _missing_column(rows: list[Row], rng: np.random.Generator) -> None:
    _, key = _keys(rows, rng)
    for row in rows:
        row.pop(key, None)


def _renamed_column(rows: list[Row], rng: np.random.Generator) -> None:
    _, key = _keys(rows, rng)
    for row in rows:
        if key in row:
            row[key + "_"] = row.pop(key)


def _swapped_values(rows: list[Row], rng: np.random.Generator) -> None:
    place, key = _keys(rows, rng)
    other = str(rng.choice(sorted(rows[place])))
    rows[place][key], rows[place][other] = rows[place][other], rows[place][key]


def _text_for_number(rows: list[Row], rng: np.random.Generator) -> None:
    place, key = _keys(rows, rng)
    rows[place][key] = str(rows[place][key])


def _wrapped_value(rows: list[Row], rng: np.random.Generator) -> None:
    place, key = _keys(rows, rng)
    rows[place][key] = [rows[place][key]]


def _extra_key(rows: list[Row], rng: np.random.Generator) -> None:
    rows[int(rng.integers(len(rows)))]["unheard of\x1b"] = STRANGE[int(rng.integers(len(STRANGE)))]


def _repeated_row(rows: list[Row], rng: np.random.Generator) -> None:
    rows.append(copy.deepcopy(rows[int(rng.integers(len(rows)))]))


def _no_row(rows: list[Row], rng: np.random.Generator) -> None:
    del rows[int(rng.integers(2)) :]


ROWS: tuple[Callable[[list[Row], np.random.Generator], None], ...] = (
    _strange_value, _strange_value, _strange_value, _strange_column, _missing_key, _missing_column, _renamed_column,
    _swapped_values, _text_for_number, _wrapped_value, _extra_key, _repeated_row, _no_row,
)  # fmt: skip


def damaged_rows(rows: Sequence[Row], seed: int) -> list[Row]:
    """Return a copy of some rows with one or two things wrong."""
    rng = np.random.default_rng(seed)
    copied = copy.deepcopy(list(rows))
    for _ in range(int(rng.integers(1, 3))):
        if copied and copied[0]:
            ROWS[int(rng.integers(len(ROWS)))](copied, rng)
    return copied


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content)))]


def _beheaded(content: bytes, rng: np.random.Generator) -> bytes:
    return content[int(rng.integers(1, len(content))) :]


def _flipped(content: bytes, rng: np.random.Generator) -> bytes:
    array = np.frombuffer(content, np.uint8).copy()
    places = rng.integers(array.size, size=int(rng.integers(1, 9)))
    array[places] ^= rng.integers(1, 256, places.size).astype(np.uint8)
    return array.tobytes()


def _inserted(content: bytes, rng: np.random.Generator) -> bytes:
    place = int(rng.integers(len(content)))
    what = (b"\x00", b"\xff\xfe", b'"', b"{", b"]", b"\r", b"\n\n\n", b"9" * 5000, b"\xef\xbb\xbf", b"[" * 3000)
    return content[:place] + what[int(rng.integers(len(what)))] + content[place:]


def _removed(content: bytes, rng: np.random.Generator) -> bytes:
    place = int(rng.integers(len(content)))
    return content[:place] + content[place + int(rng.integers(1, 40)) :]


def _doubled(content: bytes, rng: np.random.Generator) -> bytes:
    return content * int(rng.integers(2, 4))


def _zeroed(content: bytes, rng: np.random.Generator) -> bytes:
    place = int(rng.integers(len(content)))
    size = int(rng.integers(1, 60))
    return content[:place] + bytes(len(content[place : place + size])) + content[place + size :]


def _line_ends(content: bytes, rng: np.random.Generator) -> bytes:
    return content.replace(b"\n", (b"\r\n", b"\r", b"\x0b", b"\n\x00")[int(rng.integers(4))])


BYTES: tuple[Callable[[bytes, np.random.Generator], bytes], ...] = (
    _cut, _cut, _beheaded, _flipped, _flipped, _inserted, _inserted, _removed, _doubled, _zeroed, _line_ends,
)  # fmt: skip


def damaged_bytes(content: bytes, seed: int) -> bytes:
    """Return the content of a file after an accident."""
    rng = np.random.default_rng(seed)
    return BYTES[int(rng.integers(len(BYTES)))](content, rng)
