"""The metrics that verl's file logger writes: {"step", "data": {name: value}} on each line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.files import File
from reweight.rollouts.json_rows import json_rows
from reweight.rollouts.logs.log import Columns, LogOptions, TrainerLog, log_of
from reweight.terminal import quoted

NAME = "verl-metrics"
HOLDS = "step and data {metric: value} on each line, as verl's file logger writes"

DATA = "data"
SCORE = "critic/score/mean"


def recognises(file: File) -> bool:
    """Whether the first row has a step and its metrics."""
    return file.kind == "json" and {"step", DATA} <= set(file.fields)


def read(file: File, options: LogOptions) -> TrainerLog:
    """Rows of training steps."""
    columns = Columns(
        options.reward or SCORE, kl="actor/kl_loss", entropy="actor/entropy", length="response_length/mean"
    )
    return log_of(file.source, NAME, _rows(file), columns, options)


def _rows(file: File) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for row in json_rows(file):
        where = file.at(row.line)
        data = row.value(DATA, where)
        if not isinstance(data, dict):
            raise InputError(f"{where}: data is {quoted(data)} and not an object of metrics; mend or remove the line")
        yield where, {**data, "step": row.value("step", where)}
