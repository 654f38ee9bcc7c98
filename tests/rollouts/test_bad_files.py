"""Bad files are refused with one sentence that names the file, the line and the remedy."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
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
    "no id": ('{"n": 8, "c": 3}', "line 2: the row has no field id; give every row the same fields"),
    "empty id": ('{"id": "", "n": 8, "c": 3}', "line 2: the row has no prompt id"),
    "bool id": ('{"id": true, "n": 8, "c": 3}', "line 2: True is not a prompt id"),
    "list id": ('{"id": [1], "n": 8, "c": 3}', "line 2: [1] is not a prompt id"),
    "duplicate": ('{"id": "a", "n": 8, "c": 3}', "prompt 'a' is on line 1 and again on line 2"),
    "cut in half": ('{"id": "b", "n":', "line 2: this is not a whole JSON object"),
    "not an object": ("[1, 2]", "line 2: this is JSON but not an object"),
    "key twice": ('{"id": "b", "id": "c", "n": 8, "c": 3}', "line 2: the key 'id' is written twice"),
    "key twice inside": ('{"id": "b", "n": 8, "c": 3, "x": {"y": 1, "y": 2}}', "line 2: the key 'y' is written twice"),
    "digits": ('{"id": "b", "n": 8, "c": ' + "9" * 5000 + "}", "line 2: a whole number has thousands of digits"),
    "fraction id": ('{"id": 1.5, "n": 8, "c": 3}', "line 2: 1.5 is not a prompt id"),
    "rounded id": ('{"id": 9007199254740993.0, "n": 8, "c": 3}', "line 2: 9007199254740992.0 is not a prompt id"),
    "other names": ('{"prompt_id": "b", "total": 8, "correct": 3}', "line 2: the row has no field id; give every row"),
    **{
        f"count {value[:6]}": (f'{{"id": "b", "n": {value}, "c": 0}}', "is more than 1e9")
        for value in ("1e308", "1000000001", str(2**63), "1" + "0" * 30, "1" + "0" * 400)
    },
    "too deep": ('{"id": ' + "[" * 100_000, "line 2: the JSON is nested too deeply"),
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


@pytest.mark.parametrize("digits", ["８", "٨", "²"])
def test_digits_of_other_scripts_are_no_numbers(tmp_path: Path, digits: str) -> None:
    assert "is not a number" in refused_text(tmp_path, "x.csv", f"id,n,c\na,{digits},0\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id,n,c," + "x" * 200_000 + "\na,8,3,1\n", "line 1: broken CSV (field larger than field limit"),
        ("x" * 10**7, "line 1: broken CSV (field larger than field limit"),
        ('"id",n,c\rx\na,8,3\n', "line 2: 1 cells under 3 columns"),
        ('id,n,c\n"a\nb",8\n', "line 2: 2 cells"),
        ("id,n,c\na," + "9" * 5000 + ",3\n", "is not a whole number"),
        ("id,n,c\na,1e400,3\n", "n = inf is not a whole number"),
        ("prompt_id,reward\n ,1\n", "line 2: the row has no prompt id"),
    ],
)
def test_odd_csv(tmp_path: Path, text: str, expected: str) -> None:
    assert expected in refused_text(tmp_path, "x.csv", text)


def test_a_column_twice(tmp_path: Path) -> None:
    assert "column name is written twice" in refused_text(tmp_path, "x.csv", "id,n,c,c\na,8,3,4\n")


@pytest.mark.parametrize("text", ["", "\n\n  \n", "\ufeff", "\ufeff\n\n", "\u00a0\u2003", "\x1c\x1d\x85"])
def test_an_empty_file(tmp_path: Path, text: str) -> None:
    assert "the file is empty" in refused_text(tmp_path, "x.jsonl", text)


def test_a_first_line_cut_in_half(tmp_path: Path) -> None:
    assert "line 1: this is not a whole JSON object" in refused_text(tmp_path, "x.jsonl", GOOD[:10])


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    assert "line 2: the text is not UTF-8" in refused_text(tmp_path, "x.jsonl", GOOD.encode() + b'{"id": "\xff"}')


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (gzip.compress(GOOD.encode()), "is compressed with gzip; unpack it first"),
        (bz2.compress(GOOD.encode()), "is compressed with bzip2; unpack it first"),
        (GOOD.encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
        (lzma.compress(GOOD.encode()), "is compressed with xz; unpack it first"),
    ],
)
def test_what_else_it_may_be_is_named(tmp_path: Path, content: bytes, expected: str) -> None:
    assert expected in refused_text(tmp_path, "x.jsonl", content)


@pytest.mark.parametrize("step", ["true", "[1]", "{}", '"1"', "1.5", "NaN", "null", '"\\u001b[31m"'])
def test_a_step_is_a_whole_number(tmp_path: Path, step: str) -> None:
    row = '{"prompt_id": "a", "rewards": [1, 0], "step": %s}\n'
    message = refused_text(tmp_path, "x.jsonl", row % "1" + row.replace('"a"', '"b"') % step)
    assert "line 2: the" in message
    assert "step" in message
    assert message.isprintable()


def test_a_step_is_in_every_row_or_in_none(tmp_path: Path) -> None:
    rows = ['{"prompt_id": "a", "rewards": [1, 0], "step": 1}', '{"prompt_id": "b", "rewards": [1, 0]}']
    for order in (rows, rows[::-1]):
        assert "the row has no training step, as others have" in refused_text(tmp_path, "x.jsonl", "\n".join(order))


EVIL = "\x1b[31m\nleft out: 99 rows\u202e\ud800"


@pytest.mark.parametrize(
    "fields",
    [
        {EVIL: 1},
        {"id": EVIL, "n": 8, "c": 9},
        {"id": "a", "n": EVIL, "c": 9},
        {"id": [EVIL], "n": 8, "c": 3},
        {"prompt_id": "a", "rewards": [EVIL]},
        {"prompt_id": "a", "rewards": [1, 0], "step": EVIL},
        {"prompt_id": "a", "rewards": [1, 0], "group": [EVIL]},
        *({f"key {i}": 1 for i in range(many)} for many in (20_000,)),
        {"id": "x" * 10**5, "n": 8, "c": [1] * 10**5},
        {"x" * 10**5: 1},
    ],
    ids=range(10),
)
def test_text_of_the_file_cannot_forge_or_fill_a_message(tmp_path: Path, fields: dict[str, object]) -> None:
    path = tmp_path / "a\x1b[31m\nb.jsonl"
    path.write_text(json.dumps(fields))
    message = refusal(path)
    assert message.isprintable()
    assert len(message) < 1500


def test_a_reward_field_that_is_not_there(tmp_path: Path) -> None:
    rows = '{"prompt_id": "a", "rewards": [true, false]}'
    for name in ("", EVIL):
        assert "the row has no field" in refused_text(tmp_path, "x.jsonl", rows, reward=name)


def test_a_threshold_that_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"prompt_id": "a", "rewards": [0.1, 0.5, 0.9]}')
    for threshold in (float("nan"), float("inf")):
        assert "is not a finite number" in refusal(path, threshold=threshold)


def test_fields_of_no_known_format(tmp_path: Path) -> None:
    message = refused_text(tmp_path, "x.jsonl", '{"a": 1, "b": 2}')
    assert "no known format has the fields a, b" in message
    assert "give each row id, n and c, or prompt_id and reward, or a file of trl-parquet, verl-dump" in message


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

    def denied(self: Path, mode: str) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", denied)
    assert "may not be read by this user" in refusal(path)


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/\xff.jsonl"
    with open(raw, "w") as stream:
        stream.write(GOOD)
    message = refusal(os.fsdecode(raw))
    assert "is not UTF-8; rename the file" in message
    message.encode("utf-8")


def test_impossible_paths() -> None:
    assert "the name of the file is empty" in refusal("")
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
        (
            '{"prompt_id": "a", "rewards": [1, 0]}\n{"prompt_id": "b", "rewards": 1}',
            "line 2: rewards is not a list as on line 1",
        ),
        (
            '{"prompt_id": "a", "rewards": 1}\n{"prompt_id": "b", "rewards": [1, 0]}',
            "line 2: rewards is a list, and one value",
        ),
        (
            '{"prompt_id": "a", "rewards": null}\n{"prompt_id": "b", "rewards": 1}\n{"prompt_id": "c", "rewards": [1]}',
            "line 3",
        ),
        ('{"prompt_id": "a", "rewards": [1' + "0" * 400 + "]}", "line 1: the reward 1000"),
        ('{"prompt_id": "a", "reward": 1}\n{"id": "a", "reward": 0}', "line 2: the row has no field prompt_id"),
        ('{"prompt_id": "a", "reward": 1, "group": [1]}', "line 1: [1] is not a name of a group"),
        (
            '{"prompt_id": "a", "reward": 1, "group": 1}\n{"prompt_id": "a", "reward": 1, "group": "1"}',
            "is a string here",
        ),
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
    for beyond in (10**9 + 1, 2**63, 2**64, 10**400):
        with pytest.raises(InputError, match="is more than 1e9"):
            Counts.of([8, beyond], [1, 1])
    for odd in ([None], [True], [2**64, 0.5], [2**64, "a"]):
        with pytest.raises(InputError, match="not a flat sequence of integers"):
            Counts.of(odd, [1] * len(odd))  # type: ignore[arg-type]
