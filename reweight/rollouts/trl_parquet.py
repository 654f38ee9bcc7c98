"""Completions that TRL's GRPOTrainer logs as parquet: one row a completion, one column a reward function."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.correctness import checked_reward
from reweight.rollouts.files import File
from reweight.rollouts.folders import files_of_steps
from reweight.rollouts.parquet_rows import batches, columns, is_number, numbers
from reweight.rollouts.reader import Options
from reweight.rollouts.steps import Steps
from reweight.rollouts.table import LeftOut, Rollouts
from reweight.rollouts.tally import Tally
from reweight.rollouts.trl_blocks import find_blocks
from reweight.terminal import line, listed, quoted

NAME = "trl-parquet"
HOLDS = "step, prompt, completion, one column a reward function, advantage; or a folder of these"
OPTIONS = frozenset({"threshold", "reward", "step", "all_steps", "group_rows"})

FIXED_COLUMNS = ("step", "prompt", "completion", "advantage")
# TRL's own verifier; its column says whether the answer is right, whatever other rewards are added to it.
VERIFIER = "accuracy_reward"
REPEATED = "rows of a generation batch that was logged before, under another step"
MOST_ROWS_OF_A_STEP = 10**6


def recognises(file: File) -> bool:
    """Whether the columns are those of the trainer, or the folder holds such files."""
    if file.kind == "folder":
        return any(name.startswith("completions_") and name.endswith(".parquet") for name in file.fields)
    return file.kind == "parquet" and {"prompt", "advantage"} <= set(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Rows are grouped by prompt text, and into blocks where the advantage column tells the group size."""
    files = files_of_steps(file, "completions_", ".parquet", options) if file.kind == "folder" else [file]
    reading = _Reading(file, options)
    for part in files:
        reading.take(part)
    return reading.rollouts()


@dataclass
class _Reading:
    """What has been seen of the steps so far."""

    file: File
    options: Options
    rewards: tuple[str, ...] = ()
    judge: str = ""
    chosen: str = ""
    sizes: dict[str, int] = field(default_factory=dict)
    batches_seen: set[bytes] = field(default_factory=set)
    repeated: int = 0
    groups: int = 0

    def __post_init__(self) -> None:
        self.tally = Tally(self.file, self.options)
        self.steps = Steps(self.file, self.options.step, pooled=self.options.all_steps)

    def take(self, part: File) -> None:
        """Count one file."""
        numeric = _checked_columns(part)
        judge, chosen = _reward_column(part, numeric, self.options)
        if self.judge and (judge, numeric) != (self.judge, self.rewards):
            raise InputError(f"{part.name}: the reward columns are not those of the files before; read them apart")
        self.judge, self.chosen, self.rewards = judge, chosen, numeric
        for rows in _runs(part, numeric, self.steps):
            self._take_run(rows)

    def rollouts(self) -> Rollouts:
        """The table of all rows."""
        notes, left_out = self.steps.found()
        blocks = [
            text if len(self.sizes) == 1 and runs == 1 else f"{text} (steps: {runs})"
            for text, runs in self.sizes.items()
        ]
        if self.repeated:
            left_out.append(LeftOut(REPEATED, self.repeated))
        understood = ("a prompt is an equal prompt text", *notes, *blocks, self.chosen)
        return self.tally.rollouts(NAME, understood, left_out)

    def _take_run(self, rows: _Run) -> None:
        if self.options.all_steps:
            mark = rows.digest()
            if mark in self.batches_seen:
                self.repeated += len(rows.prompts)
                return
            self.batches_seen.add(mark)
        size, sentence = self._group_size(rows)
        self.sizes[sentence] = self.sizes.get(sentence, 0) + 1
        self.groups += 1
        judged = rows.rewards[self.judge]
        for number, (prompt, reward, place) in enumerate(zip(rows.prompts, judged, rows.places, strict=True)):
            group = f"{self.groups}" if size is None else f"{self.groups}.{number // size}"
            self.tally.add(prompt, checked_reward(reward, place), group=group)

    def _group_size(self, rows: _Run) -> tuple[int | None, str]:
        size = self.options.group_rows
        if size is None:
            return find_blocks(rows.prompts, rows.rewards, rows.advantage)
        blocks = [set(rows.prompts[i : i + size]) for i in range(0, len(rows.prompts), size)]
        if size < 1 or len(rows.prompts) % size or any(len(block) > 1 for block in blocks):
            raise InputError(f"{rows.places[0]}: blocks of {size} rows do not have one prompt each; check --group-rows")
        return size, f"group size {size}, as given (--group-rows)"


