"""Rows of finished counts: a prompt id, the samples drawn, the samples that were correct."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np

from reweight.errors import InputError
from reweight.rollouts.files import File, Row
from reweight.rollouts.level_counting import holds_level_counts, read_level_counts
from reweight.rollouts.reader import ID_FIELDS, Names, Options, first_of, unused_fields
from reweight.rollouts.table import MOST_SAMPLES, Groups, Rollouts
from reweight.terminal import line, quoted

__all__ = ["holds_counts", "read_counts"]

SAMPLES_FIELDS = ("n", "total", "k")
CORRECT_FIELDS = ("c", "correct", "num_correct")
WANTED = (
    (ID_FIELDS, "prompt id"),
    (SAMPLES_FIELDS, "number of samples"),
    (CORRECT_FIELDS, "number of correct samples"),
)


def holds_counts(fields: Iterable[str]) -> bool:
    """Whether a prompt id and its samples and correct samples, or the samples of each reward, are among the fields."""
    present = set(fields)
    return all(first_of(names, present) for names, _ in WANTED) or holds_level_counts(present)


def read_counts(file: File, rows: Iterable[Row], format_name: str, options: Options) -> Rollouts:
    """One group a row, by the field names of the first row; a prompt that comes twice is refused without merge."""
    if holds_level_counts(file.fields):
        return read_level_counts(file, rows, format_name, options)
    options.check({"merge"}, file.name, format_name)
    lines: dict[str, int] = {}
    places: dict[str, int] = {}
    prompt, samples, correct = array("q"), array("q"), array("q")
    seen: dict[str, None] = {}
    used: tuple[str, ...] = ()
    ids = Names("prompt id")
    for row in rows:
        where = file.at(row.line)
        used = used or tuple(_named(row, names, meaning, where) for names, meaning in WANTED)
        seen.update(dict.fromkeys(row.fields))
        name, n, c = _checked(row, used, ids, where)
        if name in lines and not options.merge:
            raise InputError(
                f"{file.name}: prompt {quoted(name)} is on line {lines[name]} and again on line {row.line}; "
                "remove one, or add them with --merge"
            )
        lines.setdefault(name, row.line)
        prompt.append(places.setdefault(name, len(places)))
        samples.append(n)
        correct.append(c)
    if not prompt:
        raise InputError(f"{file.name}: there is no row under the header; give at least one prompt")
    understood: tuple[str, ...] = ("each row is a prompt with its number of samples and of correct samples",)
    if len(prompt) > len(lines):
        understood += (f"{len(prompt) - len(lines)} rows repeat a prompt and were added to its first row (--merge)",)
    groups = Groups(tuple(places), *(np.array(column, np.int64) for column in (prompt, samples, correct)))
    return Rollouts(file.source, format_name, groups, understood + unused_fields(seen, used))


def _checked(row: Row, used: tuple[str, ...], ids: Names, where: str) -> tuple[str, int, int]:
    """Prompt, samples and correct samples of a row."""
    id_field, n_field, c_field = used
    prompt = ids.of(row.value(id_field, where), where)
    n = _count(row.value(n_field, where), n_field, WANTED[1][1], where)
    c = _count(row.value(c_field, where), c_field, WANTED[2][1], where)
    if n == 0:
        raise InputError(f"{where}: n = 0, so nothing was sampled from this prompt; remove the line")
    if c > n:
        raise InputError(f"{where}: c = {c} correct of only n = {n} samples; give 0 <= c <= n")
    return prompt, n, c


def _named(row: Row, names: tuple[str, ...], meaning: str, where: str) -> str:
    found = first_of(names, row.fields)
    if found is None:
        raise InputError(f"{where}: the row has no field {names[0]}; write the {meaning}")
    return found


def _count(value: Any, name: str, meaning: str, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        problem = "is not a number"
    elif isinstance(value, float) and not value.is_integer():
        problem = "is not a whole number"
    elif value < 0:
        problem = "is negative"
    elif value > MOST_SAMPLES:
        problem = "is more than 1e9"
    else:
        return int(value)
    raise InputError(f"{where}: {line(name)} = {quoted(value)} {problem}; write the {meaning} of this prompt")
