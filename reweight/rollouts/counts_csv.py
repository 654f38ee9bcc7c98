"""Counts as CSV: {"id", "n", "c"}."""

from __future__ import annotations

from reweight.rollouts.counting import holds_counts, read_counts
from reweight.rollouts.files import File, csv_rows
from reweight.rollouts.reader import NAME_FIELDS, Options
from reweight.rollouts.table import Rollouts

NAME = "counts-csv"
HOLDS = "id, n, c on each line"
OPTIONS = frozenset({"merge"})


def recognises(file: File) -> bool:
    """Whether the first row names a prompt, its samples and its correct samples."""
    return file.kind == "csv" and holds_counts(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Each row is one prompt."""
    return read_counts(file, csv_rows(file, NAME_FIELDS), NAME, options)
