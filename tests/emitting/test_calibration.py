"""A calibration from emitted files finds their cause."""

import json

import numpy as np
import pytest

from reweight import rollouts
from reweight.dynamics.spec import RunSpec
from reweight.emitting.emit import emit
from reweight.emitting.start import start_in
from reweight.emitting.worlds import WORLDS
from reweight.forecasting.calibrate import calibrate
from reweight.forecasting.curve import Curve
from reweight.objectives import preset
from reweight.updates import Tilt


@pytest.mark.slow
def test_a_tilted_run_is_taken_for_what_it_is(tmp_path):
    """The rate's interval holds the step size; the same log refutes policy gradient."""
    step, prompts, objective = 0.05, 200, preset("trl")
    problem, policy = start_in(WORLDS["uniform"], prompts, np.random.default_rng(0))
    folder = emit(RunSpec(problem, policy, objective, Tilt(step), 60, 0), "trl", tmp_path / "run").folder
    rows = [row for row in json.loads((folder / "log_history.json").read_text()) if "reward" in row]
    steps, reward, dead = ([row[name] for row in rows] for name in ("step", "reward", "frac_reward_zero_std"))
    curve = Curve.of(8, steps, reward, dead=dead, groups=prompts)
    base = rollouts.read(folder / "completions", step=1).counts()
    found = calibrate(curve, objective, base, model="tilt")
    assert found.rate is not None
    assert found.rate.low <= step <= found.rate.high
    assert (found.shape_verdict, found.speed_verdict) == ("model not refuted", "model not refuted")
    other = calibrate(curve, objective, base, model="policy_gradient")
    assert "model refuted" in (other.shape_verdict, other.speed_verdict)
