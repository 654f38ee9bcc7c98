"""`reweight weights --plot` and the pictures of `--out`."""

from __future__ import annotations

import json

import pytest

BONUS = ["--rewards", "1,1,-1,-1", "--probabilities", "0.1,0.2,0.3,0.4", "--counts", "1,0,1,0", "--bonus", "0.4"]
STARTS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("suffix", STARTS)
def test_formats_by_suffix_and_the_same_bytes_each_time(reweight, tmp_path, suffix):
    first, second = (tmp_path / f"{name}.{suffix}" for name in ("first", "second"))
    for path in (first, second):
        answer = reweight("weights", "-p", "0.01,0.5", "--plot", path)
        assert answer.code == 0
        assert f"plot: {path}" in answer.err
    assert first.read_bytes().startswith(STARTS[suffix])
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "pictures"),
    [
        (["-p", "0.01,0.5"], ["gap", "signal"]),
        (["-p", "0.01", "--preset", "pkpo"], ["gap"]),
        (["-p", "1e-9", "--preset", "pkpo"], ["gap"]),
        (["-p", "0.01", "--tpr", "0.9"], ["gap"]),
        (["-p", "0.01", "--fpr", "1"], ["gap"]),
        (["-p", "0.01", "--fpr", "1", "--mixed-only"], ["gap"]),
        (["--rewards", "3,3", "--probabilities", "0.5,0.5"], ["answers"]),
        (
            ["--rewards", "1,0", "--probabilities", "1e-300,1", "--preset", "maxrl", "--filter", "solved"],
            ["answers", "signal"],
        ),
        (["--rewards", "1,1/2,0", "--probabilities", "0.2,0.3,0.5"], ["answers", "signal"]),
        (["--rewards", "1,1/2,0", "--probabilities", "0.2,0.3,0.5", "--lengths", "1,2,3"], ["answers"]),
        (BONUS, ["answers", "signal", "bonus"]),
        (["-p", "0.01,0.5", "--preset", "areal"], []),
    ],
)
def test_a_report_has_the_pictures_that_there_are(reweight, tmp_path, arguments, pictures):
    assert reweight("weights", *arguments, "--out", tmp_path).code == 0
    report = json.loads((tmp_path / "report.json").read_text())
    blocks = report["sections"][0]["blocks"]
    assert [block["name"] for block in blocks if block.get("name")] == pictures


def test_the_caption_says_which_prompt_is_marked(reweight, tmp_path):
    assert reweight("weights", *BONUS, "--out", tmp_path).code == 0
    page = (tmp_path / "report.md").read_text()
    assert "A bonus of 0.4 for a tool that a share of 0.4 of the answers calls once" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "0.1", "--plot", "weights.gif"], "end the name in"),
        (["-p", "0.1", "--plot", "weights"], "end the name in"),
        (["-p", "0.1", "--preset", "areal", "--plot", "{}/weights.png"], "needs the whole batch"),
        (["-p", "0.1", "--plot", "/dev/null/weights.png"], "cannot be written"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(reweight, tmp_path, arguments, message):
    answer = reweight("weights", *[each.format(tmp_path) for each in arguments])
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_folder_of_a_picture_is_made(reweight, tmp_path):
    path = tmp_path / "new" / "folder" / "weights.png"
    answer = reweight("weights", "-p", "0.1", "--plot", path)
    assert answer.code == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert str(path) in answer.err
