"""`reweight weights`: numbers, JSON, comparison, and what it refuses."""

import json
import re
from importlib.resources import files
from inspect import signature
from pathlib import Path
from typing import get_args

import jsonschema
import pytest

from reweight.groups.binary import gap
from reweight.groups.signal import gradient_signal
from reweight.objectives import preset
from reweight.objectives.config import read_config
from reweight.objectives.hypotheses import hypotheses

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


CONFIGS = Path(__file__).parents[1] / "data" / "configs"


@pytest.mark.parametrize("name", ["trl.yaml", "trl.json", "verl.yaml"])
def test_a_configuration_is_read(reweight, name):
    answer = reweight("weights", "--config", CONFIGS / name)
    assert answer.code == 0
    assert "theorems that apply to this objective" in answer.out
    assert "theorems that it breaks" in answer.out
    found = json.loads(reweight("weights", "--config", CONFIGS / name, "--json").out)
    jsonschema.validate(found, SCHEMA)
    assert [row["pass_rate"] for row in found["weights"]] == [0.01, 0.1, 0.5]
    read = read_config(CONFIGS / name)
    assert found["config"]["dead"] == [{"key": key, "why": why} for key, why in read.dead]
    standing = hypotheses(read.objective, inner_epochs=read.inner_epochs)
    assert found["config"]["theorems"] == [each.to_dict() for each in standing]


def test_a_configuration_of_two_channels_is_asked_about_answers(reweight):
    prompt = ["--probabilities", "0.3,0.7", "--config", CONFIGS / "trl.json"]
    answer = reweight("weights", "--rewards", "1,0", *prompt)
    assert answer.code == 2
    assert "channel" in answer.err
    answer = reweight("weights", "--rewards", "1:1,0:0", *prompt, "--json")
    jsonschema.validate(json.loads(answer.out), SCHEMA)
    assert json.loads(answer.out)["weights"][0]["weight"] > 0


def test_options_change_what_a_configuration_says(reweight):
    found = json.loads(reweight("weights", "--config", CONFIGS / "verl.yaml", "-G", 4, "--scale", "none", "--json").out)
    assert found["objective"]["group_size"] == 4
    assert re.search(r"group_size +4\n", reweight("weights", "--config", CONFIGS / "verl.yaml", "-G", 4).out)
    assert found["weights"][2]["gap"] == pytest.approx(3 / 4 / (1 - 2 / 16))
    bounded = next(each for each in found["config"]["theorems"] if each["label"].startswith("R03"))
    assert not bounded["applies"]


ANSWERS = ["weights", "--rewards", "1,0,0", "--probabilities", "0.2,0.5,0.3", "-G", "4", "--json"]


def test_answers_with_facts(reweight):
    plain = json.loads(reweight(*ANSWERS).out)
    jsonschema.validate(plain, SCHEMA)
    facts = plain["facts"]
    assert facts["method"] == "pairs"
    assert facts["dead_share"] == pytest.approx(0.2**4 + 0.8**4)
    expected = gradient_signal([1, 0, 0], [0.2, 0.5, 0.3], 4, preset("trl").advantage)
    assert facts["signal_to_noise"] == pytest.approx(expected.per_generated_rollout, rel=1e-14)
    assert facts["expected_advantage"] == pytest.approx(expected.expected_advantage, rel=1e-14)
    mixed = json.loads(reweight(*ANSWERS, "--mixed-only").out)["facts"]
    assert mixed["draws"] == pytest.approx(4 / (1 - 0.2**4 - 0.8**4))
    text = reweight(*ANSWERS[:-1], "--mixed-only").out
    assert "generated samples a kept group: " in text
    assert "signal-to-noise a generated sample: " in text


