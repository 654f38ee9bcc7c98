"""Rewards as JSON lines: {"prompt_id", "rewards": [...]}, or one reward a line."""

from __future__ import annotations

from reweight.rollouts.files import File
from reweight.rollouts.json_rows import json_rows
from reweight.rollouts.reader import Options
from reweight.rollouts.rewarding import holds_rewards, read_rewards
from reweight.rollouts.table import Rollouts

NAME = "rewards-jsonl"
HOLDS = "prompt_id and a list rewards (or one reward) on each line"
OPTIONS = frozenset({"threshold", "merge", "reward", "step", "all_steps"})


def recognises(file: File) -> bool:
    """Whether the first row names a prompt and a reward."""
    return file.kind == "json" and holds_rewards(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Each list of rewards is one group; single rewards are gathered by prompt."""
    return read_rewards(file, json_rows(file), NAME, options)
