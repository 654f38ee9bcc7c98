"""The envelope of policy gradients against whole tables of answers, moved by an ODE solver and by exact steps."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import softmax

from reweight.errors import InputError
from reweight.forecasting.envelope import envelope, slowest_and_fastest
from reweight.groups.weights import group_weights
from reweight.objectives import Advantage, Objective
from reweight.rollouts import Counts

OBJECTIVE = Objective(Advantage(ddof=1), 4)
TAUS = (0.0, 0.5, 2.0, 6.0)


def table_path(policy: np.ndarray, correct: int, times: tuple[float, ...] = TAUS) -> np.ndarray:
    """Pass rates of the expected policy gradient of a whole table, whose first `correct` answers are right."""
    rewards = (np.arange(policy.size) < correct).astype(float)

    def push(_: float, logits: np.ndarray) -> np.ndarray:
        now = softmax(logits)
        return now * group_weights(rewards, now, OBJECTIVE.group_size, OBJECTIVE.advantage)

    solved = solve_ivp(push, (0, times[-1]), np.log(policy), t_eval=times, rtol=1e-9, atol=1e-10)
    return softmax(solved.y, axis=0)[:correct].sum(axis=0)


def concentrations(policy: np.ndarray, correct: int) -> list[np.ndarray]:
    p = policy[:correct].sum()
    both = policy[:correct] / p, policy[correct:] / (1 - p)
    return [np.array([p]), *(np.array([(each**2).sum()]) for each in both)]


def test_every_table_of_answers_stays_inside() -> None:
    rng = np.random.default_rng(1)
    for _ in range(25):
        right, wrong = rng.integers(1, 7, 2)
        policy = rng.dirichlet(np.full(right + wrong, rng.choice([0.3, 1.0, 5.0])))
        policy = np.maximum(policy, 1e-6) / np.maximum(policy, 1e-6).sum()
        path = table_path(policy, right)
        slow, fast = slowest_and_fastest(*concentrations(policy, right), OBJECTIVE, TAUS)
        assert (slow[:, 0] <= path + 1e-7).all()
        assert (path <= fast[:, 0] + 1e-7).all()


def test_the_rate_at_the_start_is_exact_and_both_ends_have_it() -> None:
    """dp/dtau = Delta (q^2 sum of squares right + p^2 sum of squares wrong), by one small exact step of the table."""
    policy, right = np.array([0.1, 0.15, 0.05, 0.3, 0.4]), 3
    rewards, step = np.array([1.0, 1, 1, 0, 0]), 1e-6
    logits = np.log(policy) + step * policy * group_weights(rewards, policy, 4, OBJECTIVE.advantage)
    exact = (softmax(logits)[:right].sum() - 0.3) / step
    times = (0.0, 1e-3)
    for end in slowest_and_fastest(*concentrations(policy, right), OBJECTIVE, times):
        assert (end[1, 0] - end[0, 0]) / 1e-3 == pytest.approx(exact, rel=2e-3)


def test_two_answers_close_the_envelope_and_many_equal_ones_hardly_move() -> None:
    slow, fast = slowest_and_fastest(*concentrations(np.array([0.2, 0.8]), 1), OBJECTIVE, TAUS)
    assert slow == pytest.approx(fast, abs=1e-6)
    assert slow[:, 0] == pytest.approx(table_path(np.array([0.2, 0.8]), 1), abs=1e-6)
    many = np.full(300, 1 / 300)
    slow, fast = slowest_and_fastest(*concentrations(many, 60), OBJECTIVE, (0.0, 2.0))
    assert table_path(many, 60, (0.0, 2.0))[1] - 0.2 < 0.005
    assert fast[1, 0] - slow[1, 0] < 0.01


def drawn(rng: np.random.Generator, tables: list[tuple[np.ndarray, int]], prompts: int, n: int):
    """Counts and equal pairs of samples from tables that are picked at random."""
    c, right, wrong = (np.zeros(prompts, int) for _ in range(3))
    for i in range(prompts):
        policy, correct = tables[rng.integers(len(tables))]
        times = rng.multinomial(n, policy)
        pairs = times * (times - 1) // 2
        c[i], right[i], wrong[i] = times[:correct].sum(), pairs[:correct].sum(), pairs[correct:].sum()
    return Counts.of([n] * prompts, c.tolist()), (right, wrong)


@pytest.mark.parametrize("n", [4, 8])
def test_the_truth_of_simulated_files_is_inside_and_answers_narrow_it(n: int) -> None:
    """At a level of 1 - 1e-6 a single miss in these few files would be an error of the method."""
    rng = np.random.default_rng(n)
    tables = [
        (np.array([0.3, 0.7]), 1),
        (np.array([0.1, 0.05, 0.05, *np.full(16, 0.05)]), 3),
        (np.array([0.6, 0.2, 0.1, 0.1]), 2),
    ]
    truth = np.mean([table_path(*table) for table in tables], axis=0)
    counts, pairs = drawn(rng, tables, 600, n)
    plain = envelope(counts, OBJECTIVE, taus=TAUS, level=1 - 1e-6)
    told = envelope(counts, OBJECTIVE, pairs, taus=TAUS, level=1 - 1e-6)
    assert told.from_answers
    assert not plain.from_answers
    for found in (plain, told):
        for quantity, value in zip(found.pass_rate, truth, strict=True):
            assert quantity.low <= value <= quantity.high
    width = [[each.high - each.low for each in found.pass_rate] for found in (plain, told)]
    assert width[1][3] < 0.9 * width[0][3]


def test_json_table_and_notes_say_what_was_used() -> None:
    counts = Counts.of([8, 4], [4, 2])
    found = envelope(counts, OBJECTIVE, (np.array([1, 0]), np.array([0, 1])), taus=[1.0])
    assert not found.from_answers
    assert any("same number of samples" in note for note in found.notes)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["path"][0]["tau"] == 1.0
    assert len(found.tables()[0].rows) == 1


def test_pairs_that_the_counts_exclude_are_refused() -> None:
    with pytest.raises(InputError, match="do not fit the counts"):
        envelope(Counts.of([4, 4], [2, 1]), OBJECTIVE, (np.array([3, 0]), np.array([0, 0])))