def test_answers_with_lengths_bonus_and_verdicts(reweight):
    by_length = json.loads(reweight(*ANSWERS, "--lengths", "100,400,50").out)
    jsonschema.validate(by_length, SCHEMA)
    assert by_length["weights"][0]["length"] == 100
    constant = json.loads(reweight(*ANSWERS, "--lengths", "100,400,50", "--constant-length", "1000").out)
    plain = json.loads(reweight(*ANSWERS).out)
    assert constant["weights"][0]["weight"] == pytest.approx(plain["weights"][0]["weight"] / 1000, rel=1e-14)
    bonus = json.loads(reweight(*ANSWERS, "--counts", "0,1,0", "--bonus", "0.4").out)["weights"]
    assert [row["reward"] for row in bonus] == [1, 0.4, 0]
    noisy = json.loads(reweight(*ANSWERS, "--tpr", "0.9", "--fpr", "0,0.3,0.1").out)["weights"]
    assert noisy[1]["weight"] > noisy[2]["weight"]
    three = ["weights", "--rewards", "1,1/2,0", "--probabilities", "0.2,0.5,0.3", "--correct", "1,0,0", "--json"]
    assert json.loads(reweight(*three, "--tpr", "0.9").out)["weights"][0]["weight"] > 0


def test_channels_before_and_after_they_are_normalised(reweight):
    base = ["weights", "--rewards", "1:0,0:1,0:0", "--probabilities", "0.2,0.5,0.3", "--eps", 0, "--json"]
    summed = json.loads(reweight(*base, "--channel-weights", "1,0").out)["weights"]
    alone = json.loads(reweight("weights", "--rewards", "1,0,0", *base[3:]).out)["weights"]
    assert [row["weight"] for row in summed] == pytest.approx([row["weight"] for row in alone], rel=1e-12)
    apart = json.loads(reweight(*base, "--order", "normalise_then_sum").out)["weights"]
    second = json.loads(reweight("weights", "--rewards", "0,1,0", *base[3:]).out)["weights"]
    expected = [one["weight"] + two["weight"] for one, two in zip(alone, second, strict=True)]
    assert [row["weight"] for row in apart] == pytest.approx(expected, rel=1e-12)


def test_transforms_and_filters(reweight):
    ranked = json.loads(reweight(*ANSWERS, "--transform", "rank").out)
    assert ranked["objective"]["reward.transform"] == "rank"
    passes = json.loads(reweight("weights", "-p", "0.1", "--transform", "pass_at_k", "-k", "2", "--json").out)
    jsonschema.validate(passes, SCHEMA)
    assert passes["objective"]["reward.k"] == 2
    rates = ["weights", "-p", "0.1", "--json"]
    solved = json.loads(reweight(*rates, "--filter", "solved", "--max-rounds", 3, "--rounds", "pool").out)
    assert solved["objective"]["filter.rounds"] == "pool"
    assert solved["weights"][0]["draws"] > 8
    kept, mixed = (json.loads(reweight(*rates, *more).out) for more in (["--filter", "mixed"], ["--mixed-only"]))
    assert kept == mixed
    free = json.loads(reweight(*rates, "--preset", "dapo", "--filter", "all").out)
    assert "filter.keep" not in free["objective"]


def test_prompts_that_share_a_batch(reweight):
    every = json.loads(reweight("weights", "--preset", "areal", "-p", "0.1,0.5", "--json").out)["weights"]
    alone = json.loads(reweight("weights", "--preset", "areal", "-p", "0.1", "--json").out)["weights"]
    assert every[0]["gap"] != pytest.approx(alone[0]["gap"], rel=1e-3)
    drawn = reweight("weights", "--baseline", "batch_mean", "--batch", 3, "-p", "0.1,0.5")
    assert "batches of 3 prompts" in drawn.out


def test_nothing_is_kept_and_json_stays_valid(reweight):
    answer = reweight("weights", "--rewards", "1,0", "--probabilities", "1,0", "--mixed-only", "--json")
    assert answer.code == 0
    jsonschema.validate(json.loads(answer.out), SCHEMA)
    assert json.loads(answer.out)["facts"]["draws"] is None


def test_balls_are_as_narrow_as_asked(reweight):
    row = json.loads(reweight("weights", "-p", "0.01", "--precision", "ball", "--radius", "1e-30", "--json").out)
    middle, radius = row["weights"][0]["value"].strip("[]").split(" +/- ")
    assert float(radius) < 1e-30 * float(middle)
    assert float(middle) == pytest.approx(row["weights"][0]["gap"], rel=1e-13)
    assert "gap at 0.01, exactly: [" in reweight("weights", "-p", "0.01", "--precision", "ball").out


