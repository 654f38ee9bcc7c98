"""Every format, read from a file, gives the counts that are in it and says how it was understood."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reweight.errors import InputError
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


def test_ids_may_be_whole_numbers_and_keep_all_their_digits(tmp_path: Path) -> None:
    numbers = [7, 8.0, 2**70, 2**70 + 1]
    rows = [{"id": number, "n": 2, "c": 1} for number in numbers]
    path = write(tmp_path, "x.jsonl", *rows, {"id": "z", "n": 4, "c": 4})
    assert table(path) == {**{str(int(number)): (2, 1) for number in numbers}, "z": (4, 4)}


def test_one_id_is_not_a_number_in_one_row_and_a_string_in_another(tmp_path: Path) -> None:
    rows = [{"prompt_id": 7, "reward": 1}, {"prompt_id": "7", "reward": 0}]
    for order in (rows, rows[::-1]):
        with pytest.raises(InputError, match=r"line 2: the prompt id 7 is a .* here and a .* before"):
            read(write(tmp_path, "x.jsonl", *order))


def test_an_id_in_csv_is_its_text(tmp_path: Path) -> None:
    ids = ["007", "7", "07.0", "1e5", "100000", "5e400", "none", "true", "nan", "12345678901234567890123", "x,y"]
    ids += ["12345678901234567890124", " 7"]
    cells = [f'"{name}"' for name in ids]
    counts = write(tmp_path, "x.csv", "id,n,c", *(f"{cell},8,{i % 2}" for i, cell in enumerate(cells)))
    assert table(counts) == {name: (8, i % 2) for i, name in enumerate(ids)}
    rewards = write(
        tmp_path, "y.csv", "prompt_id,group,reward", *(f"{cell},{cell},{i % 2}" for i, cell in enumerate(cells))
    )
    assert table(rewards) == {name: (1, i % 2) for i, name in enumerate(ids)}


def test_groups_in_csv_are_their_text_too(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", "prompt_id,group,reward", "a,1,0", "a,01,1", "a,1,1", "a,,1")
    assert read(path).groups == (Group("a", 2, 1), Group("a", 1, 1), Group("a", 1, 1))


def test_fields_that_are_not_used_are_named(tmp_path: Path) -> None:
    rollouts = read(write(tmp_path, "x.jsonl", {"id": 1, "n": 2, "c": 1, "model": "m"}))
    assert "fields not used: model" in rollouts.understood


def test_merge_adds_rows_of_one_prompt(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", {"id": 1, "n": 2, "c": 1}, {"id": 1, "n": 8, "c": 4})
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


def test_rows_without_rewards_are_counted_as_left_out(tmp_path: Path) -> None:
    empty = [{"prompt_id": "a", "rewards": []}, {"prompt_id": "b", "rewards": None}]
    full = {"prompt_id": "c", "rewards": [1, 0]}
    for order in ([*empty, full], [full, *empty]):
        rollouts = read(write(tmp_path, "x.jsonl", *order))
        assert rollouts.groups == (Group("c", 2, 1),)
        assert rollouts.left_out == (LeftOut("rows without rewards (null or an empty list)", 2),)
        assert "prompts without any reward, which are not counted as prompts: 2" in rollouts.understood


def test_different_rewards_read_differently(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", {"prompt_id": "a", "rewards": [1, 0.9999999999]})
    assert "two reward values, 0.9999999999 and 1: the larger means correct" in read(path).understood


def test_of_many_fields_that_are_not_used_a_few_are_named(tmp_path: Path) -> None:
    rows = [{"id": i, "n": 8, "c": 3, f"k{i}": 1, "evil\n\x1b\ud800": 1} for i in range(20_000)]
    (sentence,) = [line for line in read(write(tmp_path, "x.jsonl", *rows)).understood if "not used" in line]
    assert sentence.isprintable()
    assert sentence.endswith("and 19989 more")
    assert len(sentence) < 200


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


def test_line_ends_of_an_old_mac(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"id,n,c\ra,8,3\rb,8,4\r")
    assert table(path) == {"a": (8, 3), "b": (8, 4)}


def test_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": 1, "n": 2, "c": 1}\r\n\r\n{"id": 2, "n": 2, "c": 2}')
    assert table(path) == {"1": (2, 1), "2": (2, 2)}


def test_a_named_format_is_used_without_asking_others(tmp_path: Path) -> None:
    path = write(tmp_path, "x.jsonl", {"id": "a", "n": 8, "c": 3, "rewards": [True, False]})
    assert table(path) == {"a": (8, 3)}
    assert table(path, "rewards-jsonl", reward="rewards") == {"a": (2, 1)}


def test_each_format_says_what_it_holds() -> None:
    plain = {f"{what}-{how}" for what in ("counts", "rewards") for how in ("jsonl", "csv", "parquet")}
    assert {*plain, "trl-parquet"} <= set(formats())
    assert all(formats().values())


@given(st.dictionaries(st.text(min_size=1), st.tuples(st.integers(1, 99), st.integers(0, 99)), min_size=1))
def test_any_counts_come_back_as_they_were_written(tmp_path_factory: pytest.TempPathFactory, data: dict) -> None:
    wanted = {prompt: (n, min(c, n)) for prompt, (n, c) in data.items()}
    rows = [{"id": prompt, "n": n, "c": c} for prompt, (n, c) in wanted.items()]
    assert table(write(tmp_path_factory.mktemp("any"), "x.jsonl", *rows)) == wanted


LEVELS = {"a": (8, 3), "b": (4, 0)}


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet", "array"])
@pytest.mark.parametrize("levels", [False, True])
def test_counts_come_in_several_dresses(tmp_path: Path, kind: str, levels: bool) -> None:
    rows = [{"id": prompt, "n": n, "c": c} for prompt, (n, c) in LEVELS.items()]
    if levels:
        pairs = [(prompt, [(-1.0, n - c), (1.0, c)]) for prompt, (n, c) in LEVELS.items()]
        rows = [{"id": prompt, "reward": level, "count": times} for prompt, pair in pairs for level, times in pair]
    path = tmp_path / f"x.{kind}"
    if kind == "csv":
        lines = [",".join(rows[0]), *(",".join(str(value) for value in row.values()) for row in rows)]
        path.write_text("\n".join(lines))
    elif kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text(json.dumps(rows) if kind == "array" else "\n".join(map(json.dumps, rows)))
    assert table(path) == LEVELS
    assert read(path).format == "counts-" + kind.replace("array", "jsonl")


def test_counts_of_rewards_by_level(tmp_path: Path) -> None:
    rows = [{"id": "a", "counts": {"0": 5, "0.5": 2, "1": 1, "null": 1}}, {"id": "b", "counts": {"0.5": 4, "1": 0}}]
    path = write(tmp_path, "x.jsonl", *rows)
    with pytest.raises(InputError, match="3 different rewards between 0 and 1"):
        read(path)
    assert table(path, threshold=0.5) == {"a": (8, 3), "b": (4, 4)}
    assert read(path, threshold=0.5).left_out == (LeftOut("samples without a reward (null or NaN)", 1),)
    with pytest.raises(InputError, match="has no use for --threshold"):
        read(write(tmp_path, "y.jsonl", {"id": "a", "n": 8, "c": 3}), threshold=0.5)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"id": "b", "counts": [1]}, r"line 2: counts is \[1\]; write an object"),
        ({"id": "b", "counts": {"x": 1}}, "line 2: the reward 'x' is not a number"),
        ({"id": "b", "counts": {"inf": 1}}, "line 2: the reward is infinite"),
        ({"id": "b", "counts": {"1": -1}}, "line 2: -1 is not a number of samples"),
        ({"id": "b", "counts": {"1": 10**400}}, "is not a number of samples"),
        ({"id": "b", "counts": {"1": True}}, "line 2: True is not a number of samples"),
        ({"id": "a", "counts": {"1": 1}}, "prompt 'a' has the reward 1.0 on line 1 and again on line 2"),
        ({"id": "b"}, "line 2: the row has no field counts"),
    ],
)
def test_counts_by_level_are_refused(tmp_path: Path, row: dict, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        read(write(tmp_path, "x.jsonl", {"id": "a", "counts": {"0": 5, "1": 3}}, row))


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_rewards_in_parquet_are_those_of_the_rows(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(3)
    pairs = zip(rng.integers(0, 9, 999), rng.random(999) < 0.4, strict=True)
    rows = [{"prompt_id": int(i), "reward": float(r)} for i, r in pairs]
    wanted = {str(i): (0, 0) for i in dict.fromkeys(row["prompt_id"] for row in rows)}
    for row in rows:
        n, c = wanted[str(row["prompt_id"])]
        wanted[str(row["prompt_id"])] = n + 1, c + int(row["reward"])
    path = tmp_path / f"x.{kind}"
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=100)
    elif kind == "csv":
        path.write_text("\n".join(["prompt_id,reward", *(f"{r['prompt_id']},{r['reward']}" for r in rows)]))
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
    assert table(path) == wanted
