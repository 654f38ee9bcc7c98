"""Rows of finished counts: a prompt id, the samples drawn, the samples that were correct."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.files import File, Row
from reweight.rollouts.reader import ID_FIELDS, Options, first_of, prompt_id, unused_fields
from reweight.rollouts.table import Group, Rollouts

__all__ = ["holds_counts", "read_counts"]

SAMPLES_FIELDS = ("n", "total", "k")
CORRECT_FIELDS = ("c", "correct", "num_correct")


def holds_counts(fields: Iterable[str]) -> bool:
    """Whether a prompt id, a number of samples and a number of correct ones are among the fields."""
    present = set(fields)
    return all(first_of(names, present) for names in (ID_FIELDS, SAMPLES_FIELDS, CORRECT_FIELDS))


def read_counts(file: File, rows: Iterable[Row], format_name: str, options: Options) -> Rollouts:
    """One group a row; a prompt that comes twice is refused unless `options.merge`."""
    groups: list[Group] = []
    lines: dict[str, int] = {}
    merged = 0
    seen: dict[str, None] = {}
    used: set[str | None] = set()
    for row in rows:
        where = f"{file.source}, line {row.line}"
        seen.update(dict.fromkeys(row.fields))
        id_field = first_of(ID_FIELDS, row.fields)
        n_field = first_of(SAMPLES_FIELDS, row.fields)
        c_field = first_of(CORRECT_FIELDS, row.fields)
        used |= {id_field, n_field, c_field}
        prompt = prompt_id(row.fields[id_field] if id_field else None, where)
        n = _count(row.fields, n_field, "n", where)
        c = _count(row.fields, c_field, "c", where)
        if n == 0:
            raise InputError(f"{where}: n = 0, so nothing was sampled from this prompt; remove the line")
        if c > n:
            raise InputError(f"{where}: c = {c} correct of only n = {n} samples; give 0 <= c <= n")
        if prompt in lines:
            if not options.merge:
                raise InputError(
                    f"{file.source}: prompt {prompt!r} is on line {lines[prompt]} and again on line {row.line}; "
                    "remove one, or add them with --merge"
                )
            merged += 1
        lines.setdefault(prompt, row.line)
        groups.append(Group(prompt, n, c))
    if not groups:
        raise InputError(f"{file.source}: there is no row under the header; give at least one prompt")
    understood: tuple[str, ...] = ("each row is a prompt with its number of samples and of correct samples",)
    if merged:
        understood += (f"{merged} rows repeat a prompt and were added to its first row (--merge)",)
    return Rollouts(file.source, format_name, tuple(groups), understood + unused_fields(seen, used))


def _count(fields: dict[str, Any], name: str | None, meaning: str, where: str) -> int:
    if name is None:
        raise InputError(f"{where}: the row has no field {meaning}; write the number of {_LONG[meaning]}")
    value = fields[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{where}: {name} = {value!r} is not a number; write the number of {_LONG[meaning]}")
    if value != value or value in (float("inf"), float("-inf")) or value != int(value):
        raise InputError(f"{where}: {name} = {value!r} is not a whole number; write the number of {_LONG[meaning]}")
    if value < 0:
        raise InputError(f"{where}: {name} = {value} is negative; write the number of {_LONG[meaning]}")
    return int(value)


_LONG = {"n": "samples", "c": "correct samples"}