@pytest.mark.parametrize("more", [[], ["--mixed-only"], ["--against", "dr_grpo"], ["--precision", "ball"]])
def test_tables_fit_a_hundred_columns(reweight, more):
    for prompt in (["-p", "1e-300,0.123456789,0.9999999"], ANSWERS[1:5] + ["--lengths", "100,400,50"] * (not more)):
        answer = reweight("weights", *prompt, *more)
        assert answer.code == 0
        assert max(len(line.rstrip()) for line in answer.out.splitlines()) <= 100


def test_every_option_is_shown_with_an_example(reweight):
    """A help text ends in an example after a colon, or the option is a switch."""
    from reweight.cli.weights import command

    for name, parameter in signature(command, eval_str=True).parameters.items():
        if name == "context":
            continue
        kind, info = get_args(parameter.annotation)
        assert info.rich_help_panel, name
        assert kind is bool or re.search(r": [^ ]+( [^ ]+)?\.$", info.help), info.help


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "open-rlhf", "-p", "0.1"], "did you mean openrlhf"),
        (["--config", "absent.yaml"], "No such file"),
        (["--config", "/dev/zero"], "/dev/zero: this is no plain file"),
        (["--rewards", "1,0", "--probabilities", "0.5,0.5", "--lengths", "1.5,1"], "give whole numbers from 1 on"),
        (["-p", "0.1", "--plot", "weights.gif"], "end the name in"),
        (["-p", "0.1", "--bonus", "0.4"], "--bonus goes with --rewards"),
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
        (["--preset", "areal", "-p", "0.1", "--precision", "rational"], "precision"),
        (["--preset", "trl", "--config", "run.yaml"], "--preset and --config"),
        (["-p", "0.1", "--filter", "mixed", "--mixed-only"], "--filter and --mixed-only"),
        (["-p", "0.1", "--filter", "some"], "filter keep"),
        (["-p", "0.1", "--max-rounds", "3"], "give --filter mixed"),
        (["-p", "0.1", "--filter", "solved", "--rounds", "pool"], "give max_rounds"),
        (["-p", "0.1", "-k", "4"], "k goes with"),
        (["-p", "0.1", "--transform", "pass_at_k", "-k", "9"], "above 8"),
        (["-p", "1e-300", "--tpr", "0.5", "--eps", "0", "-G", "24", "--precision", "rational"], "thousands of digits"),
        (["--rewards", "1,1", "--probabilities", "0.5,0.5", "--tpr", "0.9"], "one value alone"),
        (["-p", "0.1", "--radius", "1e-9"], "give --precision ball"),
        (["-p", "0.1", "--radius", "1e-9", "--precision", "rational"], "give --precision ball"),
        (["-p", "0.1", "--batch", "some"], "--batch"),
        (["-p", "0.1", "--aggregation", "constant"], "--aggregation goes with --rewards"),
        (["--rewards", "1,0", "--probabilities", "0.5,0.5", "--bonus", "0.4"], "give --counts"),
        (["--rewards", "1,0", "--probabilities", "0.5,0.5", "--counts", "1,0"], "give --bonus"),
        (["--rewards", "1,0", "--probabilities", "0.5,0.5", "--correct", "1,0"], "give --tpr"),
        (["--rewards", "1,0", "--probabilities", "0.5,0.5", "--tpr", "0.9", "--correct", "2,0"], "--correct"),
        (["--rewards", "1,0.5,0", "--probabilities", "0.5,0.3,0.2", "--tpr", "0.9"], "give --correct"),
        (["--rewards", "1,0", "--probabilities", "0.5,0.5", "--aggregation", "token_mean"], "give --lengths"),
        (["--rewards", "1,0", "--probabilities", "0.5,0.5", "--channel-weights", "1,2"], "channel weights"),
    ],
)
def test_other_bad_input(reweight, arguments, message):
    answer = reweight("weights", *arguments)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1
