"""The path under TILT: the truth of simulated files inside the bounds, the limits above every run, and the leash."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import expit, logit

from reweight.bounds import kl_leash
from reweight.errors import InputError
from reweight.forecasting.path import tilt_path
from reweight.groups.binary import gap
from reweight.measures import binary_kl
from reweight.objectives import Advantage, Objective
from reweight.rollouts import Counts

OBJECTIVE = Objective(Advantage(ddof=1), 8)
TAUS = (0.0, 0.3, 1.0, 2.5)


def moved(rates: np.ndarray, tau: float) -> np.ndarray:
    """The tilt's flow by an ODE solver."""
    inner = (rates > 0) & (rates < 1)
    out = rates.copy()
    if tau and inner.any():
        solved = solve_ivp(
            lambda _, theta: gap(logit=theta, group_size=8, advantage=OBJECTIVE.advantage),
            (0, tau),
            logit(rates[inner]),
            rtol=1e-10,
            atol=1e-10,
        )
        out[inner] = expit(solved.y[:, -1])
    return out


@pytest.mark.parametrize("n", [4, 8])
def test_bounds_contain_the_truth_of_simulated_worlds(world, n: int) -> None:
    """At a level of 1 - 1e-6 a single miss in these few files would be an error of the method."""
    counts = world.counts(np.random.default_rng(n), 400, n)
    found = tilt_path(Counts.of([n] * 400, counts.tolist()), OBJECTIVE, taus=TAUS, budgets=[0.05], level=1 - 1e-6)
    assert found.fisher_rao is not None
    for i, tau in enumerate(TAUS):
        after = moved(world.nodes, tau)
        cost = np.array([float(binary_kl(a, b)) for a, b in zip(after, world.nodes, strict=True)])
        truths = (after, after**8 + (1 - after) ** 8, cost)
        for quantity, truth in zip((found.pass_rate[i], found.dead_share[i], found.kl[i]), truths, strict=True):
            assert quantity.low - 1e-6 <= world.weights @ truth <= quantity.high + 1e-6
        assert world.weights @ after <= found.fisher_rao[i].high + 1e-6


def test_bounds_at_the_stated_level_are_narrow_enough_to_be_of_use() -> None:
    """In 400 prompts of 8 samples, a short tilt's pass rate is bounded about as well as today's is estimated."""
    c = np.random.default_rng(5).binomial(8, np.random.default_rng(6).beta(0.7, 0.7, 400))
    found = tilt_path(Counts.of([8] * 400, c.tolist()), OBJECTIVE, taus=[0.0, 0.2], budgets=[])
    widths = [quantity.high - quantity.low for quantity in found.pass_rate]
    assert widths[1] < 1.5 * widths[0]


def best_mean(rates: np.ndarray, weights: np.ndarray, budget: float) -> float:
    """Largest mean pass rate within a mean divergence: one common shift of the log-odds, by Lagrange's rule."""
    inner = (rates > 0) & (rates < 1)

    def cost(shift: float) -> float:
        after = np.where(inner, expit(logit(np.where(inner, rates, 0.5)) + shift), rates)
        return float(weights @ np.array([float(binary_kl(a, b)) for a, b in zip(after, rates, strict=True)])) - budget

    shift = brentq(cost, 0, 60) if cost(60) > 0 else 60.0
    return float(weights @ np.where(inner, expit(logit(np.where(inner, rates, 0.5)) + shift), rates))


@pytest.mark.parametrize("budget", [0.003, 0.05, 0.4])
def test_leash_is_the_common_shift_and_no_other_move_beats_it(budget: float) -> None:
    rng = np.random.default_rng(2)
    rates, weights = np.array([0.1, 0.4, 0.7]), np.array([0.5, 0.3, 0.2])
    best = best_mean(rates, weights, budget)
    for _ in range(300):
        ways = rng.uniform(-1, 2, 3)

        def cost(scale: float, ways: np.ndarray = ways) -> float:
            return float(weights @ binary_kl(expit(logit(rates) + scale * ways), rates)) - budget

        scale = brentq(cost, 0, 80) if cost(80) > 0 else 80.0
        assert weights @ expit(logit(rates) + scale * ways) <= best + 1e-9
    # So many prompts of so many samples that hardly any other distribution is allowed.
    c = rng.binomial(64, rng.choice(rates, 100_000, p=weights))
    found = tilt_path(Counts.of([64] * 100_000, c.tolist()), OBJECTIVE, taus=[], budgets=[budget]).leash[budget]
    assert found.low <= best <= found.high
    assert found.high - best < 0.03


