"""Rollouts that verl dumps for each training step: one sample a line of <step>.jsonl."""

from __future__ import annotations

from reweight.errors import InputError
from reweight.rollouts.correctness import checked_reward
from reweight.rollouts.files import File, Row
from reweight.rollouts.folders import files_of_steps
from reweight.rollouts.json_rows import json_rows
from reweight.rollouts.reader import Options, unused_fields
from reweight.rollouts.steps import STEP_FIELD, Steps
from reweight.rollouts.table import Rollouts
from reweight.rollouts.tally import Tally
from reweight.terminal import line, quoted

NAME = "verl-dump"
HOLDS = "input, output, score, step on each line, or a folder of <step>.jsonl"
OPTIONS = frozenset({"threshold", "reward", "step", "all_steps", "answer"})

PROMPT, COMPLETION, SCORE, VERDICT, ANSWER = "input", "output", "score", "acc", "pred"
WORDS = {"True": True, "False": False}


def recognises(file: File) -> bool:
    """Whether the first row has the fields that verl always writes, or the folder holds files named by a step."""
    if file.kind == "folder":
        return any(name.removesuffix(".jsonl").isdecimal() and name.endswith(".jsonl") for name in file.fields)
    return file.kind == "json" and {PROMPT, COMPLETION, SCORE} <= set(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Samples are gathered by prompt text; acc says whether one is right, the score only where there is no acc."""
    files = files_of_steps(file, "", ".jsonl", options) if file.kind == "folder" else [file]
    reading = _Reading(file, options)
    for part in files:
        for row in json_rows(part):
            reading.take(row, part)
    return reading.rollouts()


class _Reading:
    """What has been seen so far."""

    def __init__(self, file: File, options: Options) -> None:
        self._file = file
        self._options = options
        self._tally = Tally(file, options)
        self._steps = Steps(file, options.step, pooled=options.all_steps)
        self._seen: dict[str, None] = {}
        self._judge = ""

    def take(self, row: Row, part: File) -> None:
        where = part.at(row.line)
        if not row.fields.keys() <= self._seen.keys():
            self._seen.update(dict.fromkeys(row.fields))
        if not self._judge:
            self._judge = self._options.reward or (VERDICT if VERDICT in row.fields else SCORE)
        if not self._steps.wanted(row.fields, where):
            return
        prompt = row.value(PROMPT, where)
        if not isinstance(prompt, str) or not prompt:
            raise InputError(f"{where}: the prompt {quoted(prompt)} is not a text; write the prompt's text")
        reward = row.value(self._judge, where)
        # verl writes what JSON does not hold, such as a numpy bool, as its text.
        reward = WORDS.get(reward, reward) if isinstance(reward, str) else reward
        given = self._options.answer
        answer = row.fields.get(ANSWER) if given is None else row.value(given, where)
        text = None if answer is None else str(answer)
        self._tally.add(prompt, checked_reward(reward, where), answer=text)

    def rollouts(self) -> Rollouts:
        if not self._judge:
            raise InputError(f"{self._file.name}: there is no row; give a file with at least one sample")
        understood, left_out = self._steps.found()
        judged = f"correctness is judged by {line(self._judge)}"
        used = {PROMPT, COMPLETION, STEP_FIELD, self._judge, self._options.answer or ANSWER}
        grouping = "a prompt is an equal input text: rows of a dataset with the same text are one prompt"
        notes = (grouping, judged, *understood, *unused_fields(self._seen, used))
        return self._tally.rollouts(NAME, notes, left_out)
