"""Rewards as parquet: the columns prompt_id and reward (of one sample), or rewards (a list, of one group)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reweight.rollouts.correctness import checked_reward
from reweight.rollouts.files import File
from reweight.rollouts.parquet_rows import batches, columns, is_number, numbers, parquet_rows
from reweight.rollouts.reader import GROUP_FIELD, ID_FIELDS, Names, Options, first_of, unused_fields
from reweight.rollouts.rewarding import REWARD_FIELDS, holds_rewards, read_rewards
from reweight.rollouts.steps import STEP_FIELD
from reweight.rollouts.table import Rollouts
from reweight.rollouts.tally import Tally
from reweight.terminal import line

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "rewards-parquet"
HOLDS = "the columns prompt_id and reward, or rewards (a list)"
OPTIONS = frozenset({"threshold", "merge", "reward", "step", "all_steps"})


def recognises(file: File) -> bool:
    """Whether the columns name a prompt and a reward."""
    return file.kind == "parquet" and holds_rewards(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Each list of rewards is one group; single rewards are gathered by prompt."""
    types = columns(file)
    id_field, field = first_of(ID_FIELDS, types), options.reward or first_of(REWARD_FIELDS, types)
    if id_field is None or field not in types or not _plain(types, id_field, field):
        return read_rewards(file, parquet_rows(file), NAME, options)
    tally, ids = Tally(file, options), Names("prompt id")
    for prompt, reward, times in _pairs(file, id_field, field):
        where = f"{file.name}, column {line(id_field)}"
        tally.add(ids.of(prompt, where), checked_reward(reward, where), times=times)
    rest = unused_fields(types, (id_field, field))
    return tally.rollouts(NAME, (f"{line(field)} is the reward of one sample", *rest), [])


def _plain(types: dict[str, pa.DataType], id_field: str, field: str) -> bool:
    """Whether names and rewards are of types that can be counted column by column, without groups or steps."""
    import pyarrow as pa

    name = types[id_field]
    named = is_number(name) or pa.types.is_string(name) or pa.types.is_large_string(name)
    return named and is_number(types[field]) and not {GROUP_FIELD, STEP_FIELD} & set(types)


def _pairs(file: File, id_field: str, field: str) -> Iterator[tuple[object, float | bool | None, int]]:
    """Prompt, reward and how often the two stand together in a batch, so that Python sees each pair once."""
    import pyarrow as pa

    for batch in batches(file, (id_field, field)):
        grouped = pa.table(batch).group_by([id_field, field], use_threads=False).aggregate([([], "count_all")])
        rewards = numbers(grouped.column(field), field, file)
        times = grouped.column("count_all").to_pylist()
        yield from zip(_values(grouped.column(id_field)), rewards, times, strict=True)


def _values(column: pa.ChunkedArray) -> list[object]:
    return list(column.to_pylist())
