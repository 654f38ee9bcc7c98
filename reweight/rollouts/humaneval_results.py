"""Results of HumanEval's own evaluation: one sample a line with task_id and passed."""

from __future__ import annotations

from reweight.rollouts.correctness import checked_reward
from reweight.rollouts.files import File
from reweight.rollouts.json_rows import json_rows
from reweight.rollouts.reader import Names, Options, unused_fields
from reweight.rollouts.table import Rollouts
from reweight.rollouts.tally import Tally

NAME = "humaneval-results"
HOLDS = "task_id, completion, passed on each line"
OPTIONS: frozenset[str] = frozenset()

TASK, COMPLETION, VERDICT, RESULT = "task_id", "completion", "passed", "result"


def recognises(file: File) -> bool:
    """Whether the first row has a completion and whether it passed."""
    return file.kind == "json" and {TASK, COMPLETION, VERDICT} <= set(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Samples are gathered by task; the completion is the answer."""
    tally, names = Tally(file, options), Names("task")
    seen: dict[str, None] = {}
    for row in json_rows(file):
        where = file.at(row.line)
        seen.update(dict.fromkeys(row.fields))
        task = names.of(row.value(TASK, where), where)
        completion = row.value(COMPLETION, where)
        answer = None if completion is None else str(completion)
        tally.add(task, checked_reward(row.value(VERDICT, where), where), answer=answer)
    notes = ("a prompt is a task", *unused_fields(seen, (TASK, COMPLETION, VERDICT, RESULT)))
    return tally.rollouts(NAME, notes, [])
