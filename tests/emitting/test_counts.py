"""Counts before and after a run: what is read back, and that a forecast from them finds the truth."""

import json

import numpy as np
import pytest
from scipy.stats import binom

from reweight import rollouts
from reweight.dynamics.spec import RunSpec
from reweight.emitting.emit import emit
from reweight.emitting.start import start_in
from reweight.emitting.worlds import WORLDS
from reweight.forecasting.forecast import forecast
from reweight.forecasting.questions import Questions
from reweight.objectives import preset
from reweight.updates import SampledPolicyGradient, Tilt

RUNS = 60


def test_counts_are_read_back_as_they_were_written(spec, tmp_path):
    emit(spec(), "counts", tmp_path / "run", samples=11)
    for name in ("base", "final"):
        rows = [json.loads(line) for line in (tmp_path / "run" / f"{name}.jsonl").read_text().splitlines()]
        assert list(rows[0]) == ["id", "n", "c"]
        found = rollouts.read(tmp_path / "run" / f"{name}.jsonl").counts()
        assert found.prompts == tuple(f"prompt {i}" for i in range(12))
        assert found.n.tolist() == [11] * 12
        assert found.c.tolist() == [row["c"] for row in rows]
        assert (found.c[0], found.c[-1]) == (0, 11)


@pytest.mark.parametrize("update", [Tilt(0.3), SampledPolicyGradient(20.0, groups=2)])
def test_counts_have_the_pass_rates_of_their_policy(spec, tmp_path, update):
    samples = 20_000
    truth = emit(spec(update=update), "counts", tmp_path / "run", samples=samples).truth
    for file in truth["files"]:
        rates = np.array(truth["policies"][file["updates"]]["pass_rates"])
        found = rollouts.read(tmp_path / "run" / file["path"]).counts()
        error = np.sqrt(rates * (1 - rates) / samples)
        assert (np.abs(found.c / samples - rates) <= 5 * error + 1e-12).all()


def test_how_much_is_evaluated_does_not_change_the_run(spec, tmp_path):
    few, many = (emit(spec(), "counts", tmp_path / str(n), samples=n) for n in (3, 50))
    assert few.truth["policies"] == many.truth["policies"]


@pytest.mark.parametrize("world", ["two-point", pytest.param("u-shaped", marks=pytest.mark.slow)])
def test_a_forecast_from_emitted_rollouts_contains_the_truth_at_its_rate(tmp_path, world):
    """Accepted unless the 99.9 % binomial limit on misses says that intervals miss more than one time in twenty."""
    misses = dict.fromkeys(("pass_rate", "dead_share", "signal", "pass_at_k"), 0)
    objective = preset("trl", group_size=8)
    for seed in range(RUNS):
        problem, policy = start_in(WORLDS[world], 60, np.random.default_rng([seed, 77]))
        spec = RunSpec(problem, policy, objective, Tilt(0.1), 1, seed)
        emission = emit(spec, "counts", tmp_path / str(seed), samples=8, world=WORLDS[world])
        table = rollouts.read(emission.folder / "base.jsonl")
        found = forecast(table, objective, group_sizes=(8,), questions=Questions(control=False, taus=())).to_dict()
        truth = emission.truth["world"]
        intervals = {name: found[name] if name == "pass_rate" else found[name]["8"] for name in misses}
        values = {name: truth["pass_at_k"]["8"] if name == "pass_at_k" else truth[name] for name in misses}
        for name, interval in intervals.items():
            misses[name] += not interval["low"] <= values[name] <= interval["high"]
    allowed = int(binom.ppf(0.999, RUNS, 0.05))
    assert allowed < RUNS / 5  # so that a bootstrap that misses a third would be found
    assert max(misses.values()) <= allowed, misses
