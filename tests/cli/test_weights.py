"""`reweight weights`: numbers, JSON, comparison, and what it refuses."""

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from reweight.groups.binary import gap
from reweight.objectives import preset

SCHEMA = json.loads((files("reweight.groups") / "weight_table.schema.json").read_text())


def test_a_binary_prompt(reweight):
    answer = reweight("weights", "--preset", "trl", "-G", 8, "--pass-rate", "0.01", "--json")
    assert answer.code == 0
    row = json.loads(answer.out)["weights"][0]
    expected = float(gap(0.01, 8, preset("trl").advantage))
    assert row["gap"] == expected
    assert row["correct"] - row["wrong"] == pytest.approx(expected, rel=1e-14)
    assert row["dead_share"] == pytest.approx(0.01**8 + 0.99**8, rel=1e-14)


@pytest.mark.parametrize("text", ["0.1", "1/10", "1e-1"])
def test_numbers_can_be_written_in_three_ways(reweight, text):
    row = json.loads(reweight("weights", "-p", text, "--json").out)["weights"][0]
    assert row["pass_rate"] == 0.1


def test_exact_values_are_printed(reweight):
    answer = reweight("weights", "--eps", 0, "--ddof", 0, "-G", 3, "-p", "1/7", "--precision", "rational")
    assert "1*sqrt(2)" in answer.out
    answer = reweight(
        "weights",
        "--rewards",
        "1,1/2,0",
        "--probabilities",
        "1/5,3/10,1/2",
        "--precision",
        "rational",
        "--json",
        "-G",
        2,
    )
    jsonschema.validate(json.loads(answer.out), SCHEMA)
    weights = json.loads(answer.out)["weights"]
    assert [row["answer"] for row in weights] == [0, 1, 2]
    assert all(row["value"] for row in weights)


def test_two_presets_side_by_side(reweight):
    answer = reweight("weights", "-p", "0.01", "--against", "dr_grpo", "--json")
    jsonschema.validate(json.loads(answer.out), SCHEMA)
    other = json.loads(answer.out)["against"]
    assert other["weights"][0]["gap"] == pytest.approx(7 / 8, rel=1e-14)
    assert "advantage.scale" in other["differs_in"]
    assert "where they differ" in reweight("weights", "-p", "0.01", "--against", "dr_grpo").out


def test_noise_and_mixed_groups(reweight):
    answer = reweight("weights", "--eps", 0, "-p", "0.1", "--tpr", "0.8", "--fpr", "1/5", "--json")
    assert json.loads(answer.out)["weights"][0]["gap"] == pytest.approx(1.12929623393147, abs=1e-13)
    mixed = json.loads(reweight("weights", "-p", "0.1", "--mixed-only", "--json").out)["weights"][0]
    assert mixed["gap"] > json.loads(reweight("weights", "-p", "0.1", "--json").out)["weights"][0]["gap"]


