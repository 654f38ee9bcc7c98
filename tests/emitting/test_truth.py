"""truth.json: every number by a second road, and its shape."""

import json
from fractions import Fraction
from importlib.resources import files
from itertools import product

import jsonschema
import numpy as np
import pytest

from reweight.dynamics.spec import RunSpec
from reweight.emitting.emit import emit
from reweight.emitting.start import start_in, world_named
from reweight.emitting.worlds import WORLDS
from reweight.errors import InputError
from reweight.groups.advantages import advantages
from reweight.objectives import Advantage, Objective, preset
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem, ProblemSet
from reweight.problems.verifier import Verifier
from reweight.updates import PolicyGradient, SampledPolicyGradient, Tilt

SCHEMA = json.loads((files("reweight.emitting") / "truth.schema.json").read_text())
NOISY = Verifier.binary([True, False, False], tpr=0.9, fpr=0.2)


@pytest.mark.parametrize("name", ["trl", "verl", "counts"])
@pytest.mark.parametrize("verifier", [None, NOISY])
def test_the_truth_has_its_shape_and_names_files_that_are_there(spec, tmp_path, name, verifier):
    emission = emit(spec(verifier=verifier), name, tmp_path / "run", world=WORLDS["uniform"])
    truth = json.loads((tmp_path / "run" / "truth.json").read_text())
    jsonschema.validate(truth, SCHEMA)
    assert truth == emission.truth
    assert all((tmp_path / "run" / file["path"]).is_file() for file in truth["files"])
    assert truth["files"][0]["updates"] == 0
    assert truth["files"][-1]["updates"] == (3 if name == "counts" else 2)
    assert [policy["updates"] for policy in truth["policies"]] == [0, 1, 2, 3]
    assert truth["find"]["verifier_errs"] is (verifier is not None)


def enumerated(rates, size, advantage):
    """Dead share and signal of prompts by all 2^G groups, probabilities as Fractions."""
    dead, signal = Fraction(0), 0.0
    for group in product([0, 1], repeat=size):
        worth = np.dot(group, advantages(np.array(group, float), advantage)) / size
        for rate in rates:
            chance = rate ** sum(group) * (1 - rate) ** (size - sum(group)) / len(rates)
            dead += chance if len(set(group)) == 1 else 0
            signal += float(chance) * worth
    return float(dead), signal


@pytest.mark.parametrize("verifier", [None, NOISY])
def test_functionals_of_the_start_by_enumeration(tmp_path, verifier):
    rates = [Fraction(0), Fraction(1, 8), Fraction(5, 8), Fraction(1)]
    problem = Problem([1, 0, 0], verifier=verifier)
    rows = [[float(rate), float((1 - rate) / 2), float((1 - rate) / 2)] for rate in rates]
    objective = preset("trl", group_size=5)
    run_spec = RunSpec(ProblemSet([problem] * 4), FlatPolicy.from_probabilities(rows), objective, Tilt(0.1), 1)
    start = emit(run_spec, "counts", tmp_path / "run").truth["policies"][0]
    seen = rates if verifier is None else [rate * Fraction(9, 10) + (1 - rate) * Fraction(2, 10) for rate in rates]
    assert start["pass_rates"] == pytest.approx([float(rate) for rate in rates], abs=1e-15)
    assert start["accepted_rates"] == pytest.approx([float(rate) for rate in seen], abs=1e-15)
    dead, signal = enumerated(seen, 5, objective.advantage)
    assert start["dead_share"] == pytest.approx(dead, rel=1e-12)
    assert start["signal"] == pytest.approx(signal, rel=1e-12)
    for k, value in start["pass_at_k"].items():
        exact = sum(1 - (1 - rate) ** int(k) for rate in seen) / 4
        assert value == pytest.approx(float(exact), rel=1e-12)


def test_a_tilt_of_small_groups_shifts_all_log_odds_alike(tmp_path):
    """At G = 2 the z-score's gap is q - (-p) = 1 for every pass rate, so each step adds eta (C04)."""
    rates = np.array([0.01, 0.3, 0.9])
    policy = FlatPolicy.from_probabilities([[rate, 1 - rate] for rate in rates])
    run_spec = RunSpec(ProblemSet([Problem([1, 0])] * 3), policy, Objective(Advantage(), 2), Tilt(0.25), 4)
    truth = emit(run_spec, "counts", tmp_path / "run").truth
    odds = rates / (1 - rates) * np.exp(0.25 * 4)
    assert truth["policies"][-1]["pass_rates"] == pytest.approx((odds / (1 + odds)).tolist(), rel=1e-12)
    assert truth["find"]["tilt_time"] == 1.0
    assert (truth["find"]["prompts_up"], truth["find"]["prompts_down"]) == (3, 0)
    assert truth["expected_pass_rate"] == [policy["pass_rate"] for policy in truth["policies"]]


