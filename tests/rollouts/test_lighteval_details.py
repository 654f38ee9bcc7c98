"""Details of lighteval 0.13: structs of a document, its metrics and the responses of the model.

No file that lighteval wrote is at hand: these are look-alikes of what its details hold.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reweight.errors import InputError
from reweight.rollouts import LeftOut, read


def row(name: str, metrics: dict, samples: int = 4) -> dict:
    texts = [f"answer {i}" for i in range(samples)]
    return {"doc": {"id": name, "query": "?"}, "metric": metrics, "model_response": {"text": texts, "input": "?"}}


def write(path: Path, *rows: dict) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def test_means_of_single_samples_are_counts(tmp_path: Path) -> None:
    metrics = ("pass@k:k=1&n=4", "pass@k:k=4&n=4")
    rows = [row(name, dict(zip(metrics, (c / 4, float(c > 0)), strict=True))) for name, c in (("a", 0), ("b", 3))]
    rollouts = read(write(tmp_path / "details.parquet", *rows))
    assert rollouts.format == "lighteval-details"
    assert [(group.prompt, group.n, group.c) for group in rollouts.groups] == [("a", 4, 0), ("b", 4, 3)]
    with pytest.raises(InputError, match="is no mean over single samples"):
        read(tmp_path / "details.parquet", reward=metrics[1])


@pytest.mark.parametrize("name", ["math_pass@1:16_samples", "extractive_match", "pass@k:k=1"])
def test_names_of_metrics(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "x.parquet", row("a", {name: 0.25}), row("b", {name: None}))
    rollouts = read(path)
    assert rollouts.groups[0].c == 1
    assert rollouts.left_out == (LeftOut("samples without a reward (null or NaN)", 4),)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([row("a", {"em": 1.0, "f1": 0.5})], "2 metrics may mean correct"),
        ([row("a", {"pass@8": 1.0})], "0 metrics may mean correct"),
        ([row("a", {"em": 0.3})], "em = 0.3 of 4 samples is no share of correct ones"),
        ([row("a", {"em": 1.0}), row("a", {"em": 1.0})], "the document 'a' is in row 1 too"),
        ([row("a", {"em": 1.0}, 0)], "model_response has no list of texts"),
    ],
)
def test_refusals(tmp_path: Path, rows: list[dict], expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        read(write(tmp_path / "x.parquet", *rows))
