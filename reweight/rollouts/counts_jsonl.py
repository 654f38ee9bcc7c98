"""Counts as JSON lines: {"id", "n", "c"}, or {"id", "counts": {reward: samples}}."""

from __future__ import annotations

from reweight.rollouts.counting import holds_counts, read_counts
from reweight.rollouts.files import File
from reweight.rollouts.json_rows import json_rows
from reweight.rollouts.reader import Options
from reweight.rollouts.table import Rollouts

NAME = "counts-jsonl"
HOLDS = "id, n, c on each line, or id and counts {reward: samples}"
OPTIONS = frozenset({"merge", "threshold", "reward"})


def recognises(file: File) -> bool:
    """Whether the first row names a prompt, its samples and its correct samples."""
    return file.kind == "json" and holds_counts(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Each row is one prompt."""
    return read_counts(file, json_rows(file), NAME, options)
