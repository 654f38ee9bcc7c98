"""Counts as CSV: id, n, c, or id, reward, count."""

from __future__ import annotations

from reweight.rollouts.counting import holds_counts, read_counts
from reweight.rollouts.csv_rows import csv_rows
from reweight.rollouts.files import File
from reweight.rollouts.reader import NAME_FIELDS, Options
from reweight.rollouts.table import Rollouts

NAME = "counts-csv"
HOLDS = "id, n, c on each line, or id, reward, count"
OPTIONS = frozenset({"merge", "threshold", "reward"})


def recognises(file: File) -> bool:
    """Whether the first row names a prompt, its samples and its correct samples."""
    return file.kind == "csv" and holds_counts(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Each row is one prompt."""
    return read_counts(file, csv_rows(file, NAME_FIELDS), NAME, options)