def test_a_report_is_written(reweight, tmp_path):
    answer = reweight("weights", "-p", "0.01", "--out", tmp_path / "report")
    assert answer.code == 0
    assert "index.html" in answer.err
    assert (
        "<svg" in (tmp_path / "report" / "index.html").read_text()
        or "data:image" in (tmp_path / "report" / "index.html").read_text()
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "1.2"], "1.2"),
        (["-p", "nan"], "not a number"),
        (["-p", "half"], "not a number"),
        (["-p", "0.5", "-G", "1"], "group of one"),
        (["-p", "0.5", "--scale", "none", "-G", "1"], "group of one"),
        ([], "say what is asked"),
        (["-p", "0.5", "--rewards", "1,0"], "say what is asked"),
        (["--rewards", "1,0"], "one of each an answer"),
        (["--rewards", "1,0", "--probabilities", "0.5,0.6"], "sum to 1"),
        (["--rewards", "1,0", "--probabilities", "1.5,-0.5"], "at least 0"),
        (["--rewards", "1,0", "--probabilities", "nan,0.5"], "not a number"),
        (["--rewards", "1,0", "--probabilities", "0.5,0.5", "--tpr", "1.9"], "TPR"),
        (["--rewards", "1:0,0:1", "--probabilities", "0.5,0.5", "--tpr", "0.9"], "leave the channels out"),
        (["-p", "0.5", "--preset", "ppo"], "no preset"),
        (["-p", "0.5", "--probabilities", "0.5,0.5"], "leave it out"),
        (["-p", "0.5", "--ddof", "2"], "ddof"),
        (["-p", "0.5", "--tpr", "2"], "TPR"),
        (["-p", "0.5", "--scale", "batch_std"], "couples prompts"),
        (["-p", "0.5", "--nonsense"], "nonsense"),
        (["-p", "1e400"], "too large"),
        (["-p", "0.5", "--eps", "1e400"], "too large"),
        (["--rewards", "1e400,0", "--probabilities", "0.5,0.5"], "too large"),
        (["--rewards", "1e305,0", "--probabilities", "0.5,0.5"], "at most 1e+300"),
        (["-p", "0.5", "-G", "20000"], "at most 16384"),
        (["-p", "1/3", "-G", "1024", "--precision", "rational"], "at most 256"),
        (
            [
                "--rewards",
                "1,2,3,4,5,6",
                "--probabilities",
                "1/6,1/6,1/6,1/6,1/6,1/6",
                "-G",
                "30",
                "--precision",
                "rational",
            ],
            "exact terms",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(reweight, arguments, message):
    answer = reweight("weights", *arguments)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err
    assert answer.out == ""


def test_an_unwritable_folder(reweight, tmp_path):
    (tmp_path / "file").write_text("")
    answer = reweight("weights", "-p", "0.5", "--out", tmp_path / "file" / "below")
    assert answer.code == 2
    assert "cannot be written" in answer.err


def test_what_does_not_exist_is_null_and_a_dash(reweight):
    for rate in ("0", "1"):
        answer = reweight("weights", "-p", rate, "--mixed-only", "--json", "--precision", "rational")
        assert answer.code == 0
        jsonschema.validate(json.loads(answer.out), SCHEMA)
        row = json.loads(answer.out)["weights"][0]
        assert row["gap"] is row["correct"] is row["value"] is None
    assert " - " in reweight("weights", "-p", "0", "--mixed-only").out
    assert reweight("weights", "-p", "1e-310", "--mixed-only", "--json").code == 0


def test_a_rate_next_to_one_keeps_its_complement(reweight):
    row = json.loads(reweight("weights", "-p", "0.99999999999999999999", "--eps", 0, "--ddof", 0, "--json").out)
    assert row["weights"][0]["correct"] == pytest.approx(1e-20 * 7**0.5, rel=1e-12)
    assert "1 - " in reweight("weights", "-p", "0.9999999999999999").out


def test_rewards_at_the_ends_of_float64(reweight):
    for unit in ("1e155", "1e-200"):
        table = ("--rewards", f"{unit},-{unit},0", "--probabilities", "1/2,1/4,1/4", "-G", 4, "--eps", 0, "--ddof", 0)
        answer = reweight("weights", *table, "--json")
        plain = reweight("weights", "--rewards", "1,-1,0", *table[2:], "--json")
        found, expected = ([row["weight"] for row in json.loads(a.out)["weights"]] for a in (answer, plain))
        assert found == pytest.approx(expected, rel=1e-12)
        assert answer.err == ""


def test_presets_are_listed_with_sources(reweight):
    answer = reweight("weights", "--list")
    assert answer.code == 0
    assert "reinforce_plus_plus" in answer.out
    listed = json.loads(reweight("weights", "--list", "--json").out)["presets"]
    assert len(listed) >= 16
    assert all(each["source"] and each["version"] for each in listed)


def test_the_difference_of_two_presets(reweight):
    answer = reweight("weights", "--diff", "trl", "verl", "-G", "3", "-p", "0.1", "--json")
    found = json.loads(answer.out)
    assert set(found["differences"]) == {"advantage.eps", "advantage.singleton", "clip.dual"}
    assert found["directions"][0][0] == pytest.approx(0.28537561, abs=1e-8)
    text = reweight("weights", "--diff", "trl", "verl", "-G", "3").out
    assert "expected gradient" in text
    assert "0.28537" in text


@pytest.mark.parametrize("name", ["trl.yaml", "trl.json", "verl.yaml"])
def test_a_configuration_is_read(reweight, name):
    path = Path(__file__).parents[1] / "data" / "configs" / name
    answer = reweight("weights", "--config", path, "--rewards", "1,0", "--probabilities", "0.3,0.7")
    if name == "trl.json":  # it weights two channels
        assert answer.code == 2
        assert "channel" in answer.err
        answer = reweight("weights", "--config", path, "--rewards", "1:1,0:0", "--probabilities", "0.3,0.7")
    assert answer.code == 0
    assert "theorems" in answer.out
    found = (
        json.loads(
            reweight("weights", "--config", path, "--rewards", "1:1,0:0", "--probabilities", "0.3,0.7", "--json").out
        )
        if name == "trl.json"
        else None
    )
    assert found is None or found["config"]["dead"]


def test_answers_with_lengths_bonus_and_verdicts(reweight):
    base = ["weights", "--rewards", "1,0,0", "--probabilities", "0.2,0.5,0.3", "-G", "4", "--json"]
    by_length = json.loads(reweight(*base, "--lengths", "100,400,50").out)
    jsonschema.validate(by_length, SCHEMA)
    assert by_length["weights"][0]["length"] == 100
    plain = json.loads(reweight(*base).out)
    jsonschema.validate(plain, SCHEMA)
    assert plain["facts"]["method"] == "pairs"
    assert plain["facts"]["dead share"] == pytest.approx(0.2**4 + 0.8**4)
    bonus = json.loads(reweight(*base, "--counts", "0,1,0", "--bonus", "0.4").out)["weights"]
    assert [row["reward"] for row in bonus] == [1, 0.4, 0]
    noisy = json.loads(reweight(*base, "--tpr", "0.9", "--fpr", "0,0.3,0.1").out)["weights"]
    assert noisy[1]["weight"] > noisy[2]["weight"]
    ranked = json.loads(reweight(*base, "--transform", "pass_at_k", "-k", "2").out)["weights"]
    assert ranked[0]["weight"] > 0
    mixed = json.loads(reweight(*base, "--mixed-only").out)
    assert mixed["facts"]["expected draws a kept group"] == pytest.approx(4 / (1 - 0.2**4 - 0.8**4))


def test_balls(reweight):
    row = json.loads(reweight("weights", "-p", "0.01", "--precision", "ball", "--radius", "1e-30", "--json").out)
    assert "+/-" in row["weights"][0]["value"]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_pictures(reweight, tmp_path, suffix):
    path = tmp_path / f"weights.{suffix}"
    answer = reweight(
        "weights",
        "--rewards",
        "1,1,-1,-1",
        "--probabilities",
        "0.1,0.2,0.3,0.4",
        "--counts",
        "1,0,1,0",
        "--bonus",
        "0.4",
        "--plot",
        path,
    )
    assert answer.code == 0
    assert path.stat().st_size > 5000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--diff", "trl", "ppo"], "there is no preset"),
        (["--preset", "open-rlhf", "-p", "0.1"], "did you mean openrlhf"),
        (["--config", "absent.yaml"], "No such file"),
        (["-p", "0.1", "--plot", "weights.gif"], "end the name in"),
        (["-p", "0.1", "--bonus", "0.4"], "use --rewards"),
        (["-p", "0.1", "--lengths", "3,4"], "--lengths goes with --rewards"),
        (["--rewards", "1:0,0", "--probabilities", "0.5,0.5"], "unequal numbers of channels"),
        (["-p", "0.1", "--precision", "exact"], "precision"),
        (["-p", "0.1", "--precision", "ball", "--radius", "0"], "radius"),
        (["--rewards", "1,0", "--probabilities", "0.5,0.5", "--counts", "1,-1", "--bonus", "1"], "counts"),
        (["--rewards", "1,0", "--probabilities", "0.5,0.5", "--transform", "pass_at_k"], "k goes with"),
        (
            ["--rewards", "1,0", "--probabilities", "0.5,0.5", "--lengths", "1,2", "--precision", "rational"],
            "precision",
        ),
        (["--preset", "areal", "-p", "0.1"], "couples prompts"),
    ],
)
def test_other_bad_input(reweight, arguments, message):
    answer = reweight("weights", *arguments)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1
