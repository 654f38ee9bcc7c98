"""Summaries of EvalPerf: for each task pass@1 in percent of a number of samples that its configuration states."""

from __future__ import annotations

from reweight.errors import InputError
from reweight.rollouts.documents import members, value
from reweight.rollouts.files import File
from reweight.rollouts.reader import Options
from reweight.rollouts.shares import add_share
from reweight.rollouts.table import MOST_SAMPLES, Rollouts
from reweight.rollouts.tally import Tally
from reweight.terminal import line

NAME = "evalperf"
HOLDS = "config {n_samples} and eval {task_id: {pass@1 in percent}}"
OPTIONS: frozenset[str] = frozenset()

TASKS, CONFIG, SAMPLES, RATE = "eval", "config", "n_samples", "pass@1"


def recognises(file: File) -> bool:
    """Whether the document has an evaluation with its configuration."""
    return file.kind == "json" and {TASKS, CONFIG, "summary"} <= set(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Correct samples of a task are pass@1 / 100 times the samples, which has to be a whole number."""
    del options
    config = value(file, CONFIG)
    samples = config.get(SAMPLES) if isinstance(config, dict) else None
    if not isinstance(samples, int) or isinstance(samples, bool) or not 1 <= samples <= MOST_SAMPLES:
        raise InputError(f"{file.name}: {CONFIG} has no number {SAMPLES}; a percentage alone is no count")
    tally = Tally(file, Options())
    for task, found in members(file, TASKS):
        rate = found.get(RATE) if isinstance(found, dict) else None
        where = f"{file.name}, task {line(task)}"
        add_share(tally, task, rate, samples, RATE, where, whole=100, remedy="write the file again")
    notes = ("a prompt is a task", f"{RATE} is in percent of {samples} samples a task ({SAMPLES})")
    return tally.rollouts(NAME, notes, [])
