"""Runs described by TOML files."""

import numpy as np
import pytest

from reweight.dynamics.spec import read_spec
from reweight.errors import InputError
from reweight.objectives import Advantage, Clip, KLPenalty
from reweight.problems import ProblemSet
from reweight.updates import SampledPolicyGradient

WHOLE = """
[[problem]]
rewards = [1, 0, 0]
probabilities = [0.1, 0.6, 0.3]
answers = ["42", "41", "none"]
weight = 3
[[problem]]
rewards = [1, 0.5]
probabilities = [0.5, 0.5]
correct = [true, false]
[objective]
preset = "verl"
group_size = 4
aggregation = "sequence_sum"
[objective.advantage]
ddof = 0
[objective.clip]
low = 0.1
high = 0.3
[objective.kl]
estimator = "k3"
beta = 0.01
[update]
name = "spg"
step = 0.5
groups = 2
[run]
steps = 4
seed = 3
bounds = false
"""


def write(tmp_path, text):
    path = tmp_path / "run.toml"
    path.write_text(text)
    return path


def test_every_key_arrives(tmp_path):
    spec = read_spec(write(tmp_path, WHOLE))
    assert isinstance(spec.problem, ProblemSet)
    assert spec.problem.weights.tolist() == [0.75, 0.25]
    assert spec.problem.problems[0].answers == ("42", "41", "none")
    assert spec.objective.advantage == Advantage(ddof=0)
    assert spec.objective.clip == Clip(0.1, 0.3)
    assert spec.objective.kl == KLPenalty("k3", 0.01)
    assert (spec.objective.group_size, spec.objective.aggregation) == (4, "sequence_sum")
    assert spec.update == SampledPolicyGradient(0.5, groups=2)
    assert (spec.steps, spec.seed, spec.bounds) == (4, 3, False)


def test_the_same_file_gives_the_same_numbers(tmp_path):
    path = write(tmp_path, WHOLE)
    np.testing.assert_array_equal(read_spec(path).run().parameters, read_spec(path).run().parameters)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("steps = 4", "", r"\[run\] has no steps"),
        ("steps = 4", "steps = 4\nspeed = 2", "unknown key 'speed'"),
        ("weight = 3", "wait = 3", "unknown key 'wait'"),
        ("[run]", "[runs]", "unknown key 'runs'"),
        ('name = "spg"', 'name = "ppo"', "no update 'ppo'"),
        ("groups = 2", "grups = 2", "cannot be made so"),
        ("ddof = 0", "dof = 0", "objective.advantage"),
        ('preset = "verl"', 'preset = "verlo"', "no preset"),
        ("rewards = [1, 0.5]", "", "no rewards"),
        ("probabilities = [0.5, 0.5]", "probabilities = [0.5, 0.6]", "sum to 1 .* got 1.1"),
        ("group_size = 4", "group_size = 4 4", "is not TOML"),
        ("[update]", "update = 3\n[other]", "not TOML|not a table|unknown key"),
        ("seed = 3", 'seed = "x"', "seed"),
        ("step = 0.5", 'step = "fast"', "step"),
        ("low = 0.1", 'low = "x"', "low|clip"),
        ("steps = 4", 'steps = "many"', "steps"),
        ("bounds = false", "bounds = 7", "bounds"),
    ],
)
def test_what_is_refused(tmp_path, old, new, message):
    assert old in WHOLE
    with pytest.raises(InputError, match=message):
        read_spec(write(tmp_path, WHOLE.replace(old, new, 1))).run()


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_spec(tmp_path / "absent.toml")
    with pytest.raises(InputError, match="cannot be read"):
        read_spec(tmp_path)
    with pytest.raises(InputError, match="no problem"):
        read_spec(write(tmp_path, "[run]\nsteps = 1\n"))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not TOML"):
        read_spec(tmp_path / "bytes.toml")
