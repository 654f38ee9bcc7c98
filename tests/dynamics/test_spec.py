"""Runs described by TOML files."""

import numpy as np
import pytest

from reweight.dynamics.spec import read_spec, spec_from_tables
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
name = "sampled_policy_gradient"
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
        ("step = 0.5", "", "has no step"),
        ("steps = 4", "steps = 4\nspeed = 2", "unknown key 'speed'"),
        ("weight = 3", "wait = 3", "unknown key 'wait'"),
        ("[run]", "[runs]", "unknown key 'runs'"),
        ('name = "sampled_policy_gradient"', 'name = "ppo"', "no update 'ppo'"),
        ("groups = 2", "grups = 2", "no 'grups'"),
        ("ddof = 0", "dof = 0", "objective.advantage"),
        ('preset = "verl"', 'preset = "verlo"', "no preset"),
        ("rewards = [1, 0.5]", "", "no rewards"),
        ("probabilities = [0.5, 0.5]", "probabilities = [0.5, 0.6]", "sum to 1 .* got 1.1"),
        ("group_size = 4", "group_size = 4 4", "is not TOML"),
        ("[update]", "update = 3\n[other]", "not TOML|not a table|unknown key"),
        ("seed = 3", 'seed = "x"', "seed"),
        ("step = 0.5", 'step = "fast"', "step must be one number"),
        ("low = 0.1", 'low = "x"', "low|clip"),
        ("steps = 4", 'steps = "many"', "steps"),
        ("bounds = false", "bounds = 7", "bounds"),
        ("rewards = [1, 0, 0]", 'rewards = ["1", "0", "0"]', "rewards is not a list of numbers"),
        ("rewards = [1, 0, 0]", "rewards = [true, false, false]", "rewards is not a list of numbers"),
        ("rewards = [1, 0, 0]", "rewards = [[1], [0, 0], 1]", "rewards is not a list of numbers"),
        ("rewards = [1, 0, 0]", f"rewards = [1{'0' * 400}, 0, 0]", "above 1e300"),
        ("rewards = [1, 0, 0]", f"rewards = {'[' * 3000}", "is not TOML"),
        ("rewards = [1, 0, 0]", f"rewards = [1{'0' * 5000}]", "is not TOML"),
        ("probabilities = [0.1, 0.6, 0.3]", "probabilities = [nan, 0.6, 0.3]", "not finite"),
        ("probabilities = [0.1, 0.6, 0.3]", "probabilities = 1979-05-27", "not a list"),
        ('answers = ["42", "41", "none"]', 'answers = "abc"', "answers is not a list of names"),
        ('answers = ["42", "41", "none"]', 'answers = ["a", "a", "b"]', "a name of its own"),
        ('answers = ["42", "41", "none"]', 'answers = ["a", "\\u001b[31m", "b"]', "printable"),
        ('answers = ["42", "41", "none"]', 'lengths = "x"', "lengths is not a list"),
        ("correct = [true, false]", "correct = [1, 0]", "correct is not a list of truth values"),
        ("weight = 3", 'weight = "x"', "weight must be one number"),
        ("weight = 3", "weight = -1", "weight must be at least 0"),
        ("weight = 3", "weight = nan", "weight"),
        ("group_size = 4", "group_size = 4.0", "group_size must be an integer"),
        ("step = 0.5", "step = true", "step must be one number"),
        ("step = 0.5", "step = [0.1]", "step must be one number"),
        ("step = 0.5", 'step = "0.1"', "step must be one number"),
        ("groups = 2", "groups = 1000000000000", "draws a step"),
        ("[objective.advantage]", "[objective.flavour]", "unknown key"),
        ("[objective.advantage]\nddof = 0", "advantage = 3", "not a table"),
        ('preset = "verl"', "preset = 3", "give the name"),
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


def test_every_part_of_an_objective_can_be_written(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text(
        """
        [[problem]]
        rewards = [1, 0, 0]
        probabilities = [0.2, 0.5, 0.3]
        lengths = [10, 20, 30]
        counts = [1, 0, 2]
        tpr = 0.9
        fpr = [0.0, 0.2, 0.1]

        [[problem]]
        rewards = [1, 0]
        probabilities = [0.6, 0.4]
        lengths = [10, 20]
        counts = [0, 1]

        [objective]
        group_size = 3
        advantage = {baseline = "batch_mean", scale = "batch_std", ddof = 1}
        ratio = {level = "sequence_mean"}
        filter = {keep = "mixed"}
        batch = {rule = "every_prompt"}
        [objective.reward]
        bonus = 0.1
        length_penalty = {per_token = 0.01, free = 15, most = 1}

        [update]
        name = "policy_gradient"
        step = 0.5
        [run]
        steps = 2
        """
    )
    spec = read_spec(file)
    assert spec.objective.reward.length_penalty.free == 15
    assert spec.objective.filter.keep == "mixed"
    assert spec.problem.problems[0].verifier is not None
    path = spec.run()
    assert path.pass_rate[-1] != path.pass_rate[0]


def test_channels_in_a_file():
    tables = {
        "problem": {"rewards": [[1, 0.2], [0, 0.7]], "probabilities": [0.5, 0.5], "correct": [True, False]},
        "objective": {"group_size": 2, "reward": {"channel_weights": [1, 0.5]}},
        "update": {"step": 0.1},
        "run": {"steps": 1},
    }
    assert spec_from_tables(tables).objective.reward.channel_weights == (1, 0.5)
    tables["problem"]["rewards"] = [[1, 0.2], [0, True]]
    with pytest.raises(InputError, match="not a list of numbers"):
        spec_from_tables(tables)