def test_what_was_drawn_scatters_around_the_expectation(spec, tmp_path):
    """One small step: the mean over runs is the exact update's to first order, within standard errors."""
    eta, runs = 0.1, 300
    ends = []
    for seed in range(runs):
        run_spec = spec(update=SampledPolicyGradient(eta), steps=1, seed=seed)
        truth = emit(run_spec, "counts", tmp_path / str(seed)).truth
        ends.append(truth["policies"][-1]["pass_rate"])
    exact = spec(update=PolicyGradient(eta), steps=1, bounds=False).run().pass_rate.values
    assert truth["expected_pass_rate"] == pytest.approx(exact.tolist(), rel=1e-14)
    moved = np.mean(ends) - exact[0]
    error = np.std(ends, ddof=1) / np.sqrt(runs)
    assert abs(moved - (exact[1] - exact[0])) < 4 * error
    assert moved > 4 * error


def test_impossible_prompts_stay_impossible(spec, tmp_path):
    find = emit(spec(), "counts", tmp_path / "run").truth["find"]
    assert find["never_solvable"] == ["prompt 0"]
    assert find["new_answers"] == 0
    assert find["map"] == "sampled_policy_gradient"


UNIFORM = {"pass_rate": 1 / 2, "dead_share": 2 / 9}
SPARSE = {"pass_rate": 0.015, "dead_share": 0.9 + 0.1 * (0.3**9 + 1 - 0.7**9) / 9 / 0.3}
TWO = {"pass_rate": 0.435, "dead_share": 0.3 * (0.05**8 + 0.95**8) + 0.7 * (0.6**8 + 0.4**8)}
HARD = {"pass_rate": 0.002, "dead_share": 0.002**8 + 0.998**8}
EASY = {"pass_rate": 0.998, "dead_share": 0.002**8 + 0.998**8}
# E p^8 of Beta(a, a) is the product of (a + i)/(2a + i) over i < 8; a dead group is as often all wrong as all correct
U_SHAPED = {"pass_rate": 0.5, "dead_share": 2 * np.prod([(0.2 + i) / (0.4 + i) for i in range(8)])}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("uniform", UNIFORM),
        ("u-shaped", U_SHAPED),
        ("sparse", SPARSE),
        ("two-point", TWO),
        ("hardly-ever", HARD),
        ("nearly-always", EASY),
    ],
)
def test_worlds_in_closed_form_and_drawn(tmp_path, name, expected):
    world = world_named(name)
    problem, policy = start_in(world, 300, np.random.default_rng(2))
    run_spec = RunSpec(problem, policy, preset("trl", group_size=8), Tilt(0.1), 1)
    truth = emit(run_spec, "counts", tmp_path / "run", world=world).truth
    found = truth["world"]
    assert {key: found[key] for key in expected} == pytest.approx(expected, rel=1e-13)
    assert found["pass_at_k"]["1"] == pytest.approx(found["pass_rate"], rel=1e-12)
    assert world.weights.sum() == pytest.approx(1, rel=1e-13)
    rates = world.draw(np.random.default_rng(3), 100_000)
    for k in (4, 64):
        values = 1 - (1 - rates) ** k
        error = values.std() / np.sqrt(len(values)) + 1e-12
        assert abs(values.mean() - found["pass_at_k"][str(k)]) < 5 * error
    drawn = np.array(truth["policies"][0]["pass_rates"])
    assert abs(drawn.mean() - found["pass_rate"]) < 5 * rates.std() / np.sqrt(300) + 1e-12
    assert truth["cause"]["world"] == world.about


def test_there_are_six_worlds_and_no_other():
    with pytest.raises(InputError, match="there is no world 'flat': choose one of uniform, u-shaped, sparse"):
        world_named("flat")
    with pytest.raises(InputError, match="above 100000"):
        start_in(WORLDS["uniform"], 10**6, np.random.default_rng(0))
