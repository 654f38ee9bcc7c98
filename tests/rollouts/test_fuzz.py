"""Thirty damaged variants of each format: one sentence, or a reading that loses nothing silently; never a traceback."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reweight.errors import InputError
from reweight.rollouts import read
from rollouts.mutations import damaged_bytes, damaged_rows

Row = dict[str, Any]
VARIANTS = int(os.environ.get("FUZZ_VARIANTS", "30"))
LONGEST_SENTENCE = 1000


def jsonl(rows: list[Row]) -> bytes:
    return "".join(json.dumps(row, default=repr) + "\n" for row in rows).encode()


def array(rows: list[Row]) -> bytes:
    return json.dumps(rows, default=repr, indent=1).encode()


def table(rows: list[Row]) -> bytes:
    keys = list(dict.fromkeys(key for row in rows for key in row))
    lines = [",".join(keys), *(",".join(_cell(row.get(key)) for key in keys) for row in rows)]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def parquet(rows: list[Row]) -> bytes:
    """Columns of one type each; where the rows do not have one, the column is text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    keys = list(dict.fromkeys(key for row in rows for key in row))
    columns = {}
    for key in keys:
        values = [row.get(key) for row in rows]
        try:
            columns[key] = pa.array(values)
            pq.write_table(pa.table({key: columns[key]}), io.BytesIO())
        except (pa.ArrowException, OverflowError, UnicodeEncodeError):
            columns[key] = pa.array([None if value is None else ascii(value) for value in values])
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


@dataclass(frozen=True)
class Format:
    """How to write a good file, and its rows; `samples` is what one row holds, where that is fixed."""

    write: Callable[[list[Row]], bytes]
    rows: list[Row]
    samples: int | None = None
    options: dict[str, Any] | None = None


COUNTS = [{"id": f"p{i}", "n": 8, "c": i % 9} for i in range(12)]
LEVELS = [{"id": f"p{i}", "counts": {"0": 5, "1": 3}} for i in range(6)]
LISTS = [{"prompt_id": f"p{i}", "rewards": [0.0, 1.0, 1.0, 0.0]} for i in range(6)]
SINGLE = [{"prompt_id": f"p{i % 4}", "reward": float(i % 3 == 0)} for i in range(24)]
TRL = [
    {
        "step": 1,
        "prompt": f"question {i // 4}",
        "completion": f"answer {i % 3}",
        "accuracy_reward": float(i % 2),
        "advantage": 0.8657 * (1 if i % 2 else -1),
    }
    for i in range(12)
]

