"""`reweight forecast`: what it prints and writes, and its exit codes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reweight.rollouts import example

DATA = Path(__file__).parents[1] / "data"
GOOD = '{"id": "a", "n": 8, "c": 3}\n'
COMMAND = [sys.executable, "-c", "from reweight.cli import main; main()", "forecast"]


def test_text(reweight) -> None:
    code, out, err = reweight("forecast", example())
    assert (code, err) == (0, "")
    assert "200 prompts, 1600 samples, 8 a prompt" in out
    assert "0.6200 [0.5489, 0.6873]" in out
    assert "pass rate: 0.8744 [0.8367, 0.9033]" in out


def test_json_follows_the_schema(reweight) -> None:
    from importlib.resources import files

    import jsonschema

    code, out, _ = reweight("forecast", example(), "--json", "-G", "4", "-G", "16", "-T", "2", "--level", "0.9")
    assert code == 0
    document = json.loads(out)
    jsonschema.validate(document, json.loads((files("reweight.forecasting") / "schema.json").read_text()))
    assert list(document["dead_share"]) == ["4", "16"]
    assert document["level"] == 0.9
    assert document["discovery"]["group_size"] == 4
    assert list(document["discovery"]["groups"]) == ["2"]


def test_the_preset_decides_what_the_signal_is(reweight) -> None:
    signal = {}
    for preset in ("trl", "rloo"):
        code, out, _ = reweight("forecast", example(), "--json", "--preset", preset, "-G", "8", "-T", "1")
        assert code == 0
        signal[preset] = json.loads(out)["signal"]["8"]["estimate"]
    assert signal["trl"] > signal["rloo"] > 0


def test_out_writes_a_report(reweight, tmp_path: Path) -> None:
    code, _, err = reweight("forecast", example(), "-G", "8", "-T", "1", "--out", tmp_path / "out")
    assert code == 0
    names = ["forecast.json", "index.html", "report.json", "report.md"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_file()) == names
    assert all(name in err for name in names)
    assert sorted(path.stem for path in (tmp_path / "out" / "figures").glob("*.svg")) == ["forecast", "path"]
    facts = json.loads((tmp_path / "out" / "report.json").read_text())["facts"]
    assert facts["command"].startswith("reweight ")
    assert hashlib.sha256(example().read_bytes()).hexdigest() in facts.values()
    assert "numpy" in facts["versions"]


def quick(*options: object) -> list[object]:
    """A forecast of the example with the cheap parts alone."""
    return ["forecast", example(), "-G", "8", "-T", "1", "--no-path", "--no-control", "--no-plan", *options]


def test_every_part_follows_the_schema(reweight) -> None:
    from importlib.resources import files

    import jsonschema

    schema = json.loads((files("reweight.forecasting") / "schema.json").read_text())
    code, out, _ = reweight(
        *("forecast", example(), "-G", "8", "-T", "1", "--tau", "0.5", "--tpr", "0.9", "--fpr", "0.05"),
        *("--design", "0.2", "--target", "0.9", "--step-size", "0.05", "--json"),
    )
    assert code == 0
    document = json.loads(out)
    jsonschema.validate(document, schema)
    parts = ["plan", "spread", "stuck", "noise", "target", "design", "path", "policy_gradient", "control"]
    assert [name for name in document if name in parts] == sorted(parts, key=list(document).index)
    assert set(parts) <= set(document)
    quantity = schema["$defs"]["quantity"] | {"$defs": schema["$defs"]}
    numbers = list(_numbers(document))
    assert len(numbers) > 50
    for number in numbers:
        jsonschema.validate(number, quantity)


def _numbers(value: object) -> Iterator[dict]:
    """Every number with limits, wherever it stands."""
    if isinstance(value, dict):
        if "identified" in value:
            yield value
        for inner in value.values():
            yield from _numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner)


def test_a_guarantee_makes_intervals_wider(reweight) -> None:
    widths = []
    for options in ([], ["--guarantee"]):
        code, out, _ = reweight(*quick("--json", *options))
        assert code == 0
        rate = json.loads(out)["pass_rate"]
        widths.append(rate["high"] - rate["low"])
    assert 1.2 < widths[1] / widths[0] < 2.2


def test_a_log_is_held_against_the_file(reweight) -> None:
    code, out, err = reweight(*quick("--calibrate", DATA / "curves_gsm8k_grpo.csv", "--json"))
    assert code == 0
    found = json.loads(out)["calibration"]
    assert found["speed_verdict"] == "model refuted"  # the file is of another model than the log
    assert "218 steps" in err
    code, out, _ = reweight(*quick("--calibrate", DATA / "trl_1.16" / "log_history.json", "--log-groups", "2"))
    assert code == 0
    assert "Calibration: tilt" in out


@pytest.mark.parametrize(
    "options",
    [
        ["--design", "0"],
        ["--design", "0.1", "--about", "x"],
        ["--target", "0.9"],
        ["--target", "2", "--step-size", "0.1"],
        ["--target", "0.9", "--step-size", "0.1", "--budget", "100"],
        ["--tpr", "0.4", "--fpr", "0.5"],
        ["--length", "-1", "--tau", "1"],
        ["--calibrate", "missing.csv"],
        ["--calibrate", DATA / "curves_gsm8k_grpo.csv", "--log-values", "1"],
        ["--calibrate", DATA / "curves_gsm8k_grpo.csv", "--log-values", "1,0"],
        ["--calibrate", DATA / "curves_gsm8k_grpo.csv", "--log-reward", "x"],
        ["--budget", "0", "--step-rollouts", "-1"],
    ],
)
def test_parts_refuse_what_makes_no_sense(reweight, options: list[object]) -> None:
    code, out, err = reweight("forecast", example(), "-G", "8", "-T", "1", "--no-control", *options)
    assert (code, out) == (2, "")
    assert err.startswith("reweight: ") or "steps" in err


def test_parts_can_be_left_out(reweight) -> None:
    code, out, _ = reweight(
        "forecast", example(), "-G", "8", "-T", "1", "--no-path", "--no-control", "--no-plan", "--json"
    )
    assert code == 0
    assert not {"path", "policy_gradient", "control", "plan", "stuck"} & json.loads(out).keys()
    code, out, _ = reweight("forecast", example(), "-G", "8", "-T", "1", "--tau", "0.5", "--length", "100")
    assert code == 0
    assert "nats a token at 100 tokens" in out


def test_every_file_of_the_data_folder(reweight) -> None:
    for path in [*DATA.glob("*.jsonl"), *DATA.glob("trl_1.16/*.parquet")]:
        code, out, err = reweight("forecast", path, "-G", "8", "-T", "1")
        assert (code, err) == (0, ""), path
        assert "pass rate:" in out


def test_options_reach_the_reader(reweight, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"prompt_id": "a", "step": 1, "quality": [0.1, 0.9, 0.5], "rewards": [0, 0, 0]}\n' * 2)
    options = ["--format", "rewards-jsonl", "--threshold", "0.5", "--reward", "quality", "--step", "1", "--merge"]
    code, out, _ = reweight("forecast", path, *options, "-G", "2", "-T", "1", "--json")
    assert code == 0
    assert json.loads(out)["counts"] == {"6": {"4": 1}}


BAD = {
    "c above n": '{"id": "b", "n": 8, "c": 9}',
    "n = 0": '{"id": "b", "n": 0, "c": 0}',
    "negative": '{"id": "b", "n": 8, "c": -1}',
    "fraction": '{"id": "b", "n": 8, "c": 0.5}',
    "bool": '{"id": "b", "n": 8, "c": false}',
    "nan": '{"id": "b", "n": NaN, "c": 1}',
    "no id": '{"n": 8, "c": 1}',
    "cut in half": '{"id": "b", "n": 8',
    "duplicate": GOOD,
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_a_bad_line_ends_with_two_and_one_sentence(reweight, tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(GOOD + line)
    code, out, err = reweight("forecast", path)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert str(path) in err
    assert "line 2" in err


@pytest.mark.parametrize(
    "options",
    [
        ["--preset", "none-such"],
        ["-G", "1"],
        ["-G", "0"],
        ["-T", "0"],
        ["--level", "1"],
        ["--level", "1e400"],
        ["--level", "nan"],
        ["--level", "0.99999999999999999999"],
        ["--threshold", "1e400"],
        ["--reward", "\x1b[31m"],
        ["--format", "\x1b[31m\n"],
        ["--format", "xml"],
        ["--threshold", "1"],
    ],
)
def test_bad_options_end_with_two(reweight, options: list[str]) -> None:
    code, out, err = reweight("forecast", example(), *options)
    assert (code, out) == (2, "")
    assert err.removesuffix("\n").isprintable()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"PAR1 and no more", b"a,b\n1,2\n", b"[1, 2]"])
def test_a_bad_file_ends_with_two_and_one_sentence(reweight, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    code, out, err = reweight("forecast", path)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert str(path) in err


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf",
        "\u00a0".encode(),
        b"\x1c",
        b"id,n,c\rx",
        b'"id",n,c\rx\n',
        b"x" * 200_000,
        b"id," + b"x" * 200_000,
    ]
    + [b'{"id":"a","n":%s,"c":0}' % n for n in (b"1e308", b"1" + b"0" * 30, b"9223372036854775808", b"9" * 400)],
    ids=range(11),
)
def test_a_strange_file_ends_with_two_and_one_safe_sentence(reweight, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x\x1b[31m\nforged"
    path.write_bytes(content)
    code, out, err = reweight("forecast", path)
    assert (code, out) == (2, "")
    assert err.removesuffix("\n").isprintable()
    assert len(err) < 1000


def test_what_a_file_holds_is_printed_safely(reweight, tmp_path: Path) -> None:
    path = tmp_path / "x\x1b[31m\nforged.jsonl"
    path.write_text('{"id": "a", "n": 8, "c": 3, "\\u001b]0;t\\u0007\\n\\ud800": 1}\n')
    for options in ([], ["--json"], ["--out", tmp_path / "out\x1b[31m\nforged"]):
        code, out, err = reweight("forecast", path, "-G", "8", "-T", "1", *options)
        assert code == 0
        assert all(line.isprintable() for line in (out + err).splitlines())
        assert not any(line.startswith("forged") for line in (out + err).splitlines())
        (out + err).encode("utf-8")


def test_a_folder_that_cannot_be_written_to_is_found_before_anything_else(reweight, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "below", "/proc/none"):
        code, printed, err = reweight("forecast", tmp_path / "no such file", "--out", out)
        assert (code, printed, err.count("\n")) == (2, "", 1)
        assert "cannot be written to" in err


def test_files_that_cannot_be_replaced_leave_nothing_on_standard_output(reweight, tmp_path: Path) -> None:
    (tmp_path / "forecast.json").mkdir()
    code, out, err = reweight("forecast", example(), "-G", "8", "-T", "1", "--out", tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_a_missing_file_and_a_folder_end_with_two(reweight, tmp_path: Path) -> None:
    for path in (tmp_path / "missing.jsonl", tmp_path):
        code, out, err = reweight("forecast", path)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert str(path) in err


def test_no_traceback_in_a_process_of_its_own(tmp_path: Path) -> None:
    """A name that is not UTF-8 comes through the real argument list."""
    (tmp_path / "cut.parquet").write_bytes((DATA / "trl_1.16" / "completions_00001.parquet").read_bytes()[:2000])
    folder = os.fsencode(tmp_path)
    with open(folder + b"/\xff.jsonl", "w") as stream:
        stream.write(GOOD)
    for name in (b"cut.parquet", b"\xff.jsonl"):
        done = subprocess.run([*COMMAND, folder + b"/" + name], capture_output=True, check=False)
        assert done.returncode == 2, name
        assert done.stdout == b"", name
        assert done.stderr.startswith(b"reweight: "), name
        assert done.stderr.count(b"\n") == 1, name
