"""The start of a run: the most even distribution, its moments, and sampling errors against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from reweight.errors import InputError
from reweight.forecasting.curve import Curve, Window
from reweight.forecasting.start import Start, count_covariance, most_even
from reweight.rollouts import Counts


def window(world, groups: int = 100_000) -> Window:
    p, w = world.nodes, world.weights
    right, wrong = float(w @ p**8), float(w @ (1 - p) ** 8)
    return Window((1.0, 2.0), groups, float(w @ p), right + wrong, right, wrong)


def test_the_start_has_the_shares_of_the_rows(world) -> None:
    seen = window(world)
    start = Start.of_window(seen, 8)
    found = [start.best.mean(function) for function in start.functions]
    assert found == pytest.approx([seen.pass_rate, seen.all_correct, seen.all_wrong], abs=2e-3)
    assert start.step == 1.5


def test_no_other_distribution_with_these_means_is_more_even(worlds) -> None:
    seen = window(worlds["two-point"])
    best = Start.of_window(seen, 8).best
    rows = np.array([best.pass_rates, best.pass_rates**8, (1 - best.pass_rates) ** 8, np.ones(400)])
    entropy = -(best.weights @ np.log(np.maximum(best.weights, 1e-300)))
    rng = np.random.default_rng(1)
    for _ in range(5):
        other = linprog(rng.normal(size=400), A_eq=rows, b_eq=rows @ best.weights, method="highs").x
        for share in (0.01, 0.1, 1.0):
            mixed = (1 - share) * best.weights + share * other
            assert -(mixed @ np.log(np.maximum(mixed, 1e-300))) < entropy


def test_covariance_is_that_of_simulated_groups() -> None:
    start = most_even([lambda p: p, np.square], [0.5, 0.35], 1000)
    values = np.stack([np.arange(9) / 8, np.eye(9)[-1], np.eye(9)[0]])
    rng = np.random.default_rng(2)
    counts = rng.binomial(8, rng.choice(start.pass_rates, 200_000, p=start.weights))
    assert count_covariance(start, values) == pytest.approx(np.cov(values[:, counts]), abs=2e-3)


def test_counts_and_a_log_of_the_same_groups_give_the_same_start() -> None:
    c = np.random.default_rng(3).binomial(8, np.random.default_rng(4).beta(1, 2, 5000))
    one = Start.of_counts(Counts.of([8] * 5000, c.tolist()), 8)
    curve = Curve.of(8, [1.0], [c.mean() / 8], all_correct=[(c == 8).mean()], all_wrong=[(c == 0).mean()], groups=5000)
    other = Start.of_window(curve.window(0, 1), 8)
    assert one.best.weights == pytest.approx(other.best.weights, abs=1e-6)
    assert one.covariance == pytest.approx(other.covariance, abs=1e-8)


def test_shares_of_zero_and_one_are_no_obstacle_and_missing_ones_are_named() -> None:
    assert Start.of_window(Window((1.0,), 50, 0.5, 0.0, 0.0, 0.0), 8).best.mean(lambda p: p) == pytest.approx(
        0.5, abs=0.01
    )
    with pytest.raises(InputError, match="give a file of base rollouts"):
        Start.of_window(Window((1.0,), 50, 0.5), 8)