VERL = [
    {"input": f"q{i // 4}", "output": "?", "gts": "1", "score": 1.0 if i % 2 else -1.0, "step": 1, "acc": i % 2 == 1}
    for i in range(12)
]
LM_EVAL = [
    {
        "doc_id": i,
        "resps": [["1", "2", "3", "4"]],
        "filtered_resps": [["1", "2", "3", "4"]],
        "filter": "all",
        "metrics": ["exact_match"],
        "exact_match": i % 5 / 4,
    }
    for i in range(8)
]
PLUS = [{"task": f"t{i // 4}", "base_status": "pass", "plus_status": "pass" if i % 2 else "fail"} for i in range(12)]
PERF = [{"task": f"t{i}", "pass@1": float(10 * i), "dps": None} for i in range(8)]
HUMAN_EVAL = [{"task_id": f"t{i // 4}", "completion": "?", "passed": i % 2 == 1} for i in range(12)]
QWEN = [{"idx": i, "pred": ["1", "2", "1"], "score": [i % 2 == 1, False, None]} for i in range(6)]
COUNTED = [{"i": i, "extracted": ["1", None, "3"], "n_correct": i % 4} for i in range(6)]
VERDICTS = [{"id": i, "rollouts": [{"correct": j < i} for j in range(4)]} for i in range(6)]
INSPECT = [
    {"id": i % 4, "epoch": 1 + i // 4, "scores": {"match": {"value": "C" if i % 3 else "I", "answer": "1"}}}
    for i in range(12)
]
DETAILS = [
    {"doc": {"id": f"d{i}"}, "metric": {"em": i % 3 / 2}, "model_response": {"text": ["a", "b"]}} for i in range(6)
]


def evalplus(rows: list[Row]) -> bytes:
    tasks: dict[str, list[Row]] = {}
    for row in rows:
        tasks.setdefault(str(row.get("task")), []).append(row)
    return json.dumps({"hash": "0", "eval": tasks}, default=repr, indent=1).encode()


def evalperf(rows: list[Row]) -> bytes:
    document = {"config": {"n_samples": 100}, "summary": {}, "eval": {str(row.get("task")): row for row in rows}}
    return json.dumps(document, default=repr, indent=1).encode()


def results(rows: list[Row]) -> bytes:
    return json.dumps({"model": "m", "k": 3, "results": rows}, default=repr).encode()


def inspect_json(rows: list[Row]) -> bytes:
    return json.dumps({"eval": {}, "plan": {}, "samples": rows}, default=repr).encode()


def inspect_eval(rows: list[Row]) -> bytes:
    import zipfile

    import zipfile_zstd  # noqa: F401 - adds the compression of newer logs

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", 93) as archive:
        for i, row in enumerate(rows):
            archive.writestr(f"samples/{i}_epoch_1.json", json.dumps(row, default=repr))
    return stream.getvalue()


FORMATS = {
    "counts-jsonl": Format(jsonl, COUNTS),
    "counts-array": Format(array, COUNTS),
    "counts-csv": Format(table, COUNTS),
    "counts-parquet": Format(parquet, COUNTS),
    "levels-jsonl": Format(jsonl, LEVELS),
    "rewards-jsonl": Format(jsonl, LISTS),
    "rewards-array": Format(array, SINGLE, 1),
    "samples-jsonl": Format(jsonl, SINGLE, 1),
    "rewards-csv": Format(table, SINGLE, 1),
    "rewards-parquet": Format(parquet, SINGLE, 1),
    "trl-parquet": Format(parquet, TRL, 1),
    "verl-dump": Format(jsonl, VERL, 1),
    "lm-eval-samples": Format(jsonl, LM_EVAL),
    "evalplus": Format(evalplus, PLUS, 1),
    "evalperf": Format(evalperf, PERF),
    "humaneval-results": Format(jsonl, HUMAN_EVAL, 1),
    "question-scores": Format(jsonl, QWEN),
    "question-counts": Format(results, COUNTED),
    "question-rollouts": Format(array, VERDICTS),
    "inspect-json": Format(inspect_json, INSPECT, 1),
    "inspect-eval": Format(inspect_eval, INSPECT, 1),
    "lighteval-details": Format(parquet, DETAILS),
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_good_file_is_read(tmp_path: Path, name: str) -> None:
    kind = FORMATS[name]
    path = tmp_path / "file"
    path.write_bytes(kind.write(kind.rows))
    rollouts = read(path, **(kind.options or {}))
    if kind.samples is not None:
        assert int(rollouts.groups.n.sum()) == kind.samples * len(kind.rows)


@pytest.mark.parametrize("seed", range(VARIANTS))
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_rows(tmp_path: Path, name: str, seed: int) -> None:
    kind = FORMATS[name]
    rows = damaged_rows(kind.rows, seed)
    path = tmp_path / "file"
    path.write_bytes(kind.write(rows))
    rollouts = _read_or_sentence(path, kind.options)
    if rollouts is not None and kind.samples is not None:
        counted = int(rollouts.groups.n.sum()) + sum(item.rows for item in rollouts.left_out)
        assert counted == kind.samples * len(rows), "samples were lost silently"


@pytest.mark.parametrize("seed", range(VARIANTS))
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_bytes(tmp_path: Path, name: str, seed: int) -> None:
    kind = FORMATS[name]
    path = tmp_path / "file"
    path.write_bytes(damaged_bytes(kind.write(kind.rows), seed))
    _read_or_sentence(path, kind.options)


@pytest.mark.parametrize("seed", range(VARIANTS))
@pytest.mark.parametrize("name", [name for name, kind in FORMATS.items() if kind.write is array])
def test_damaged_documents_that_are_too_large_for_memory(
    tmp_path: Path, name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reweight.rollouts import documents

    kind = FORMATS[name]
    path = tmp_path / "file"
    path.write_bytes(kind.write(kind.rows))
    whole = read(path)
    monkeypatch.setattr(documents, "MOST_TEXT", 0)
    assert read(path).groups == whole.groups
    path.write_bytes(damaged_bytes(kind.write(kind.rows), seed))
    _read_or_sentence(path, kind.options)


def _read_or_sentence(path: Path, options: dict[str, Any] | None) -> Any:
    try:
        rollouts = read(path, **(options or {}))
    except InputError as error:
        sentence = str(error)
        assert sentence.isprintable()
        assert 10 < len(sentence) < LONGEST_SENTENCE
        return None
    assert str(rollouts).replace("\n", "").isprintable()
    with suppress(InputError):  # counts beyond a sensible number
        counts = rollouts.counts()
        assert (counts.c <= counts.n).all()
    return rollouts
