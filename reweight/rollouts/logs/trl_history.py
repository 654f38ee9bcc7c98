"""The history of TRL's trainers: a list of rows, by itself or in trainer_state.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.documents import elements
from reweight.rollouts.files import File
from reweight.rollouts.logs.log import Columns, LogOptions, TrainerLog, log_of
from reweight.rollouts.strict_json import an_object
from reweight.terminal import listed

NAME = "trl-history"
HOLDS = "log_history.json or trainer_state.json of TRL"

HISTORY = "log_history"
MEAN_OF = "rewards/", "/mean"
VERIFIER = "rewards/accuracy_reward/mean"


def recognises(file: File) -> bool:
    """Whether it is a list of rows with a loss or a reward and a step, or a document with such a list."""
    fields = set(file.fields)
    return file.kind == "json" and (HISTORY in fields or (file.layout == "array" and "step" in fields))


def read(file: File, options: LogOptions) -> TrainerLog:
    """Rows of training steps; the zero-std share counts only where the judged reward is the only one."""
    rows = list(_rows(file))
    names = list(dict.fromkeys(name for _, fields in rows for name in fields))
    judges = [name for name in names if name.startswith(MEAN_OF[0]) and name.endswith(MEAN_OF[1])]
    reward = options.reward or _judge(judges, file)
    alone = len(judges) <= 1
    columns = Columns(
        reward,
        dead="frac_reward_zero_std" if alone else "",
        kl="kl",
        entropy="entropy",
        length="completions/mean_length",
    )
    found = log_of(file.source, NAME, rows, columns, options)
    if alone:
        return found
    note = "the share of groups without spread is that of the sum of several rewards, so it is not used"
    return TrainerLog(**{**vars(found), "understood": (*found.understood, note)})


def _rows(file: File) -> Iterator[tuple[str, Mapping[str, Any]]]:
    key = HISTORY if HISTORY in file.fields and file.layout != "array" else None
    for number, row in enumerate(elements(file, key), start=1):
        where = f"{file.name}, row {number}"
        yield where, an_object(row, where)


def _judge(judges: list[str], file: File) -> str:
    if VERIFIER in judges:
        return VERIFIER
    if len(judges) > 1:
        raise InputError(f"{file.name}: {len(judges)} rewards may mean correct ({listed(judges)}); name one of them")
    return judges[0] if judges else "reward"
