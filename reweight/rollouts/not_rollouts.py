"""Files that are often at hand and hold no counts, with what to give instead."""

from __future__ import annotations

from dataclasses import dataclass

from reweight.rollouts.files import File

__all__ = ["what_else"]


@dataclass(frozen=True)
class _Other:
    """A kind of file by fields that it has, with the sentence on it."""

    kind: str
    fields: frozenset[str]
    is_what: str


OTHERS = (
    _Other(
        "json",
        frozenset({"results", "versions", "configs"}),
        "holds the means of lm-evaluation-harness; run it with --log_samples and give the samples file",
    ),
    _Other(
        "json",
        frozenset({"task_id", "completion"}),
        "holds samples without a verdict; run the benchmark's evaluation and give its results file",
    ),
    _Other("json", frozenset({"log_history"}), "is a trainer's log, which holds means; give it with --calibrate"),
    _Other("json", frozenset({"step", "data"}), "is verl's log, which holds means; give it with --calibrate"),
    _Other("json", frozenset({"loss", "step"}), "is a trainer's log, which holds means; give it with --calibrate"),
    _Other(
        "csv", frozenset({"step", "reward_mean"}), "is a trainer's log, which holds means; give it with --calibrate"
    ),
    _Other(
        "csv",
        frozenset({"run_name", "num_rollouts"}),
        "is a table of runs and their accuracies; give the rollouts of one run",
    ),
)


def what_else(file: File) -> str | None:
    """What a file is that holds no counts, as the end of a sentence; None where that is not known."""
    return next(
        (other.is_what for other in OTHERS if other.kind == file.kind and other.fields <= set(file.fields)), None
    )
