"""Rows with the number of samples of each reward: {"id", "counts": {"0": 5, "1": 3}}, or id, reward and count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.correctness import checked_reward
from reweight.rollouts.files import File, Row
from reweight.rollouts.reader import ID_FIELDS, Names, Options, first_of, unused_fields
from reweight.rollouts.table import MOST_SAMPLES, Rollouts
from reweight.rollouts.tally import Tally
from reweight.terminal import line, quoted

__all__ = ["holds_level_counts", "read_level_counts"]

LEVEL_FIELD, TIMES_FIELD, TABLE_FIELD = "reward", "count", "counts"
WORDS = {"true": True, "false": False}


def holds_level_counts(fields: Iterable[str]) -> bool:
    """Whether a prompt id is among the fields, with a table of counts or a reward and its count."""
    present = set(fields)
    return first_of(ID_FIELDS, present) is not None and (
        TABLE_FIELD in present or {LEVEL_FIELD, TIMES_FIELD} <= present
    )


def read_level_counts(file: File, rows: Iterable[Row], format_name: str, options: Options) -> Rollouts:
    """Add up the samples of each prompt and reward; a pair that comes twice is refused without merge."""
    options.check({"merge", "threshold"}, file.name, format_name)
    tally, ids = Tally(file, options), Names("prompt id")
    as_table = TABLE_FIELD in file.fields
    id_field = first_of(ID_FIELDS, file.fields) or ID_FIELDS[0]
    used = (TABLE_FIELD,) if as_table else (LEVEL_FIELD, TIMES_FIELD)
    lines: dict[tuple[str, Any], int] = {}
    seen: dict[str, None] = {}
    for row in rows:
        where = file.at(row.line)
        seen.update(dict.fromkeys(row.fields))
        prompt = ids.of(row.value(id_field, where), where)
        tally.open(prompt)
        for reward, times in _levels(row, as_table, where):
            before = lines.setdefault((prompt, reward), row.line)
            if before != row.line and not options.merge:
                raise InputError(
                    f"{file.name}: prompt {quoted(prompt)} has the reward {quoted(reward)} on line {before} and again "
                    f"on line {row.line}; remove one, or add them with --merge"
                )
            if times:
                tally.add(prompt, reward, times=times)
    how = f"{line(used[-1])} is the number of samples of a reward"
    return tally.rollouts(format_name, (how, *unused_fields(seen, (id_field, *used))), [])


def _levels(row: Row, as_table: bool, where: str) -> Iterator[tuple[float | bool | None, int]]:
    """Each reward of a row with its number of samples."""
    if not as_table:
        yield checked_reward(row.value(LEVEL_FIELD, where), where), _times(row.value(TIMES_FIELD, where), where)
        return
    table = row.value(TABLE_FIELD, where)
    if not isinstance(table, dict):
        raise InputError(f"{where}: {TABLE_FIELD} is {quoted(table)}; write an object {{reward: samples}}")
    for name, times in table.items():
        if times is not None:  # a column of structs in parquet holds every reward in every row
            yield checked_reward(_number(name, where), where), _times(times, where)


def _number(name: str, where: str) -> float | bool | None:
    word = name.strip().lower()
    if word in WORDS:
        return WORDS[word]
    if word in ("null", "none"):
        return None
    try:
        return float(word)
    except ValueError as error:
        raise InputError(f"{where}: the reward {quoted(name)} is not a number; write one, or true or false") from error


def _times(value: Any, where: str) -> int:
    whole = (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and value.is_integer()
    )
    if not whole or not 0 <= value <= MOST_SAMPLES:
        raise InputError(f"{where}: {quoted(value)} is not a number of samples; write a whole number up to 1e9")
    return int(value)
