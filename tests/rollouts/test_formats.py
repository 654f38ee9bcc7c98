"""Every format, read from a file, gives the counts that are in it and says how it was understood."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reweight.rollouts import Group, LeftOut, example, formats, read

DATA = Path(__file__).parents[1] / "data"


def write(folder: Path, name: str, *lines: object) -> Path:
    path = folder / name
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def table(path: Path, format_name: str | None = None, **options: object) -> dict[str, tuple[int, int]]:
    counts = read(path, format_name, **options).counts()
    return dict(zip(counts.prompts, zip(counts.n.tolist(), counts.c.tolist(), strict=True), strict=True))


def test_counts_of_the_shipped_file() -> None:
    rollouts = read(example())
    assert rollouts.format == "counts-jsonl"
    assert rollouts.left_out == ()
    counts = rollouts.counts()
    lines = [json.loads(line) for line in example().read_text().splitlines()]
    assert counts.prompts == tuple(line["id"] for line in lines)
    assert counts.c.tolist() == [line["c"] for line in lines]
    assert counts.n.tolist() == [line["n"] for line in lines]


@pytest.mark.parametrize(
    "fields", [("id", "n", "c"), ("prompt_id", "total", "correct"), ("task_id", "k", "num_correct")]
)
def test_names_that_the_fields_have_elsewhere(tmp_path: Path, fields: tuple[str, str, str]) -> None:
    row = dict(zip(fields, ("a", 8, 3), strict=True))
    assert table(write(tmp_path, "x.jsonl", row)) == {"a": (8, 3)}
    assert table(write(tmp_path, "x.csv", ",".join(fields), "a,8,3")) == {"a": (8, 3)}


def test_ids_may_be_numbers_and_mean_the_same_as_their_text(tmp_path: Path) -> None:
    path = write(
        tmp_path, "x.jsonl", {"id": 7, "n": 2, "c": 1}, {"id": 1.5, "n": 2, "c": 0}, {"id": "z", "n": 4, "c": 4}
    )
    assert table(path) == {"7": (2, 1), "1.5": (2, 0), "z": (4, 4)}


def test_fields_that_are_not_used_are_named(tmp_path: Path) -> None:
    rollouts = read(write(tmp_path, "x.jsonl", {"id": 1, "n": 2, "c": 1, "model": "m"}))
    assert "fields not used: model" in rollouts.understood


def test_merge_adds_rows_of_one_prompt(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", {"id": 1, "n": 2, "c": 1}, {"id": "1", "n": 8, "c": 4})
    rollouts = read(path, merge=True)
    assert rollouts.groups == (Group("1", 2, 1), Group("1", 8, 4))
    assert table(path, merge=True) == {"1": (10, 5)}
    assert any("--merge" in sentence for sentence in rollouts.understood)


def test_a_list_of_rewards_is_a_group(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", {"prompt_id": "a", "rewards": [1, 0, 1]}, {"prompt_id": "b", "rewards": [0.0, 0]})
    assert table(path) == {"a": (3, 2), "b": (2, 0)}


def test_minus_one_and_one_count_as_zero_and_one_do(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", {"prompt_id": "a", "rewards": [-1, 1, -1]}, {"prompt_id": "b", "rewards": [-1]})
    assert table(path) == {"a": (3, 1), "b": (1, 0)}
    assert "two reward values, -1 and 1: the larger means correct" in read(path).understood


def test_a_missing_reward_is_left_out_and_never_wrong(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"prompt_id": "a", "rewards": [1, null, 0, NaN]}\n{"prompt_id": "b", "rewards": [null]}\n')
    rollouts = read(path)
    assert table(path) == {"a": (2, 1)}
    assert rollouts.left_out == (LeftOut("samples without a reward (null or NaN)", 3),)
    assert "prompts without any reward, which are not counted as prompts: 1" in rollouts.understood


def test_groups_of_one_prompt_are_pooled_and_it_is_said(tmp_path: Path) -> None:
    rows = [{"prompt_id": "a", "group": g, "rewards": [1, 0]} for g in (0, 1)]
    rollouts = read(write(tmp_path, "x.jsonl", *rows))
    assert rollouts.groups == (Group("a", 2, 1), Group("a", 2, 1))
    assert "groups of the same prompt are pooled (groups: 2, prompts: 1)" in rollouts.understood


def test_one_reward_a_line_is_gathered_by_prompt(tmp_path: Path) -> None:
    expected = {"a": (2, 1), "b": (1, 1)}
    rows = [{"prompt_id": "a", "reward": 0}, {"prompt_id": "b", "reward": 1}, {"prompt_id": "a", "reward": 1}]
    assert table(write(tmp_path, "x.jsonl", *rows)) == expected
    assert table(write(tmp_path, "x.csv", "prompt_id,reward", "a,0", "b,1", "a,1.0")) == expected


def test_a_csv_cell_without_a_reward_is_missing(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", "prompt_id,reward", "a,0", "a,", "a,nan", "a,1")
    assert table(path) == {"a": (2, 1)}
    assert read(path).left_out[0].rows == 2


def test_what_the_file_calls_correct_comes_before_its_scores(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", *({"id": "a", "acc": acc, "score": -0.5} for acc in (True, False, True)))
    assert table(path) == {"a": (3, 2)}
    assert "correct is what the file says: true" in read(path).understood


def test_threshold_decides_between_many_values(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", {"prompt_id": "a", "rewards": [0.1, 0.5, 0.9]})
    assert table(path, threshold=0.5) == {"a": (3, 2)}


def test_one_step_of_several(tmp_path: Path) -> None:
    rows = [{"prompt_id": "a", "step": step, "rewards": [step == 2, False]} for step in (1, 2)]
    path = write(tmp_path, "x.jsonl", *rows)
    assert table(path, step=2) == {"a": (2, 1)}
    assert read(path, step=2).left_out == (LeftOut("rows of other steps", 1),)


def test_a_quoted_cell_may_hold_a_line_break(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('id,n,c\n"two\nlines",8,3\nb,8,4\n')
    assert table(path) == {"two\nlines": (8, 3), "b": (8, 4)}


def test_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": 1, "n": 2, "c": 1}\r\n\r\n{"id": 2, "n": 2, "c": 2}')
    assert table(path) == {"1": (2, 1), "2": (2, 2)}


def test_a_named_format_is_used_without_asking_others(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", {"id": "a", "n": 8, "c": 3, "rewards": [True, False]})
    assert table(path) == {"a": (8, 3)}
    assert table(path, "rewards-jsonl", reward="rewards") == {"a": (2, 1)}


def test_each_format_says_what_it_holds() -> None:
    assert set(formats()) == {"counts-jsonl", "rewards-jsonl", "counts-csv", "rewards-csv", "trl-parquet"}
    assert all(formats().values())


@given(st.dictionaries(st.text(min_size=1), st.tuples(st.integers(1, 99), st.integers(0, 99)), min_size=1))
def test_any_counts_come_back_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, data: dict) -> None:
    wanted = {prompt: (n, min(c, n)) for prompt, (n, c) in data.items()}
    rows = [{"id": prompt, "n": n, "c": c} for prompt, (n, c) in wanted.items()]
    assert table(write(tmp_path_factory.mktemp("any"), "x.jsonl", *rows)) == wanted
