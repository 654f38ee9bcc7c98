"""Counts as parquet: the columns id, n, c, or id, reward, count."""

from __future__ import annotations

from reweight.rollouts.counting import holds_counts, read_counts
from reweight.rollouts.files import File
from reweight.rollouts.parquet_rows import parquet_rows
from reweight.rollouts.reader import Options
from reweight.rollouts.table import Rollouts

NAME = "counts-parquet"
HOLDS = "the columns id, n, c, or id, reward, count"
OPTIONS = frozenset({"merge", "threshold", "reward"})


def recognises(file: File) -> bool:
    """Whether the columns name a prompt, its samples and its correct samples."""
    return file.kind == "parquet" and holds_counts(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Each row is one prompt."""
    return read_counts(file, parquet_rows(file), NAME, options)
