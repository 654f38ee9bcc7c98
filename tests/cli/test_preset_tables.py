"""`reweight weights --list` and `--diff`."""

from __future__ import annotations

import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest

from reweight.groups.comparison import compare
from reweight.objectives import preset
from reweight.objectives.presets import presets

SCHEMA = json.loads((files("reweight.groups") / "weight_table.schema.json").read_text())


def test_presets_are_listed_with_sources(reweight):
    answer = reweight("weights", "--list")
    assert answer.code == 0
    assert all(each.name in answer.out and each.version in answer.out for each in presets())
    assert max(len(line.rstrip()) for line in answer.out.splitlines()) <= 100
    found = json.loads(reweight("weights", "--list", "--json").out)
    jsonschema.validate(found, SCHEMA)
    assert [each["name"] for each in found["presets"]] == [each.name for each in presets()]
    assert all(each["source"] and each["version"] and each["in_short"] for each in found["presets"])


def test_the_difference_of_two_presets(reweight):
    answer = reweight("weights", "--diff", "trl", "verl", "-G", "3", "-p", "0.1", "--json")
    found = json.loads(answer.out)
    jsonschema.validate(found, SCHEMA)
    assert set(found["differences"]) == {"advantage.eps", "advantage.singleton", "clip.dual", "clip.log_ratio_limit"}
    expected = compare(preset("trl", group_size=3), preset("verl", group_size=3), pass_rates=[0.1])
    assert np.array(found["directions"]) == pytest.approx(np.array(expected.directions), rel=1e-15)
    text = reweight("weights", "--diff", "trl", "verl", "-G", "3").out
    assert "expected gradient" in text
    assert f"{expected.directions[0][0]:.6g}" in text


@pytest.mark.parametrize("name", [each.name for each in presets()])
def test_every_preset_differs_from_trl_in_valid_json(reweight, name):
    answer = reweight("weights", "--diff", "trl", name, "--json")
    assert answer.code == 0
    found = json.loads(answer.out)
    jsonschema.validate(found, SCHEMA)
    assert bool(found["differences"]) == (name != "trl")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--diff", "trl", "ppo"], "there is no preset"),
        (["--diff", "trl", "verl", "--rewards", "1,0"], "--rewards has no meaning beside --diff"),
        (["--diff", "trl", "verl", "--preset", "trl"], "--preset has no meaning beside --diff"),
        (["--list", "-p", "0.1"], "--pass-rate has no meaning beside --list"),
        (["--list", "--diff", "trl", "verl"], "--diff has no meaning beside --list"),
        (["--diff", "trl"], "requires 2 arguments"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(reweight, arguments, message):
    answer = reweight("weights", *arguments)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert answer.out == ""
