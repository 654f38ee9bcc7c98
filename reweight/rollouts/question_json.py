"""Questions with the verdicts of all their samples: in one JSON document, or one a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.correctness import checked_reward
from reweight.rollouts.documents import elements, value
from reweight.rollouts.files import File, Row
from reweight.rollouts.json_rows import json_rows
from reweight.rollouts.reader import Names, Options, first_of, unused_fields
from reweight.rollouts.strict_json import an_object
from reweight.rollouts.table import MOST_SAMPLES, LeftOut, Rollouts
from reweight.rollouts.tally import Tally
from reweight.terminal import line, quoted

NAME = "question-json"
HOLDS = "questions with score [bool], rollouts [{correct}], or n_correct and extracted"
OPTIONS = frozenset({"threshold", "merge"})

LISTS = ("results", "questions", "data", "problems")
ID_FIELDS = ("idx", "i", "id", "question_id", "prompt_id", "task_id")
SCORES, ROLLOUTS, CORRECT, EXTRACTED = "score", "rollouts", "n_correct", "extracted"
VERDICTS = ("correct", "is_correct", "acc", "passed", "score")
PREDICTIONS = ("pred", "answer", "extracted", "extracted_answer")


def recognises(file: File) -> bool:
    """Whether the first row is a question with its verdicts, or the document holds a list of these."""
    return file.kind == "json" and any(_holds_verdicts(row) for row in _first(file))


def read(file: File, options: Options) -> Rollouts:
    """Each question is a prompt, and each of its verdicts a sample."""
    tally, names = Tally(file, options), Names("question")
    seen: dict[str, None] = {}
    lines: dict[str, int] = {}
    empty = 0
    used: set[str] = set()
    for row in _rows(file):
        where = file.at(row.line)
        seen.update(dict.fromkeys(row.fields))
        id_field = first_of(ID_FIELDS, row.fields)
        if id_field is None:
            raise InputError(f"{where}: the question has no id; give it a field {ID_FIELDS[0]}")
        prompt = names.of(row.fields[id_field], where)
        if prompt in lines and not options.merge:
            raise InputError(
                f"{where}: question {quoted(prompt)} is there twice, first in {lines[prompt]}; remove one, or add them "
                "with --merge"
            )
        lines.setdefault(prompt, row.line)
        used |= {id_field, SCORES, ROLLOUTS, CORRECT, EXTRACTED, PREDICTIONS[0]}
        tally.open(prompt)
        samples = 0
        for verdict, answer in _verdicts(row, where):
            samples += 1
            tally.add(prompt, checked_reward(verdict, where), answer=answer)
        empty += samples == 0
    left_out = [LeftOut("questions without samples", empty)] if empty else []
    notes = ["a prompt is a question", *_settings(file), *unused_fields(seen, used)]
    if CORRECT in seen and EXTRACTED in seen:
        notes.insert(1, f"all {EXTRACTED} answers are samples, missing ones too, and {CORRECT} of them are correct")
    return tally.rollouts(NAME, notes, left_out)


def _rows(file: File) -> Iterator[Row]:
    key = _list_key(file)
    if key is None:
        yield from json_rows(file)
        return
    for number, item in enumerate(elements(file, key), start=1):
        yield Row(number, an_object(item, file.at(number)))


def _list_key(file: File) -> str | None:
    """The key under which a document has its questions; None where each row is one."""
    return None if file.layout == "array" else first_of(LISTS, file.fields)


def _first(file: File) -> Iterable[dict[str, Any]]:
    """The first row, where the file is of a shape that may hold questions."""
    if _list_key(file) is None and first_of((SCORES, ROLLOUTS, CORRECT), file.fields) is None:
        return
    try:
        yield next(_rows(file)).fields
    except (InputError, StopIteration):
        return


def _holds_verdicts(fields: dict[str, Any]) -> bool:
    rollouts = fields.get(ROLLOUTS)
    listed = isinstance(rollouts, list) and all(isinstance(each, dict) for each in rollouts)
    return isinstance(fields.get(SCORES), list) or listed or {CORRECT, EXTRACTED} <= fields.keys()


def _verdicts(row: Row, where: str) -> Iterator[tuple[Any, str | None]]:
    """Verdict and extracted answer of each sample of a question."""
    if isinstance(row.fields.get(SCORES), list):
        verdicts = row.fields[SCORES]
        answers = row.fields.get(PREDICTIONS[0])
        if not isinstance(answers, list) or len(answers) != len(verdicts):
            answers = [None] * len(verdicts)
        for verdict, answer in zip(verdicts, answers, strict=True):
            yield verdict, _text(answer)
    elif ROLLOUTS in row.fields:
        rollouts = row.fields[ROLLOUTS]
        if not isinstance(rollouts, list):
            raise InputError(f"{where}: {ROLLOUTS} is {quoted(rollouts)} and not a list; write the file again")
        for each in rollouts:
            sample = an_object(each, where)
            field = first_of(VERDICTS, sample)
            if field is None:
                raise InputError(f"{where}: a rollout has no verdict; give it a field {VERDICTS[0]}")
            prediction = first_of(PREDICTIONS, sample)
            yield sample[field], None if prediction is None else _text(sample[prediction])
    else:
        yield from _counted(row, where)


def _counted(row: Row, where: str) -> Iterator[tuple[bool, None]]:
    """Only how many are correct is known, not which: answers do not say it."""
    extracted, correct = row.value(EXTRACTED, where), row.value(CORRECT, where)
    if not isinstance(extracted, list):
        raise InputError(f"{where}: {EXTRACTED} is {quoted(extracted)} and not a list; write the file again")
    whole = isinstance(correct, int) and not isinstance(correct, bool)
    if not whole or not 0 <= correct <= min(len(extracted), MOST_SAMPLES):
        raise InputError(f"{where}: {CORRECT} = {quoted(correct)} of {len(extracted)} answers; give 0 to their number")
    for i in range(len(extracted)):
        yield i < correct, None


def _settings(file: File) -> list[str]:
    """Samples a question and temperature, where the document states them."""
    if _list_key(file) is None:
        return []
    stated = {name: value(file, name) for name in ("k", "temperature") if name in file.fields}
    notes = [f"{name} is {line(each)} in the file" for name, each in stated.items()]
    if stated.get("temperature") in (0, 0.0):
        notes.append("temperature 0 is greedy decoding: its samples are not draws of the policy that is trained")
    return notes


def _text(answer: Any) -> str | None:
    return None if answer is None else str(answer)
