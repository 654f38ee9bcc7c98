"""Logs of inspect_ai as one JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reweight.rollouts.documents import elements
from reweight.rollouts.files import File
from reweight.rollouts.inspect_scores import read_samples
from reweight.rollouts.reader import Options
from reweight.rollouts.table import Rollouts

NAME = "inspect-json"
HOLDS = "an inspect_ai log: eval and samples [{id, epoch, scores}]"
OPTIONS = frozenset({"threshold", "reward"})


def recognises(file: File) -> bool:
    """Whether the document has an evaluation with its plan."""
    return file.kind == "json" and {"eval", "plan", "samples"} <= set(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Each id is a prompt, each of its epochs a sample."""
    return read_samples(file, _samples(file), NAME, options)


def _samples(file: File) -> Iterator[tuple[str, Any]]:
    for number, sample in enumerate(elements(file, "samples"), start=1):
        yield f"{file.name}, sample {number}", sample
