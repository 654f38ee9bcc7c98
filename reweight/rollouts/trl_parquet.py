"""Completions that TRL's GRPOTrainer logs as parquet: one row a completion, one column a reward function."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from reweight.errors import InputError
from reweight.rollouts.correctness import checked_reward
from reweight.rollouts.files import File
from reweight.rollouts.reader import Options
from reweight.rollouts.rewarding import RewardedGroup, count_groups, only_step
from reweight.rollouts.table import Rollouts
from reweight.rollouts.trl_blocks import find_blocks
from reweight.terminal import line, listed, quoted

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "trl-parquet"
HOLDS = "step, prompt, completion, one column a reward function, advantage"
OPTIONS = frozenset({"threshold", "reward", "step"})

FIXED_COLUMNS = ("step", "prompt", "completion", "advantage")
# TRL's own verifier; its column says whether the answer is right, whatever other rewards are added to it.
VERIFIER = "accuracy_reward"


def recognises(file: File) -> bool:
    """Whether the file is a parquet; what it holds is checked on reading."""
    return file.kind == "parquet"


def read(file: File, options: Options) -> Rollouts:
    """Rows are grouped by prompt text, and into blocks where the advantage column tells the group size."""
    table = _table(file)
    places = [f"{file.name}, row {i + 1}" for i in range(table.num_rows)]
    keep, notes, left_out = only_step(file, table.column("step").to_pylist(), places, options.step)
    numeric = _numeric_columns(table)
    column, chosen = _reward_column(file, numeric, options)
    table, places = table.filter(keep), [place for place, wanted in zip(places, keep, strict=True) if wanted]
    prompts = [_prompt(prompt, where) for prompt, where in zip(table.column("prompt").to_pylist(), places, strict=True)]
    rewards = [
        checked_reward(reward, where) for reward, where in zip(_numbers(table, column, file), places, strict=True)
    ]
    size, blocks = find_blocks(
        prompts, {name: _numbers(table, name, file) for name in numeric}, _numbers(table, "advantage", file)
    )
    if size is None:
        by_prompt: dict[str, list[float | bool | None]] = {}
        for prompt, reward in zip(prompts, rewards, strict=True):
            by_prompt.setdefault(prompt, []).append(reward)
        groups = [RewardedGroup(prompt, values) for prompt, values in by_prompt.items()]
    else:
        groups = [RewardedGroup(prompts[i], rewards[i : i + size]) for i in range(0, len(prompts), size)]
    notes = ("a prompt is an equal prompt text", *notes, blocks, chosen)
    return count_groups(file, NAME, groups, notes, left_out, options)


def _table(file: File) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(pa.BufferReader(file.content)).read()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{file.name}: the parquet is truncated or damaged; write or copy it again") from error
    if len(set(table.column_names)) < table.num_columns:
        raise InputError(f"{file.name}: a column name is written twice; give each column its own name")
    missing = [name for name in FIXED_COLUMNS if name not in table.column_names]
    if missing:
        raise InputError(
            f"{file.name}: the parquet has no column {missing[0]}; give a completions file of TRL's GRPOTrainer"
        )
    if table.num_rows == 0:
        raise InputError(f"{file.name}: the parquet has no row; give a file with at least one completion")
    advantage = table.schema.field("advantage").type
    if not (_is_number(advantage) or pa.types.is_null(advantage)):
        kind = line(advantage, 80)
        raise InputError(f"{file.name}: the column advantage holds {kind} and not numbers; write the file again")
    return table


def _prompt(value: Any, where: str) -> str:
    if value is None or value in ("", []):
        raise InputError(f"{where}: the row has no prompt; write the prompt's text")
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        with suppress(TypeError):  # bytes or dates within the messages
            return json.dumps(value, ensure_ascii=False, sort_keys=True)
    raise InputError(f"{where}: the prompt {quoted(value)} is neither a text nor a list of messages; write one of both")


def _numeric_columns(table: pa.Table) -> list[str]:
    return [field.name for field in table.schema if field.name not in FIXED_COLUMNS and _is_number(field.type)]


def _is_number(kind: pa.DataType) -> bool:
    import pyarrow.types as types

    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind))


def _numbers(table: pa.Table, name: str, file: File) -> list[float | bool | None]:
    """A column as floats, or as bools where it holds these."""
    import pyarrow as pa

    column = table.column(name)
    if pa.types.is_boolean(column.type):
        return list(column.to_pylist())
    try:
        return list(column.cast(pa.float64()).to_pylist())
    except pa.ArrowInvalid as error:
        raise InputError(
            f"{file.name}: the column {line(name)} has more digits than a float holds; write fewer"
        ) from error


def _reward_column(file: File, numeric: list[str], options: Options) -> tuple[str, str]:
    if options.reward is not None:
        if options.reward not in numeric:
            raise InputError(
                f"{file.name}: there is no reward column {quoted(options.reward)}; choose one of {listed(numeric)}"
            )
        return options.reward, f"correctness is judged by the column {line(options.reward)} (--reward)"
    if len(numeric) == 1:
        return numeric[0], f"correctness is judged by the only reward column, {line(numeric[0])}"
    if VERIFIER in numeric:
        others = listed(name for name in numeric if name != VERIFIER)
        return VERIFIER, f"correctness is judged by {VERIFIER}, TRL's own verifier, and not by {others}"
    if not numeric:
        raise InputError(f"{file.name}: there is no reward column; give a completions file of TRL's GRPOTrainer")
    raise InputError(
        f"{file.name}: there are {len(numeric)} reward columns ({listed(numeric)}) and none is known to mean "
        "correct; choose one with --reward"
    )
