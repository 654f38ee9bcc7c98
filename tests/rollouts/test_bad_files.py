"""Bad files are refused with one sentence that names the file, the line and the remedy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reweight.errors import InputError
from reweight.rollouts import Counts, read

GOOD = '{"id": "a", "n": 8, "c": 3}\n'
DATA = Path(__file__).parents[1] / "data"

BAD_LINES = {
    "c above n": ('{"id": "b", "n": 8, "c": 9}', "line 2: c = 9 correct of only n = 8"),
    "no sample": ('{"id": "b", "n": 0, "c": 0}', "line 2: n = 0"),
    "negative n": ('{"id": "b", "n": -8, "c": 0}', "line 2: n = -8 is negative"),
    "negative c": ('{"id": "b", "n": 8, "c": -1}', "line 2: c = -1 is negative"),
    "fraction": ('{"id": "b", "n": 8, "c": 2.5}', "line 2: c = 2.5 is not a whole number"),
    "bool": ('{"id": "b", "n": 8, "c": true}', "line 2: c = True is not a number"),
    "nan": ('{"id": "b", "n": 8, "c": NaN}', "line 2: c = nan is not a whole number"),
    "infinite": ('{"id": "b", "n": Infinity, "c": 1}', "line 2: n = inf is not a whole number"),
    "text": ('{"id": "b", "n": 8, "c": "3"}', "line 2: c = '3' is not a number"),
    "null": ('{"id": "b", "n": 8, "c": null}', "line 2: c = None is not a number"),
    "no c": ('{"id": "b", "n": 8}', "line 2: the row has no field c"),
    "no id": ('{"n": 8, "c": 3}', "line 2: the row has no prompt id"),
    "empty id": ('{"id": "", "n": 8, "c": 3}', "line 2: the row has no prompt id"),
    "bool id": ('{"id": true, "n": 8, "c": 3}', "line 2: True is not a prompt id"),
    "list id": ('{"id": [1], "n": 8, "c": 3}', "line 2: [1] is not a prompt id"),
    "duplicate": ('{"id": "a", "n": 8, "c": 3}', "prompt 'a' is on line 1 and again on line 2"),
    "cut in half": ('{"id": "b", "n":', "line 2: this is not a whole JSON object"),
    "not an object": ("[1, 2]", "line 2: this is JSON but not an object"),
    "key twice": ('{"id": "b", "id": "c", "n": 8, "c": 3}', "line 2: this is not a whole JSON object"),
    "too deep": ('{"id": ' + "[" * 100_000, "line 2: this is not a whole JSON object"),
}


def refusal(path: str | Path, *args: object, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        read(path, *args, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


def refused_text(folder: Path, name: str, text: str | bytes, *args: object, **options: object) -> str:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    message = refusal(path, *args, **options)
    assert name in message
    return message


@pytest.mark.parametrize(("line", "expected"), BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_of_counts(tmp_path: Path, line: str, expected: str) -> None:
    assert expected in refused_text(tmp_path, "x.jsonl", GOOD + line)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("a,8,9", "line 2: c = 9"),
        ("a,8", "line 2: 2 cells under 3 columns"),
        ("a,8,3,4", "line 2: 4 cells"),
        ("a,8,true", "line 2: c = True"),
        ("a,8,", "line 2: c = None"),
        ("a,8,1_0", "line 2: c = '1_0'"),
        (",8,3", "line 2: the row has no prompt id"),
        ("a,8,3\na,8,3", "on line 2 and again on line 3"),
        ('a,8,"3', "broken CSV"),
        ("", "there is no row under the header"),
    ],
)
def test_a_bad_line_of_csv(tmp_path: Path, rows: str, expected: str) -> None:
    assert expected in refused_text(tmp_path, "x.csv", f"id,n,c\n{rows}\n")


def test_a_column_twice(tmp_path: Path) -> None:
    assert "column name is written twice" in refused_text(tmp_path, "x.csv", "id,n,c,c\na,8,3,4\n")


@pytest.mark.parametrize("text", ["", "\n\n  \n"])
def test_an_empty_file(tmp_path: Path, text: str) -> None:
    assert "the file is empty" in refused_text(tmp_path, "x.jsonl", text)


def test_a_first_line_cut_in_half(tmp_path: Path) -> None:
    assert "line 1: this is not a whole JSON object" in refused_text(tmp_path, "x.jsonl", GOOD[:10])


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    assert "line 2: the text is not UTF-8" in refused_text(tmp_path, "x.jsonl", GOOD.encode() + b'{"id": "\xff"}')


def test_fields_of_no_known_format(tmp_path: Path) -> None:
    message = refused_text(tmp_path, "x.jsonl", '{"a": 1, "b": 2}')
    assert "no known format has the fields 'a, b'" in message
    assert "counts-jsonl: id, n, c" in message


def test_a_format_that_does_not_exist(tmp_path: Path) -> None:
    assert "there is no format 'xml'" in refusal(tmp_path / "x.jsonl", "xml")


def test_a_format_that_the_file_does_not_have(tmp_path: Path) -> None:
    assert "truncated or damaged" in refused_text(tmp_path, "x.jsonl", GOOD, "trl-parquet")
    assert "no field c" in refused_text(tmp_path, "y.jsonl", '{"id": 1, "n": 2}', "counts-jsonl")


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.99])
def test_a_truncated_parquet(tmp_path: Path, keep: float) -> None:
    whole = (DATA / "trl_1.16" / "completions_00001.parquet").read_bytes()
    assert "truncated or damaged" in refused_text(tmp_path, "x.parquet", whole[: int(len(whole) * keep)])


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    assert "there is no file" in refusal(tmp_path / "none.jsonl")
    assert "is a folder" in refusal(tmp_path)


def test_a_device() -> None:
    assert "is a device" in refusal("/dev/zero")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(GOOD)

    def denied(self: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", denied)
    assert "may not be read by this user" in refusal(path)


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/\xff.jsonl"
    with open(raw, "w") as stream:
        stream.write(GOOD)
    message = refusal(os.fsdecode(raw))
    assert "is not UTF-8; rename the file" in message
    message.encode("utf-8")


def test_impossible_paths() -> None:
    assert "cannot be read" in refusal("a\0b")
    assert "cannot be read" in refusal("x" * 5000)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ('{"prompt_id": "a", "rewards": [1, "x"]}', "line 1: the reward 'x' is not a number"),
        ('{"prompt_id": "a", "rewards": [1, Infinity]}', "line 1: the reward is infinite"),
        ('{"prompt_id": "a", "rewards": [0.1, 0.5, 0.9]}', "there are 3 different rewards between 0.1 and 0.9"),
        ('{"prompt_id": "a", "rewards": [-1, -1]}', "all rewards are -1, so it is not clear"),
        ('{"prompt_id": "a", "rewards": [null]}', "no sample has a reward"),
        ('{"prompt_id": "a", "rewards": [true, 0]}', "some rewards are numbers and some are true or false"),
        ('{"prompt_id": "a", "rewards": [1, 0]}\n{"prompt_id": "a", "rewards": [1]}', "on line 1 and again on line 2"),
        ('{"prompt_id": "a", "rewards": [1, 0]}\n{"prompt_id": "b"}', "line 2: the row has no field rewards"),
        ('{"prompt_id": "a", "rewards": [1, 0]}\n{"prompt_id": "b", "rewards": 1}', "line 2: rewards is not a list"),
        ('{"prompt_id": "a", "step": 1, "reward": 1}\n{"prompt_id": "a", "step": 2, "reward": 0}', "2 training steps"),
    ],
)
def test_bad_rewards(tmp_path: Path, lines: str, expected: str) -> None:
    assert expected in refused_text(tmp_path, "x.jsonl", lines)


def test_options_that_do_not_apply_are_refused(tmp_path: Path) -> None:
    assert "has no use for --threshold" in refused_text(tmp_path, "x.jsonl", GOOD, threshold=0.5)
    rewards = '{"prompt_id": "a", "rewards": [true, false]}'
    assert "--threshold says nothing" in refused_text(tmp_path, "y.jsonl", rewards, threshold=0.5)
    assert "no field step" in refused_text(tmp_path, "y.jsonl", rewards, step=1)
    assert "no field nothing" in refused_text(tmp_path, "y.jsonl", rewards, reward="nothing")
    stepped = '{"prompt_id": "a", "step": 1, "rewards": [true, false]}'
    assert "no row is of step 7" in refused_text(tmp_path, "z.jsonl", stepped, step=7)


def test_counts_from_arrays() -> None:
    with pytest.raises(InputError, match="differ in length"):
        Counts.of([8, 8], [1])
    with pytest.raises(InputError, match="c = 9 correct of n = 8"):
        Counts.of([8], [9])
    with pytest.raises(InputError, match="no prompt with a sample"):
        Counts.of([], [])
    with pytest.raises(InputError, match="not a flat sequence of integers"):
        Counts.of([8.0], [1])  # type: ignore[list-item]
