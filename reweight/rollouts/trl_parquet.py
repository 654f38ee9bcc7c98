"""Completions that TRL's GRPOTrainer logs as parquet: one row a completion, one column a reward function."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from reweight.errors import InputError
from reweight.rollouts.correctness import checked_reward
from reweight.rollouts.files import File
from reweight.rollouts.reader import Options
from reweight.rollouts.rewarding import RewardedGroup, count_groups, only_step
from reweight.rollouts.table import LeftOut, Rollouts
from reweight.rollouts.trl_blocks import find_blocks

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
    columns = {name: table.column(name).to_pylist() for name in table.column_names if name != "completion"}
    keep, notes = only_step(file.source, columns["step"], options.step)
    rows = [i for i, wanted in enumerate(keep) if wanted]
    left_out = [LeftOut("rows of other steps", len(keep) - len(rows))] if len(rows) < len(keep) else []
    prompts = [_prompt(columns["prompt"][i], f"{file.source}, row {i + 1}") for i in rows]
    numeric = _numeric_columns(table)
    column, chosen = _reward_column(file, numeric, options)
    rewards = [checked_reward(columns[column][i], f"{file.source}, row {i + 1}") for i in rows]
    size, blocks = find_blocks(
        prompts,
        {name: [columns[name][i] for i in rows] for name in numeric},
        [columns["advantage"][i] for i in rows],
    )
    if size is None:
        by_prompt: dict[str, list[float | bool | None]] = {}
        for prompt, reward in zip(prompts, rewards, strict=True):
            by_prompt.setdefault(prompt, []).append(reward)
        groups = [RewardedGroup(prompt, values) for prompt, values in by_prompt.items()]
    else:
        groups = [RewardedGroup(prompts[i], rewards[i : i + size]) for i in range(0, len(rows), size)]
    notes = ("a prompt is an equal prompt text", *notes, blocks, chosen)
    return count_groups(file.source, NAME, groups, notes, left_out, options)


def _table(file: File) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(file.content))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file.source}: the parquet is truncated or damaged; write or copy it again") from error
    missing = [name for name in FIXED_COLUMNS if name not in table.column_names]
    if missing:
        raise InputError(
            f"{file.source}: the parquet has no column {missing[0]}; give a completions file of TRL's GRPOTrainer"
        )
    if table.num_rows == 0:
        raise InputError(f"{file.source}: the parquet has no row; give a file with at least one completion")
    return table


def _prompt(value: Any, where: str) -> str:
    if value is None or value == "" or value == []:
        raise InputError(f"{where}: the row has no prompt; write the prompt's text")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _numeric_columns(table: pa.Table) -> list[str]:
    import pyarrow.types as types

    def is_number(kind: pa.DataType) -> bool:
        return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind))

    return [field.name for field in table.schema if field.name not in FIXED_COLUMNS and is_number(field.type)]


def _reward_column(file: File, numeric: list[str], options: Options) -> tuple[str, str]:
    if options.reward is not None:
        if options.reward not in numeric:
            raise InputError(
                f"{file.source}: there is no reward column {options.reward!r}; choose one of {', '.join(numeric)}"
            )
        return options.reward, f"correctness is judged by the column {options.reward} (--reward)"
    if len(numeric) == 1:
        return numeric[0], f"correctness is judged by the only reward column, {numeric[0]}"
    if VERIFIER in numeric:
        others = ", ".join(name for name in numeric if name != VERIFIER)
        return VERIFIER, f"correctness is judged by {VERIFIER}, TRL's own verifier, and not by {others}"
    if not numeric:
        raise InputError(f"{file.source}: there is no reward column; give a completions file of TRL's GRPOTrainer")
    raise InputError(
        f"{file.source}: there are {len(numeric)} reward columns ({', '.join(numeric)}) and none is known to mean "
        "correct; choose one with --reward"
    )
