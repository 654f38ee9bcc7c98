"""The rollout dump of verl 0.9.1: verdicts, not scores; prompts by their text; one step of a folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.measures import estimate_pass_at_k
from reweight.rollouts import read

FILE = Path(__file__).parents[1] / "data" / "verl_0.9.1" / "10.jsonl"


def write(path: Path, *rows: dict) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def row(prompt: str = "q", score: float = 1.0, **more: object) -> dict:
    return {"input": prompt, "output": "text", "gts": "7", "score": score, "step": 3, **more}


def test_the_file_that_verl_wrote() -> None:
    rollouts = read(FILE)
    counts = rollouts.counts()
    assert rollouts.format == "verl-dump"
    assert list(zip(counts.c.tolist(), counts.n.tolist(), strict=True)) == [(2, 8), (3, 8), (7, 8), (0, 8)]
    for k, value in ((1, 0.375), (4, 0.6785714285714), (8, 0.75)):
        rates = [estimate_pass_at_k(8, c, k) for c in counts.c.tolist()]
        assert np.mean(rates) == pytest.approx(value, abs=1e-12)
    assert "correctness is judged by acc" in rollouts.understood


def test_scores_of_one_and_minus_one_give_what_the_verdicts_give() -> None:
    by_score = read(FILE, reward="score")
    assert by_score.groups == read(FILE).groups
    assert "two reward values, -1 and 1: the larger means correct" in by_score.understood


@pytest.mark.parametrize("verdicts", [(True, False), ("True", "False"), (1, 0)])
def test_verdicts_may_come_as_text(tmp_path: Path, verdicts: tuple[object, object]) -> None:
    path = write(tmp_path / "3.jsonl", *(row(acc=verdict) for verdict in verdicts))
    assert [(group.n, group.c) for group in read(path).groups] == [(2, 1)]


def test_only_one_score_needs_a_threshold(tmp_path: Path) -> None:
    path = write(tmp_path / "3.jsonl", row(score=-1.0), row(score=-1.0))
    with pytest.raises(InputError, match="all rewards are -1"):
        read(path)
    assert read(path, threshold=0).groups[0].c == 0


def test_a_folder_has_one_file_a_step(tmp_path: Path) -> None:
    for step in (1, 2, 10):
        rows = [row(acc=i < step, pred=str(i)) | {"step": step} for i in range(10)]
        write(tmp_path / f"{step}.jsonl", *rows)
    with pytest.raises(InputError, match="3 training steps, which are different policies; choose one with --step"):
        read(tmp_path)
    assert read(tmp_path, step=2).groups[0].c == 2
    pooled = read(tmp_path, all_steps=True)
    assert (pooled.groups[0].n, pooled.groups[0].c) == (30, 13)
    with pytest.raises(InputError, match=r"no file of step 7; choose one of 1, 2, 10"):
        read(tmp_path, step=7)


def test_extracted_answers_are_kept_where_every_sample_has_one(tmp_path: Path) -> None:
    rows = [row(acc=text == "7", pred=text) for text in ("7", "7", "8", "8", "8", "9")]
    answers = read(write(tmp_path / "3.jsonl", *rows)).answers
    assert answers is not None
    assert [pairs.tolist() for pairs in answers.equal_pairs(1)] == [[1], [3]]
    rollouts = read(write(tmp_path / "4.jsonl", *rows, row(acc=False, pred=None)))
    assert rollouts.answers is None
    assert "answers are not used, as 1 samples have none" in rollouts.understood


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        ({"input": ""}, "line 2: the prompt '' is not a text"),
        ({"acc": "maybe"}, "line 2: the reward 'maybe' is not a number"),
        ({"step": None}, "line 2: the row has no training step"),
    ],
)
def test_refusals(tmp_path: Path, bad: dict, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        read(write(tmp_path / "3.jsonl", row(acc=True), row(acc=True) | bad))
