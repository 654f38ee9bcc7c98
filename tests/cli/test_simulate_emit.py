"""`reweight simulate --emit`: files of a run whose cause is known, and what is refused."""

import json
from importlib.resources import files

import jsonschema
import pytest

from reweight import rollouts

RUN = """
[[problem]]
rewards = [1, 0]
probabilities = [0.25, 0.75]
[[problem]]
rewards = [1, 0]
probabilities = [0.5, 0.5]
[update]
name = "sampled_policy_gradient"
step = 0.5
[run]
steps = 3
seed = 7
"""


def test_a_quick_start_in_a_world(reweight, tmp_path):
    arguments = ("simulate", "--emit", "trl", "--world", "u-shaped", "--prompts", 20, "--steps", 2, "--seed", 3)
    answer = reweight(*arguments, "--samples", 16, "--out", tmp_path / "run")
    assert answer.code == 0
    assert "20 prompts x 16 rollouts a file" in answer.out
    found = rollouts.read(tmp_path / "run" / "completions", step=2)
    assert [group.n for group in found.groups] == [8] * 40
    again = reweight(*arguments, "--json", "--out", tmp_path / "again")
    schema = json.loads((files("reweight.emitting") / "truth.schema.json").read_text())
    jsonschema.validate(json.loads(again.out), schema)
    first = json.loads((tmp_path / "run" / "truth.json").read_text())
    assert json.loads(again.out)["policies"] == first["policies"]


def test_a_run_from_a_file(reweight, tmp_path):
    (tmp_path / "run.toml").write_text(RUN)
    answer = reweight("simulate", tmp_path / "run.toml", "--emit", "verl", "--out", tmp_path / "run")
    assert answer.code == 0
    truth = json.loads((tmp_path / "run" / "truth.json").read_text())
    assert truth["cause"]["seed"] == 7
    assert truth["cause"]["draws_move_the_policy"] is True
    path = json.loads(reweight("simulate", tmp_path / "run.toml", "--json").out)["variables"]["prompt_pass_rate"]
    assert [policy["pass_rates"] for policy in truth["policies"]] == path["values"]


def test_a_world_without_files(reweight):
    answer = reweight("simulate", "--world", "two-point", "--prompts", 5, "--steps", 2, "--seed", 1, "--json")
    assert answer.code == 0
    assert len(json.loads(answer.out)["variables"]["prompt_pass_rate"]["values"][0]) == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--emit", "trl", "-p", "0.1"), "name a new folder with --out"),
        (("--emit", "csv", "-p", "0.1", "--out", "x"), "csv"),
        (("--samples", "8", "-p", "0.1"), "--samples is about emitted files"),
        (("--prompts", "8", "-p", "0.1"), "--prompts is about the prompts of a world"),
        (("--world", "flat"), "there is no world 'flat'"),
        (("--world", "sparse", "-p", "0.1"), "say where the run starts"),
        (("--world", "sparse", "--rewards", "1,0,0"), "leave --rewards out"),
        (("--seed", "3", "-p", "0.1"), "--seed is about what is drawn"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(reweight, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    answer = reweight("simulate", *arguments)
    assert answer.code == 2
    assert message in answer.err
    assert len(answer.err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