@dataclass
class _Run:
    """Consecutive rows of one step: a generation batch."""

    step: Any
    rewards: dict[str, list[Any]]
    prompts: list[str] = field(default_factory=list)
    completions: list[str] = field(default_factory=list)
    advantage: list[Any] = field(default_factory=list)
    places: list[str] = field(default_factory=list)

    def digest(self) -> bytes:
        """What tells this batch from others, whatever its step."""
        content = repr((self.prompts, self.completions, self.rewards, self.advantage))
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).digest()


def _runs(file: File, numeric: tuple[str, ...], steps: Steps) -> Iterator[_Run]:
    run = _Run(None, {})
    number = 0
    for batch in batches(file, [*FIXED_COLUMNS, *numeric]):
        values = {name: numbers(batch.column(name), name, file) for name in numeric}
        advantage = numbers(batch.column("advantage"), "advantage", file)
        prompts, completions = batch.column("prompt").to_pylist(), batch.column("completion").to_pylist()
        for i, step in enumerate(batch.column("step").to_pylist()):
            number += 1
            where = f"{file.name}, row {number}"
            if not steps.wanted({"step": step}, where):
                continue
            if step != run.step or not run.prompts:
                if run.prompts:
                    yield run
                run = _Run(step, {name: [] for name in numeric})
            if len(run.prompts) >= MOST_ROWS_OF_A_STEP:
                raise InputError(
                    f"{where}: step {step} has more than {MOST_ROWS_OF_A_STEP} rows; give the file in parts"
                )
            run.prompts.append(_prompt(prompts[i], where))
            run.completions.append(str(completions[i]))
            run.advantage.append(advantage[i])
            run.places.append(where)
            for name in numeric:
                run.rewards[name].append(values[name][i])
    if run.prompts:
        yield run


def _checked_columns(file: File) -> tuple[str, ...]:
    """Names of the columns that may hold rewards."""
    import pyarrow as pa

    types = columns(file)
    missing = [name for name in FIXED_COLUMNS if name not in types]
    if missing:
        raise InputError(
            f"{file.name}: the parquet has no column {missing[0]}; give a completions file of TRL's GRPOTrainer"
        )
    advantage = types["advantage"]
    if not (is_number(advantage) or pa.types.is_null(advantage)):
        kind = line(advantage, 80)
        raise InputError(f"{file.name}: the column advantage holds {kind} and not numbers; write the file again")
    if next(batches(file, ["step"]), None) is None:
        raise InputError(f"{file.name}: the parquet has no row; give a file with at least one completion")
    return tuple(name for name, kind in types.items() if name not in FIXED_COLUMNS and is_number(kind))


def _prompt(value: Any, where: str) -> str:
    if value is None or value in ("", []):
        raise InputError(f"{where}: the row has no prompt; write the prompt's text")
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        with suppress(TypeError):  # bytes or dates within the messages
            return json.dumps(value, ensure_ascii=False, sort_keys=True)
    raise InputError(f"{where}: the prompt {quoted(value)} is neither a text nor a list of messages; write one of both")


def _reward_column(file: File, numeric: tuple[str, ...], options: Options) -> tuple[str, str]:
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