def test_leash_of_equal_prompts_is_that_of_one() -> None:
    c = np.random.default_rng(3).binomial(64, 0.2, 100_000)
    found = tilt_path(Counts.of([64] * 100_000, c.tolist()), OBJECTIVE, taus=[], budgets=[0.1]).leash[0.1]
    assert found.low <= float(kl_leash(0.1, 0.2)) <= found.high < float(kl_leash(0.1, 0.2)) + 0.03


def test_sampled_policy_gradient_keeps_below_the_step_limit_on_every_path() -> None:
    """The largest step from even odds at G = 8: half the group correct, one correct and one wrong answer."""
    found = tilt_path(Counts.of([8] * 50, [4] * 50), OBJECTIVE, taus=[0.5], budgets=[], level=1 - 1e-9)
    assert found.log_odds is not None
    rng, steps, eta = np.random.default_rng(4), 10, 0.05
    for _ in range(200):
        logits = np.log(np.array([0.2, 0.3, 0.5]))
        for _ in range(steps):
            p = np.exp(logits) / np.exp(logits).sum()
            group = rng.choice(3, 8, p=p)
            earned = (group < 2).astype(float)
            if earned.std() > 0:
                pushes = (earned - earned.mean()) / earned.std(ddof=1)
                np.add.at(logits, group, eta / 8 * pushes)
        p = np.exp(logits) / np.exp(logits).sum()
        assert p[:2].sum() <= expit(0 + eta * steps * np.sqrt(7 / 8)) + 1e-12
    assert found.log_odds[0].high >= expit(eta * steps * np.sqrt(7 / 8)) - 1e-6


class Points:
    """Pass rates with weights."""

    def mean(self, function) -> float:
        return float(np.array([0.25, 0.75]) @ function(np.array([0.1, 0.9])))


def test_tables_and_json_hold_every_number_and_the_compatible_distribution() -> None:
    rng = np.random.default_rng(8)
    c = rng.binomial(8, rng.choice([0.1, 0.9], 400, p=[0.25, 0.75]))
    found = tilt_path(
        Counts.of([8] * 400, c.tolist()), OBJECTIVE, taus=[1.0, 0.0], budgets=[0.1], length=100, compatible=Points()
    )
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [row["tau"] for row in document["path"]] == [0.0, 1.0]
    after = moved(np.array([0.1, 0.9]), 1.0)
    assert document["path"][1]["compatible"]["pass_rate"] == pytest.approx(np.array([0.25, 0.75]) @ after, abs=1e-8)
    for row in document["path"]:
        assert row["pass_rate"]["low"] <= row["compatible"]["pass_rate"] <= row["pass_rate"]["high"]
    assert [len(table.rows) for table in found.tables()] == [2, 2, 1]
    assert all(len(row) == len(table.header) for table in found.tables() for row in table.rows)
    assert "steps" not in found.tables()[0].title
    assert "0.001" in str(found)


def test_prompts_of_several_sample_sizes_and_an_advantage_without_a_limit() -> None:
    counts = Counts.of([8] * 30 + [4] * 30, [3] * 30 + [1] * 30)
    found = tilt_path(counts, Objective(Advantage(scale="mean"), 8), taus=[1])
    assert found.fisher_rao is None
    assert any("no speed limit" in note for note in found.notes)
    assert all(len(row) == len(table.header) for table in found.tables() for row in table.rows)


@pytest.mark.parametrize("wrong", [{"taus": [-1.0]}, {"taus": [float("nan")]}, {"budgets": [-0.1]}, {"length": 0.0}])
def test_times_and_budgets_that_are_none_are_refused_in_a_sentence(wrong: dict) -> None:
    with pytest.raises(InputError) as error:
        tilt_path(Counts.of([8], [3]), OBJECTIVE, **wrong)
    assert "\n" not in str(error.value)
