"""Samples of lm-evaluation-harness 0.4.13: three filters judge the same samples; a mean is a number of correct ones."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.measures import estimate_pass_at_k
from reweight.rollouts import LeftOut, read

DATA = Path(__file__).parents[1] / "data" / "lm_eval_0.4.13"
FILE = DATA / "samples_toy_repeat.jsonl"


def row(document: int = 0, value: object = 0.5, **more: object) -> dict:
    """The fields that the harness writes, with four repeats."""
    answers = ["1", "2", "3", "4"]
    return {
        "doc_id": document,
        "doc": {"question": "?"},
        "target": "4",
        "arguments": {},
        "resps": [answers],
        "filtered_resps": [answers],
        "filter": "all",
        "metrics": ["exact_match"],
        "doc_hash": "0",
        "prompt_hash": "0",
        "target_hash": "0",
        "exact_match": value,
    } | more


def write(path: Path, *rows: dict) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def test_nine_rows_are_three_prompts() -> None:
    rollouts = read(FILE)
    counts = rollouts.counts()
    assert list(zip(counts.c.tolist(), counts.n.tolist(), strict=True)) == [(3, 8), (2, 8), (2, 8)]
    assert np.mean(counts.c / counts.n) == pytest.approx(0.2916666666667, abs=1e-12)
    assert np.mean([estimate_pass_at_k(8, c, 4) for c in counts.c.tolist()]) == pytest.approx(
        0.8333333333333, abs=1e-12
    )
    assert rollouts.left_out == (LeftOut("rows of the filters first, maj, which judge the same samples again", 6),)
    assert "the filter take_first_k is used" in rollouts.understood


def test_another_filter_is_used_when_it_is_asked_for() -> None:
    rollouts = read(FILE, filter="maj")
    assert rollouts.counts().n.tolist() == [1, 1, 1]
    assert any("it votes, its verdict is not that of a sample" in note for note in rollouts.understood)
    with pytest.raises(InputError, match="no filter 'x'; choose one of take_first_k, first, maj"):
        read(FILE, filter="x")


def test_filters_that_keep_every_sample_have_to_be_chosen(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", row(filter="strict"), row(filter="flexible", value=1.0))
    with pytest.raises(InputError, match="of the filters strict, flexible strict, flexible keep each sample"):
        read(path)
    assert read(path, filter="flexible").groups[0].c == 4


def test_a_flat_list_and_a_file_without_filters(tmp_path: Path) -> None:
    old = row(filtered_resps=["1", "2", "3", "4"])
    del old["filter"]
    assert read(write(tmp_path / "x.jsonl", old)).groups[0].c == 2


def test_a_metric_that_is_missing_is_not_wrong(tmp_path: Path) -> None:
    rollouts = read(write(tmp_path / "x.jsonl", row(), row(1, None), row(2, float("nan"))))
    assert rollouts.counts().prompts == ("0",)
    assert rollouts.left_out == (LeftOut("samples without a reward (null or NaN)", 8),)


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        ({"exact_match": 0.3}, "line 2: exact_match = 0.3 of 4 samples is no share of correct ones"),
        ({"exact_match": 1.5}, "is no share of correct ones"),
        ({"exact_match": "1"}, "is no share of correct ones"),
        ({"resps": []}, "line 2: resps is .* not a list of responses"),
        ({"doc_id": 0}, "line 2: the document '0' is on line 1 too"),
        ({"filter": 3}, "line 2: the filter 3 is not a name"),
    ],
)
def test_refusals(tmp_path: Path, bad: dict, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        read(write(tmp_path / "x.jsonl", row(), row(1) | bad))


def test_several_metrics_have_to_be_chosen(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", row(metrics=["bleu", "rouge"], bleu=0.25, rouge=0.75))
    with pytest.raises(InputError, match="2 metrics may mean correct"):
        read(path)
    assert read(path, reward="rouge").groups[0].c == 3


def test_results_hold_means_only() -> None:
    with pytest.raises(InputError, match="run it with --log_samples and give the samples file"):
        read(DATA / "results.json")
