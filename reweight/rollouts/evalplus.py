"""Results of EvalPlus: for each task a list of solutions with the status of the base tests and of the added ones."""

from __future__ import annotations

from typing import Any

from reweight.errors import InputError
from reweight.rollouts.documents import members
from reweight.rollouts.files import File
from reweight.rollouts.reader import Options
from reweight.rollouts.table import Rollouts
from reweight.rollouts.tally import Tally
from reweight.terminal import line, quoted

NAME = "evalplus"
HOLDS = "eval {task_id: [{base_status, plus_status}]}"
OPTIONS = frozenset({"reward"})

TASKS = "eval"
BASE, PLUS = "base", "plus"
STATUSES = {"pass": True, "fail": False, "timeout": False, "success": True, "failed": False, "timed out": False}
"""Whether a solution passed, by the status of its tests; the last three are the words of the older layout."""
OLD = {BASE: 0, PLUS: 1}
"""Place of the tests in a solution of the older layout, which is a pair of [status, details]."""


def recognises(file: File) -> bool:
    """Whether the document has an evaluation with a hash of its test set, which EvalPerf has not."""
    return file.kind == "json" and {TASKS, "hash"} <= set(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """A solution is right if it passes the base tests and, where they were run, the added ones too."""
    judge = options.reward or PLUS
    if judge not in (BASE, PLUS):
        raise InputError(f"{file.name}: there are no tests {quoted(judge)}; choose --reward base or --reward plus")
    tally = Tally(file, Options())
    without = found = 0
    for task, solutions in members(file, TASKS):
        where = f"{file.name}, task {line(task)}"
        if not isinstance(solutions, list | dict):
            raise InputError(f"{where}: {quoted(solutions)} is not a list of solutions; write the file again")
        tally.open(task)
        # Up to version 0.2.0 a task held lists by the name of the tests.
        for solution in solutions if isinstance(solutions, list) else _transposed(solutions, where):
            base, plus = (_status(solution, tests, where) for tests in (BASE, PLUS))
            found += 1
            without += plus is None
            passed = base if judge == BASE or plus is None else base and plus
            tally.add(task, passed)
    if found and without == found and options.reward == PLUS:
        raise InputError(f"{file.name}: the added tests were not run; choose --reward base")
    if 0 < without < found and judge == PLUS:
        raise InputError(f"{file.name}: the added tests were run for some solutions only; choose --reward base")
    both = judge == PLUS and not without
    tests = "the base tests and the added ones" if both else "the base tests"
    return tally.rollouts(NAME, ("a prompt is a task", f"correct is a solution that passes {tests}"), [])


def _transposed(tests: dict[str, Any], where: str) -> list[Any]:
    base, plus = tests.get(BASE), tests.get(PLUS) or []
    fits = isinstance(base, list) and isinstance(plus, list) and len(plus) in (0, len(base))
    if not (fits and isinstance(base, list)):
        raise InputError(f"{where}: the base tests and the added ones differ in number; write the file again")
    return [list(pair) for pair in zip(base, plus or [None] * len(base), strict=True)]


def _status(solution: Any, tests: str, where: str) -> bool | None:
    """Whether the tests passed; None where the added ones were not run, and for a base status that is missing."""
    if isinstance(solution, dict) and f"{tests}_status" in solution:
        status = solution[f"{tests}_status"]
    elif isinstance(solution, list) and len(solution) == len(OLD):
        pair = solution[OLD[tests]]
        status = pair[0] if isinstance(pair, list) and pair else pair
    else:
        raise InputError(f"{where}: a solution has no {tests}_status; write the file again")
    if status is None:
        return None
    if not isinstance(status, str) or status not in STATUSES:
        raise InputError(f"{where}: the status {quoted(status)} is not known; choose one of {', '.join(STATUSES)}")
    return STATUSES[status]
