"""Prediction intervals where the truth is known: logs drawn from worlds that do move as the model says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

from reweight.forecasting.curve import Curve, Window
from reweight.forecasting.movement import Movement, sharpened, tilted
from reweight.forecasting.prediction import Predictor, amount_for
from reweight.forecasting.start import Start
from reweight.objectives.advantage import Advantage

TILT = tilted(8, Advantage(ddof=1))


def log(world, rng: np.random.Generator, movement: Movement, amounts: np.ndarray, groups: int) -> Curve:
    """Rows of groups of eight, after each amount of movement."""
    rows = []
    for amount in amounts:
        p = world.draw(rng, groups)
        inner = (p > 0) & (p < 1)
        p[inner] = expit(movement.move(logit(p[inner]), float(amount)))
        rows.append(rng.binomial(8, p))
    c = np.array(rows)
    shares = {"all_correct": (c == 8).mean(1), "all_wrong": (c == 0).mean(1)}
    return Curve.of(8, np.arange(1.0, len(rows) + 1), c.mean(1) / 8, groups=groups, **shares)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["uniform", "u-shaped", "two-point"])
def test_intervals_cover_in_worlds_that_move_as_the_model_says(worlds, acceptable, name: str) -> None:
    repeats, inside = 40, np.zeros(3, int)
    rng = np.random.default_rng(len(name))
    for _ in range(repeats):
        curve = log(worlds[name], rng, TILT, 0.04 * np.array([*[0] * 5, *range(1, 26)]), 150)
        predictor = Predictor(Start.of_window(curve.window(0, 5), 8), TILT, 8, 0.95, 1)
        correct, dead = predictor.shares(curve.window(25, 30))
        # The fitted rows start where movement does, at step 5.
        late = Predictor(Start.of_window(curve.window(4, 5), 8), TILT, 8, 0.95, 1)
        _, (mean,) = late.means(curve.window(5, 15), [curve.window(25, 30)])
        inside += [correct.inside, dead.inside, mean.inside]
    assert all(acceptable(int(each), repeats, 0.95) for each in inside), inside


class Drawn:
    """Groups from a start that is the most even one itself."""

    def __init__(self, start: Start) -> None:
        self.start = start.best

    def draw(self, rng: np.random.Generator, size: int) -> np.ndarray:
        return rng.choice(self.start.pass_rates, size, p=self.start.weights)


@pytest.mark.parametrize("movement", [TILT, sharpened(0.3)])
def test_expected_shares_are_the_truth_of_the_most_even_start(movement: Movement) -> None:
    """With so many groups that five standard errors are less than .004."""
    start = Start.of_window(Window((1.0,), 10**6, 0.55, 0.25, 0.15, 0.1), 8)
    curve = log(Drawn(start), np.random.default_rng(1), movement, np.array([0.0, 0.6]), 400_000)
    predictor = Predictor(Start.of_window(curve.window(0, 1), 8), movement, 8, 0.95, 1)
    correct, dead = predictor.shares(curve.window(1, 2))
    p = expit(movement.move(logit(start.best.pass_rates), 0.6))
    assert correct.expected == pytest.approx(start.best.weights @ p**8, abs=4e-3)
    assert dead.expected == pytest.approx(start.best.weights @ (p**8 + (1 - p) ** 8), abs=4e-3)


def test_other_starts_with_the_same_means_are_inside_the_interval(worlds) -> None:
    """Two points are far from the most even start: what is expected is off by a tenth, and the range says so."""
    movement, world = TILT, worlds["two-point"]
    curve = log(world, np.random.default_rng(1), movement, np.array([0.0, 0.9]), 400_000)
    correct, dead = Predictor(Start.of_window(curve.window(0, 1), 8), movement, 8, 0.95, 1).shares(curve.window(1, 2))
    assert abs(dead.expected - dead.seen) > 0.05
    assert correct.inside
    assert dead.inside


def test_another_movement_leaves_the_intervals(worlds) -> None:
    curve = log(worlds["uniform"], np.random.default_rng(2), sharpened(1.0), np.array([*[0.0] * 5, *[1.5] * 5]), 400)
    start = Start.of_window(curve.window(0, 5), 8)
    assert not Predictor(start, TILT, 8, 0.95, 1).shares(curve.window(5, 10))[0].inside_all
    assert Predictor(start, sharpened(1.0), 8, 0.95, 1).shares(curve.window(5, 10))[0].inside_all


def test_amount_is_found_on_both_sides_and_ends_where_the_target_is_out_of_reach() -> None:
    for target in (0.01, 0.5, 0.999):
        assert amount_for(lambda amount: float(expit(amount)), target) == pytest.approx(logit(target), abs=1e-8)
    assert amount_for(lambda amount: 0.5 * float(expit(amount)), 0.9) > 1e9
