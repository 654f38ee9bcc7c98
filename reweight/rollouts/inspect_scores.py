"""Samples of inspect_ai, wherever they are stored: one an id and epoch, with the verdicts of its scorers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.files import File
from reweight.rollouts.reader import Names, Options
from reweight.rollouts.table import LeftOut, Rollouts
from reweight.rollouts.tally import Tally
from reweight.terminal import line, listed, quoted

__all__ = ["read_samples"]

CORRECT, PARTLY = "C", "P"
LETTERS = {CORRECT: 1.0, "I": 0.0, PARTLY: 0.5, "N": 0.0}
"""Values that inspect_ai turns into numbers: correct, incorrect, partial, no answer."""


def read_samples(file: File, samples: Iterable[tuple[str, Any]], format_name: str, options: Options) -> Rollouts:
    """Gather samples, each with its place for sentences, by id; epochs of one id are draws from one policy.

    The scorer is the only one there is, or the one that --reward names.
    """
    reading = _Reading(file, options)
    for where, sample in samples:
        reading.take(sample, where)
    return reading.rollouts(format_name)


@dataclass
class _Reading:
    """What has been seen of the samples so far."""

    file: File
    options: Options
    names: Names = field(default_factory=lambda: Names("sample id"))
    seen: set[tuple[str, int]] = field(default_factory=set)
    scorer: str = ""
    failed: int = 0
    unscored: int = 0
    partial: int = 0

    def __post_init__(self) -> None:
        self.tally = Tally(self.file, self.options)

    def take(self, sample: Any, where: str) -> None:
        """Count one sample."""
        if not isinstance(sample, dict):
            raise InputError(f"{where}: the sample is not an object; log it again")
        prompt, epoch = self.names.of(sample.get("id"), where), sample.get("epoch", 1)
        if isinstance(epoch, bool) or not isinstance(epoch, int):
            raise InputError(f"{where}: the epoch {quoted(epoch)} is not a whole number; log the sample again")
        if (prompt, epoch) in self.seen:
            raise InputError(f"{where}: sample {quoted(prompt)} of epoch {quoted(epoch)} is there twice; keep one log")
        self.seen.add((prompt, epoch))
        self.tally.open(prompt)
        scores = sample.get("scores")
        if sample.get("error") is not None:
            self.failed += 1
        elif not scores or not self._has_score(scores, where):
            self.unscored += 1
        else:
            value, answer = _value(scores[self.scorer], self.scorer, where)
            if isinstance(value, str):
                self.partial += value == PARTLY
                value = LETTERS[value] if self.options.threshold is not None else value == CORRECT
            self.tally.add(prompt, value, answer=answer)

    def rollouts(self, format_name: str) -> Rollouts:
        """The table of all samples."""
        if self.partial and self.options.threshold is None:
            raise InputError(
                f"{self.file.name}: {self.partial} samples are partly correct (P); say with --threshold what counts"
            )
        judged = (f"correctness is judged by the scorer {line(self.scorer)}",) if self.scorer else ()
        lost = (("samples that failed (error)", self.failed), ("samples without a score", self.unscored))
        left_out = [LeftOut(reason, rows) for reason, rows in lost if rows]
        return self.tally.rollouts(
            format_name, ("a prompt is a sample id; its epochs are its samples", *judged), left_out
        )

    def _has_score(self, scores: Any, where: str) -> bool:
        """Whether the scorer that decides has judged a sample; the first sample with scores shows which it is."""
        if not isinstance(scores, dict):
            raise InputError(f"{where}: the scores {quoted(scores)} are not by scorer; log the sample again")
        if not self.scorer:
            given = self.options.reward
            if given is not None and given not in scores:
                raise InputError(f"{where}: there is no scorer {quoted(given)}; choose one of {listed(scores)}")
            if given is None and len(scores) > 1:
                raise InputError(
                    f"{where}: there are {len(scores)} scorers ({listed(scores)}); choose one with --reward"
                )
            self.scorer = next(iter(scores)) if given is None else given
        return self.scorer in scores


def _value(score: Any, scorer: str, where: str) -> tuple[str | float | bool | None, str | None]:
    """Value and extracted answer of one score; None for a missing number, which is never a wrong one."""
    if not isinstance(score, dict) or "value" not in score:
        raise InputError(f"{where}: the score of {line(scorer)} has no value; log the sample again")
    value, answer = score["value"], score.get("answer")
    text = answer if isinstance(answer, str) else None
    if isinstance(value, str):
        if value not in LETTERS:
            raise InputError(
                f"{where}: the value {quoted(value)} of {line(scorer)} is none of C, I, P, N and no number"
            )
        return value, text
    if value is None or isinstance(value, bool):
        return value, text
    if not isinstance(value, int | float) or math.isinf(value) or abs(value) > 2**53:
        raise InputError(
            f"{where}: the value {quoted(value)} of {line(scorer)} is no single number; choose with --reward"
        )
    return (None if math.isnan(value) else float(value)), text
