"""Calibration on logs whose truth is known, and on the two public runs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, logit

from reweight.errors import InputError
from reweight.forecasting.calibrate import calibrate
from reweight.forecasting.curve import Curve
from reweight.forecasting.movement import Movement, common_shift, policy_gradient, sharpened, spread, tilted
from reweight.objectives import Advantage, Objective
from reweight.rollouts import Counts

DATA = Path(__file__).parent.parent / "data"
OBJECTIVE = Objective(Advantage(ddof=1), 8)


def public(run: str) -> Curve:
    with (DATA / f"curves_gsm8k_{run}.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    steps, mean, right, wrong = (
        np.array([float(row[name]) for row in rows])
        for name in ("step", "reward_mean", "frac_all_correct", "frac_all_wrong")
    )
    return Curve.of(8, steps, mean, all_correct=right, all_wrong=wrong)


def run_of(movement: Movement, rate: float, rows: int, rng: np.random.Generator, *, shares: bool = True) -> Curve:
    """A log of 200 groups a row whose prompts, Beta(1, 2), have moved by `rate` a step since step 0."""
    moved = (expit(movement.move(logit(rng.beta(1, 2, 200)), rate * step)) for step in range(1, rows + 1))
    c = np.array([rng.binomial(8, p) for p in moved])
    both = {"all_correct": (c == 8).mean(1), "all_wrong": (c == 0).mean(1)} if shares else {}
    return Curve.of(8, np.arange(1, rows + 1), c.mean(1) / 8, groups=200, **both)


TILT = tilted(8, OBJECTIVE.advantage)


def test_tilt_time_a_step_is_found_from_a_log_and_base_rollouts() -> None:
    rng = np.random.default_rng(1)
    curve = run_of(TILT, 0.03, 40, rng)
    base = Counts.of([8] * 2000, rng.binomial(8, rng.beta(1, 2, 2000)).tolist())
    found = calibrate(curve, OBJECTIVE, base)
    assert found.rate is not None
    assert found.rate.low <= 0.03 <= found.rate.high
    assert found.rate.high - found.rate.low < 0.012
    assert (found.shape_verdict, found.speed_verdict) == ("model not refuted", "model not refuted")
    assert found.errors["reward mean"] < 0.03


def test_a_log_that_moves_otherwise_refutes_the_model() -> None:
    curve = run_of(sharpened(1.0), 0.04, 60, np.random.default_rng(2))
    found = calibrate(curve, OBJECTIVE, model="shift")
    assert found.shape_verdict == "model refuted"
    assert "model refuted" in str(found)
    right = calibrate(curve, OBJECTIVE, sharpening=1.0)
    assert right.shape_verdict == "model not refuted"
    assert right.errors["dead share"] < 0.5 * found.errors["dead share"]


def test_a_log_of_reward_means_alone_is_calibrated_with_base_rollouts_only() -> None:
    rng = np.random.default_rng(3)
    curve = run_of(TILT, 0.03, 40, rng, shares=False)
    found = calibrate(curve, OBJECTIVE, Counts.of([8] * 500, rng.binomial(8, rng.beta(1, 2, 500)).tolist()))
    assert found.shape_verdict == "not tested"
    assert found.speed_verdict == "model not refuted"
    with pytest.raises(InputError, match="base rollouts"):
        calibrate(curve, OBJECTIVE)


def test_a_log_that_has_the_dead_share_alone_is_held_against_it() -> None:
    rng = np.random.default_rng(6)
    full = run_of(TILT, 0.03, 30, rng)
    assert full.dead is not None
    curve = Curve.of(8, full.steps, full.pass_rate, dead=full.dead, groups=200)
    found = calibrate(curve, OBJECTIVE, Counts.of([8] * 500, rng.binomial(8, rng.beta(1, 2, 500)).tolist()), fitted=20)
    assert {each.name for each in found.shapes} == {"dead share"}
    assert found.shape_verdict == "model not refuted"


def test_numbers_of_groups_of_the_public_runs_are_recovered() -> None:
    assert public("dapo").groups[:4].tolist() == [289, 182, 177, 175]
    assert public("grpo").groups[:4].tolist() == [267, 182, 173, 169]


@pytest.mark.slow
@pytest.mark.parametrize("run", ["dapo", "grpo"])
def test_public_runs_keep_to_the_interval_or_the_model_is_refuted(run: str) -> None:
    """Also: a sharpening that is fitted to earlier windows only errs less than a declared spread of 1.4."""
    told = calibrate(public(run), OBJECTIVE, sharpening="earlier")
    declared = calibrate(public(run), OBJECTIVE, kappa=1.4)
    for found in (told, declared):
        shares = [found.inside[name] for name in ("all-correct share", "dead share")]
        assert min(shares) >= 0.9 or found.shape_verdict == "model refuted"
    for name in ("all-correct share", "dead share"):
        assert told.errors[name] < 0.04
        assert told.errors[name] < declared.errors[name]


def test_earlier_windows_alone_decide_the_sharpening() -> None:
    """What comes later does not change an earlier prediction."""
    curve = run_of(sharpened(0.5), 0.04, 40, np.random.default_rng(4))
    names = ("steps", "pass_rate", "groups", "dead", "all_correct", "all_wrong")
    shorter = Curve(8, **{name: getattr(curve, name)[:25] for name in names})
    whole = calibrate(curve, OBJECTIVE, sharpening="earlier")
    part = calibrate(shorter, OBJECTIVE, sharpening="earlier", fitted=20)
    assert [each.expected for each in part.shapes] == [each.expected for each in whole.shapes[: len(part.shapes)]]


def test_json_and_tables_hold_every_window() -> None:
    found = calibrate(run_of(TILT, 0.03, 30, np.random.default_rng(5)), OBJECTIVE, fitted=20)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(document["windows"]) == 2 * 5 + 2
    assert set(document["windows"][0]["predicted"]) == {"estimate", "low", "high", "identified"}
    assert [len(table.rows) for table in found.tables()] == [3, 1]
    assert all(len(row) == len(table.header) for table in found.tables() for row in table.rows)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kappa": -1.0},
        {"sharpening": -0.1},
        {"kappa": 1.4, "sharpening": 0.1},
        {"level": 1.0},
        {"first": 0},
        {"fitted": 3},
        {"window": 500},
    ],
)
def test_options_that_make_no_sense_are_refused_in_a_sentence(wrong: dict) -> None:
    with pytest.raises(InputError) as error:
        calibrate(public("dapo"), OBJECTIVE, **wrong)
    assert "\n" not in str(error.value)


def test_another_group_size_is_refused() -> None:
    with pytest.raises(InputError, match="groups of 8"):
        calibrate(public("dapo"), Objective(Advantage(), 16))


@pytest.mark.parametrize(
    "movement", [TILT, policy_gradient(8, OBJECTIVE.advantage), common_shift(), spread(1.4), sharpened(0.3)]
)
def test_every_movement_grows_with_its_amount(movement: Movement) -> None:
    """Which makes the amount that reaches a mean unique; a sharpening lowers hopeless prompts, so in the mean only."""
    theta = np.linspace(-3, 3, 61)
    means = [expit(movement.move(theta, amount)).mean() for amount in np.linspace(-1, 4, 51).tolist()]
    assert (np.diff(means) > 0).all()
