"""`reweight simulate`: the path, its files, and what it refuses."""

import json
from importlib.resources import files

import jsonschema
import pytest
import xarray

RUN = """
[problem]
rewards = [1, 0]
probabilities = [0.01, 0.99]
[objective]
preset = "trl"
[update]
name = "tilt"
step = 0.1
[run]
steps = 30
"""


def test_options_and_file_describe_the_same_run(reweight, tmp_path):
    (tmp_path / "run.toml").write_text(RUN)
    from_file = reweight("simulate", tmp_path / "run.toml", "--json")
    from_options = reweight("simulate", "-p", "0.01", "--steps", 30, "--json")
    assert from_file.code == from_options.code == 0
    assert json.loads(from_file.out) == json.loads(from_options.out)
    schema = json.loads((files("reweight.dynamics") / "trajectory.schema.json").read_text())
    jsonschema.validate(json.loads(from_file.out), schema)
    path = json.loads(from_file.out)["variables"]["pass_rate"]
    assert path["dimensions"] == ["step"]
    assert path["units"] == "1"
    assert len(path["values"]) == 31
    assert path["values"][0] == pytest.approx(0.01)


def test_the_table_shows_first_and_last_step(reweight):
    out = reweight("simulate", "-p", "0.01", "--steps", 50).out.splitlines()
    assert out[0].split()[0] == "step"
    assert out[1].split()[0] == "0"
    assert out[11].split()[0] == "50"


def test_a_sampled_run_is_reproducible(reweight):
    arguments = (
        "simulate",
        "--rewards",
        "1,1,0",
        "--probabilities",
        "0.05,0.1,0.85",
        "--update",
        "sampled_policy_gradient",
        "--json",
    )
    first, second = reweight(*arguments, "--seed", 4), reweight(*arguments, "--seed", 4)
    assert first.out == second.out
    assert first.out != reweight(*arguments, "--seed", 5).out


def test_infinite_values_are_null(reweight):
    answer = reweight("simulate", "-p", "0", "--steps", 2, "--json")
    assert json.loads(answer.out)["variables"]["log_odds"]["values"] == [None, None, None]


def test_files(reweight, tmp_path):
    answer = reweight("simulate", "-p", "0.1", "--steps", 5, "--kl", "k3", "--beta", "0.1", "--out", tmp_path)
    assert answer.code == 0
    assert "KL penalty" in answer.out
    with xarray.open_dataset(tmp_path / "trajectory.nc", engine="h5netcdf") as path:
        assert path.sizes["step"] == 6
    assert json.loads((tmp_path / "trajectory.json").read_text())["coordinates"]["step"] == list(range(6))
    assert (tmp_path / "index.html").exists()
    assert (tmp_path / "figures" / "trajectory.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say where the run starts"),
        (["-p", "0.5", "--probabilities", "0.5,0.5"], "say where the run starts"),
        (["-p", "1.2"], "got 1.2"),
        (["--probabilities", "0.5,0.6"], "sum to 1"),
        (["--probabilities", "0.2,0.3,0.5"], "one probability an answer"),
        (["-p", "0.5", "--update", "ppo"], "no update"),
        (["-p", "0.5", "--step", "fast"], "not a number"),
        (["-p", "0.5", "--steps", "-3"], "at least 0"),
        (["-p", "0.5", "--kl", "k3"], "both --kl and --beta"),
        (["-p", "0.5", "--kl", "k9", "--beta", "1"], "KL estimator"),
        (["-p", "0.5", "--update", "sampled_policy_gradient", "--seed", "-1"], "seed"),
        (["absent.toml"], "cannot be read"),
        (["absent.toml", "-p", "0.5"], "leave out --pass-rate"),
        (["absent.toml", "--steps", "100"], "leave out --steps"),
        (["absent.toml", "--kl", "k3"], "leave out --kl"),
        (["/dev/zero"], "no file of at most"),
        (["-p", "0.5", "--groups", "5"], "groups"),
        (["-p", "1e400"], "too large"),
        (["-p", "1e-400"], "too small"),
        (["-p", "1e99999999"], "not a number"),
        (["-p", "0.5", "--step", "1e999"], "too large"),
        (["-p", "\uff11"], "not a number"),
        (["-p", "1_0"], "not a number"),
        (["-p", "1/0"], "divides by zero"),
        (["--probabilities", ""], "--probabilities"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(reweight, arguments, message):
    answer = reweight("simulate", *arguments)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert "Traceback" not in answer.err
