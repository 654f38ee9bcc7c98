"""Rewards as CSV: prompt_id and one reward a row."""

from __future__ import annotations

from reweight.rollouts.csv_rows import csv_rows
from reweight.rollouts.files import File
from reweight.rollouts.reader import NAME_FIELDS, Options
from reweight.rollouts.rewarding import holds_rewards, read_rewards
from reweight.rollouts.table import Rollouts

NAME = "rewards-csv"
HOLDS = "prompt_id and one reward on each line"
OPTIONS = frozenset({"threshold", "merge", "reward", "step", "all_steps"})


def recognises(file: File) -> bool:
    """Whether the first row names a prompt and a reward."""
    return file.kind == "csv" and holds_rewards(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Single rewards are gathered by prompt."""
    return read_rewards(file, csv_rows(file, NAME_FIELDS), NAME, options)
