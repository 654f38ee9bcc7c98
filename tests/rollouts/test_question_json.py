"""Questions with the verdicts of their samples, in the three shapes that evaluation scripts write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reweight.errors import InputError
from reweight.rollouts import LeftOut, read


def lines(path: Path, *rows: dict) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def qwen(number: int, *score: object) -> dict:
    """A line of the evaluation of Qwen2.5-Math: parallel lists; `report` holds nothing."""
    answers = [str(i % 2) for i in range(len(score))]
    return {
        "idx": number,
        "gt": "1",
        "code": answers,
        "pred": answers,
        "report": [None] * len(score),
        "score": list(score),
    }


def table(path: Path, **options: object) -> dict[str, tuple[int, int]]:
    counts = read(path, **options).counts()
    return dict(zip(counts.prompts, zip(counts.n.tolist(), counts.c.tolist(), strict=True), strict=True))


def test_lists_of_bools(tmp_path: Path) -> None:
    path = lines(tmp_path / "x.jsonl", qwen(0, False, True, False, True), qwen(1, False, False))
    rollouts = read(path)
    assert rollouts.format == "question-json"
    assert table(path) == {"0": (4, 2), "1": (2, 0)}
    assert [pairs.tolist() for pairs in rollouts.answers.equal_pairs(2)] == [[1, 0], [1, 0]]


@pytest.mark.parametrize("shape", ["lines", "array", "document"])
def test_rollouts_with_verdicts(tmp_path: Path, shape: str) -> None:
    rows = [{"id": f"q{i}", "rollouts": [{"correct": j < i, "text": "?"} for j in range(4)]} for i in range(3)]
    path = tmp_path / "x.json"
    if shape == "lines":
        lines(path, *rows)
    else:
        path.write_text(json.dumps(rows if shape == "array" else {"model": "m", "questions": rows}, indent=1))
    assert table(path) == {"q0": (4, 0), "q1": (4, 1), "q2": (4, 2)}


def test_numbers_of_correct_answers(tmp_path: Path) -> None:
    results = [
        {"i": 0, "gold": "4", "extracted": ["4", None, "", "4"], "n_correct": 2, "n_formatted": 3},
        {"i": 1, "gold": "5", "extracted": [None, None, None, None], "n_correct": 0, "n_formatted": 0},
    ]
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"model": "m", "k": 4, "temperature": 1.0, "results": results}))
    assert table(path) == {"0": (4, 2), "1": (4, 0)}
    assert "k is 4 in the file" in read(path).understood
    path.write_text(json.dumps({"model": "m", "k": 1, "temperature": 0.0, "results": results}))
    assert any("greedy decoding" in note for note in read(path).understood)


def test_missing_verdicts_and_empty_lists_are_counted(tmp_path: Path) -> None:
    rollouts = read(lines(tmp_path / "x.jsonl", qwen(0, True, None, False), qwen(1)))
    assert [(group.n, group.c) for group in rollouts.groups] == [(2, 1)]
    assert rollouts.left_out == (
        LeftOut("questions without samples", 1),
        LeftOut("samples without a reward (null or NaN)", 1),
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (qwen(0, True), "question '0' is there twice"),
        ({"score": [True]}, "the question has no id"),
        ({"idx": 1, "score": True, "rollouts": 3}, "rollouts is 3 and not a list"),
        ({"idx": 1, "rollouts": [{"text": "?"}]}, "a rollout has no verdict"),
        ({"idx": 1, "rollouts": [3]}, "this is JSON but not an object"),
        ({"idx": 1, "extracted": ["1"], "n_correct": 2}, "n_correct = 2 of 1 answers"),
        ({"idx": 1, "extracted": "1", "n_correct": 2}, "extracted is '1' and not a list"),
        ({"idx": 1, "score": ["yes"]}, "the reward 'yes' is not a number"),
    ],
)
def test_refusals(tmp_path: Path, row: dict, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        read(lines(tmp_path / "x.jsonl", qwen(0, True, False), row))


def test_a_sweep_of_runs_holds_no_samples(tmp_path: Path) -> None:
    path = tmp_path / "sweep.csv"
    path.write_text("run_name,false_positive_rate,num_rollouts,final_accuracy\na,0.1,8,\na,0.1,8,0.5\n")
    with pytest.raises(InputError, match="is a table of runs and their accuracies; give the rollouts of one run"):
        read(path)


@pytest.mark.parametrize(
    "content",
    [
        '[{"loss": 0.1, "reward": 0.5, "step": 1}]',
        '{"log_history": [{"loss": 0.1, "step": 1}]}',
        '{"step": 1, "data": {"critic/score/mean": 0.5}}\n',
        "step,reward_mean,kl\n1,0.5,0\n",
    ],
)
def test_a_log_is_named_as_such(tmp_path: Path, content: str) -> None:
    path = tmp_path / "log"
    path.write_text(content)
    with pytest.raises(InputError, match="log, which holds means; give it with --calibrate"):
        read(path)
