"""EvalPlus, EvalPerf and HumanEval, in the shapes that evalplus 0.3.1 and openai/human-eval write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reweight.errors import InputError
from reweight.rollouts import LeftOut, read


def write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


def table(path: Path, **options: object) -> dict[str, tuple[int, int]]:
    counts = read(path, **options).counts()
    return dict(zip(counts.prompts, zip(counts.n.tolist(), counts.c.tolist(), strict=True), strict=True))


def solution(base: str | None, plus: str | None) -> dict:
    return {"solution": "def f(): ...", "base_status": base, "plus_status": plus, "base_fail_tests": []}


def evalplus(**tasks: list) -> dict:
    return {"date": "2026-01-01", "hash": "0", "eval": tasks}


def test_both_tests_have_to_pass(tmp_path: Path) -> None:
    rows = [solution("pass", "pass"), solution("pass", "fail"), solution("fail", "pass"), solution("timeout", "fail")]
    path = write(tmp_path / "x.json", evalplus(a=rows, b=rows[:1]))
    assert table(path) == {"a": (4, 1), "b": (1, 1)}
    assert table(path, reward="base") == {"a": (4, 2), "b": (1, 1)}
    assert "correct is a solution that passes the base tests and the added ones" in read(path).understood


def test_without_the_added_tests_the_base_tests_decide(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", evalplus(a=[solution("pass", None), solution("fail", None)]))
    assert table(path) == {"a": (2, 1)}
    with pytest.raises(InputError, match="the added tests were not run; choose --reward base"):
        read(path, reward="plus")
    mixed = write(tmp_path / "y.json", evalplus(a=[solution("pass", None), solution("fail", "fail")]))
    with pytest.raises(InputError, match="for some solutions only"):
        read(mixed)


def test_the_older_layout_has_other_words(tmp_path: Path) -> None:
    """As evalplus 0.1.7 and 0.2.0 write it."""
    base, plus = ["success", "success", "failed", "timed out"], ["success", "failed", "failed", "timed out"]
    old = {"nfiles": 4, "base": [[status, []] for status in base], "plus": [[status, []] for status in plus]}
    path = write(tmp_path / "x.json", evalplus(a=old))
    assert table(path) == {"a": (4, 1)}
    assert table(path, reward="base") == {"a": (4, 2)}


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ({"a": 3}, "task a: 3 is not a list of solutions"),
        ({"a": [{}]}, "task a: a solution has no base_status"),
        ({"a": [solution(3, None)]}, "the status 3 is not known"),
        ({"a": [solution("passed", None)]}, "the status 'passed' is not known; choose one of pass, fail, timeout"),
        ({"a": {"base": [["pass", []]], "plus": []}, "b": {"base": []}}, None),
        ({"a": {"plus": []}}, "differ in number"),
        ({"a": []}, "no sample has a reward"),
    ],
)
def test_broken_solutions(tmp_path: Path, tasks: dict, expected: str | None) -> None:
    path = write(tmp_path / "x.json", {"date": "", "hash": "0", "eval": tasks})
    if expected is None:
        assert table(path) == {"a": (1, 1)}
        return
    with pytest.raises(InputError, match=expected):
        read(path)


def evalperf(**rates: object) -> dict:
    tasks = {name: {"dps": None, "dps_norm": 1.0, "pass@1": rate, "profiled": []} for name, rate in rates.items()}
    return {"date": "", "config": {"n_samples": 100, "temperature": 1.0}, "summary": {}, "eval": tasks}


def test_percentages_are_not_shares(tmp_path: Path) -> None:
    rollouts = read(path := write(tmp_path / "x.json", evalperf(a=1.0, b=43.0, c=100, d=0.0, e=None)))
    assert table(path) == {"a": (100, 1), "b": (100, 43), "c": (100, 100), "d": (100, 0)}
    assert rollouts.left_out == (LeftOut("samples without a reward (null or NaN)", 100),)
    for bad in (0.5, 101, -1, "43", [1]):
        with pytest.raises(InputError, match="is no share of correct ones"):
            read(write(tmp_path / "y.json", evalperf(a=bad)))
    document = evalperf(a=1.0)
    del document["config"]["n_samples"]
    with pytest.raises(InputError, match="a percentage alone is no count"):
        read(write(tmp_path / "z.json", document))


def test_humaneval_needs_its_results(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    rows = [{"task_id": "HumanEval/0", "completion": f"    return {i % 2}"} for i in range(6)]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError, match="holds samples without a verdict; run the benchmark's evaluation"):
        read(path)
    results = tmp_path / "samples.jsonl_results.jsonl"
    judged = [row | {"result": "passed", "passed": i % 2 == 1} for i, row in enumerate(rows)]
    results.write_text("\n".join(map(json.dumps, judged)))
    rollouts = read(results)
    assert table(results) == {"HumanEval/0": (6, 3)}
    assert [pairs.tolist() for pairs in rollouts.answers.equal_pairs(1)] == [[3], [3]]
