"""The inverse question, against runs that are drawn and runs that are computed step by step."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit, softmax
from scipy.stats import binom

from reweight.errors import InputError
from reweight.forecasting.sampled_climb import climb
from reweight.forecasting.target import reach_bound, sft_examples, target
from reweight.groups.binary import binary_advantages
from reweight.groups.weights import group_weights
from reweight.objectives import Advantage

SIZE, STEP, GROUPS, RATE = 8, 0.1, 200, 0.5


def push(size: int) -> np.ndarray:
    """(1/G) sum of r_i A_i for each number of correct samples."""
    correct, _ = binary_advantages(size, Advantage())
    shares = np.arange(size + 1) / size
    return np.where(shares > 0, shares * np.where(shares > 0, correct, 0.0), 0.0)


def share_of_runs(base: float, runs: int, wrong: int, rng: np.random.Generator) -> float:
    """Share of sampled policy-gradient runs of a flat table that reach the rate, with one correct answer."""
    moves = push(SIZE)
    logits = np.zeros((runs, 1 + wrong))
    logits[:, 0] = logit(base) + np.log(wrong)
    reached = np.zeros(runs, bool)
    for _ in range(GROUPS):
        pi = softmax(logits, axis=1)
        reached |= pi[:, 0] >= RATE
        draws = np.array([rng.multinomial(SIZE, row) for row in pi])
        amount = STEP * moves[draws[:, 0]]
        failed = np.maximum(draws[:, 1:].sum(1), 1)
        logits[:, 0] += amount
        logits[:, 1:] -= amount[:, None] * draws[:, 1:] / failed[:, None]
    return float((reached | (softmax(logits, axis=1)[:, 0] >= RATE)).mean())


@pytest.fixture(scope="module")
def found():
    return target(RATE, groups=GROUPS, group_size=SIZE, step=STEP)


def test_the_masses_are_ordered(found) -> None:
    assert found.lucky < found.discovery < found.necessary <= found.sufficient < RATE
    assert found.tilt.low <= found.tilt.estimate <= found.tilt.high


def test_sampled_runs_with_two_answers_do_what_is_promised(found) -> None:
    """2,000 runs: the standard error of a chance of .95 is .005."""
    rng = np.random.default_rng(1)
    assert share_of_runs(found.sufficient, 2000, 1, rng) >= 0.95 - 0.016
    assert share_of_runs(found.necessary * 0.97, 2000, 1, rng) <= 0.95 + 0.016
    assert found.necessary > 0.9 * found.sufficient


@pytest.mark.parametrize(("size", "groups", "step", "rate"), [(2, 10, 0.5, 0.5), (4, 8, 0.6, 0.5), (3, 12, 0.3, 0.3)])
def test_the_exact_law_of_short_runs_lies_between_the_bounds(size: int, groups: int, step: float, rate: float) -> None:
    """Every reachable log-odds with its probability, group by group, with two answers."""
    gains, goal = 2 * step * push(size), logit(rate)

    def chance(base: float) -> float:
        law, reached = {round(float(logit(base)), 11): 1.0}, 0.0
        for _ in range(groups):
            after: dict[float, float] = {}
            for log_odds, weight in law.items():
                for gain, share in zip(gains, binom.pmf(np.arange(size + 1), size, expit(log_odds)), strict=True):
                    there = round(float(log_odds + gain), 11)
                    if there >= goal - 1e-9:
                        reached += weight * share
                    else:
                        after[there] = after.get(there, 0.0) + weight * share
            law = after
        return reached

    grid = climb(goal, goal - 6.0, groups, gains)
    assert grid is not None
    for place in np.linspace(0, grid.log_odds.size - 1, 25).astype(int):
        exact = chance(expit(grid.log_odds[place]))
        assert grid.at_least[place] - 1e-9 <= exact <= grid.at_most[place] + 1e-9
        assert grid.at_most[place] - grid.at_least[place] < 0.08
    found = target(rate, groups=groups, group_size=size, step=step, chance=0.5)
    assert chance(found.necessary * 0.999) < 0.5 <= chance(found.sufficient)
    assert chance(found.sufficient * 0.97) < 0.5 or found.sufficient == rate


def test_no_table_gets_there_more_often_than_the_bounds_say(found) -> None:
    rng = np.random.default_rng(2)
    gains = 2 * STEP * push(SIZE)
    for base in (found.discovery, found.necessary / 2):
        bound = reach_bound(base, RATE, GROUPS, gains)
        for wrong in (1, 5):
            assert share_of_runs(base, 500, wrong, rng) <= bound + 3 * np.sqrt(bound * (1 - bound) / 500) + 1e-9
    assert share_of_runs(found.necessary * 0.97, 500, 5, rng) <= 0.95 + 0.03


def test_the_expected_update_reaches_the_rate_from_the_exact_mass(found) -> None:
    def run(rate: float) -> float:
        theta = logit(rate)
        for _ in range(GROUPS):
            p = expit(theta)
            weights = group_weights([1.0, 0.0], [p, 1 - p], SIZE, Advantage())
            theta += STEP * (weights[0] - weights[1])
        return float(expit(theta))

    assert run(found.tilt.estimate * (1 + 1e-9)) >= RATE - 1e-9
    assert run(found.tilt.estimate * (1 - 1e-6)) < RATE


@pytest.mark.parametrize("wrong", [1, 3, 1000])
@pytest.mark.parametrize("step", [0.3, 1.0])
def test_supervised_steps_lie_between_the_bounds(wrong: int, step: float) -> None:
    logits = np.zeros(1 + wrong)
    logits[0] = logit(1e-4) + np.log(wrong)
    taken = 0
    while (pi := softmax(logits))[0] < 0.2:
        logits -= step * pi
        logits[0] += step
        taken += 1
    bounds = sft_examples(1e-4, 0.2, step)
    assert bounds.low <= taken <= bounds.high


def test_json_and_tables(found) -> None:
    document = found.to_dict()
    assert document["base_mass"]["two_answers"]["low"] == found.necessary
    assert all(len(row) == len(table.header) for table in found.tables() for row in table.rows)
    assert "200 groups of 8" in str(found)


def test_a_long_budget_gives_the_closed_form_alone() -> None:
    found = target(0.9, groups=10**6, group_size=8, step=1e-6)
    assert found.sufficient is None or found.necessary <= found.sufficient
    assert found.lucky <= found.necessary * (1 + 1e-9)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"rate": 1.0}, "rate must be between 0 and 1"),
        ({"chance": 0.0}, "chance must be between 0 and 1"),
        ({"groups": 0}, "groups"),
        ({"step": 0.0}, "step"),
        ({"group_size": 1}, "group_size"),
        ({"advantage": Advantage(baseline="none", scale="none")}, "give baseline mean"),
        ({"step": 100.0}, "give a smaller step"),
    ],
)
def test_refusals(arguments: dict, expected: str) -> None:
    rate = arguments.pop("rate", 0.5)
    with pytest.raises(InputError, match=expected):
        target(rate, **({"groups": 100, "group_size": 8, "step": 0.1} | arguments))
