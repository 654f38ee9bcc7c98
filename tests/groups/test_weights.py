"""Expected weights against enumeration of every group."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import enumerated_weights
from reweight import testing
from reweight.errors import InputError
from reweight.groups.expectation import compositions, multinomial_probabilities
from reweight.groups.weights import group_weights
from reweight.objectives import Advantage

TOLERANCE = 1e-12


def random_table(rng):
    size, group_size = int(rng.integers(2, 5)), int(rng.integers(2, 6))
    odds = rng.integers(1, 30, size)
    probabilities = [Fraction(int(mass), int(odds.sum())) for mass in odds]
    rewards = [Fraction(int(rng.integers(-6, 7)), int(rng.integers(1, 5))) for _ in range(size)]
    return rewards, probabilities, group_size


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize(("eps", "tables"), [(0.0, 200), (1e-4, 20)])
def test_random_tables_against_all_groups(ddof, eps, tables):
    rng = np.random.default_rng([ddof, tables])
    advantage = Advantage(ddof=ddof, eps=eps)
    worst = 0.0
    for _ in range(tables):
        rewards, probabilities, group_size = random_table(rng)
        weights, sizes = enumerated_weights(rewards, probabilities, group_size, advantage)
        whole = group_weights(rewards, probabilities, group_size, advantage, precision="rational")
        assert list(whole) == weights
        floats = group_weights([float(r) for r in rewards], [float(p) for p in probabilities], group_size, advantage)
        for value, weight, size in zip(floats, weights, sizes, strict=True):
            worst = max(worst, abs(value - float(weight)) / max(float(size), 1e-300))
    assert worst <= TOLERANCE


@settings(max_examples=25)
@given(st.data(), testing.advantages())
def test_every_prompt_local_advantage_against_all_groups(data, advantage):
    size = data.draw(st.integers(2, 3))
    rewards, probabilities = data.draw(testing.reward_tables(size)), data.draw(testing.distributions(size))
    group_size = data.draw(st.integers(2, 4))
    weights, _ = enumerated_weights(rewards, probabilities, group_size, advantage)
    assert list(group_weights(rewards, probabilities, group_size, advantage, precision="rational")) == weights


@settings(max_examples=40)
@given(st.data(), testing.advantages(centred=True), st.integers(2, 6))
def test_weights_of_centred_advantages_average_to_zero(data, advantage, group_size):
    rewards, probabilities = data.draw(testing.reward_tables(4)), data.draw(testing.distributions(4))
    weights = group_weights(rewards, probabilities, group_size, advantage, precision="rational")
    assert sum((w * p for w, p in zip(weights, probabilities, strict=True)), 0) == 0


def test_leave_one_out_std_does_not_average_to_zero():
    advantage = Advantage("leave_one_out", "leave_one_out_std", ddof=1)
    probabilities = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
    weights = group_weights([1, Fraction(3, 10), 0], probabilities, 4, advantage, precision="rational")
    mean = sum((w * p for w, p in zip(weights, probabilities, strict=True)), 0)
    assert float(mean) == pytest.approx(0.167, abs=5e-4)


@pytest.mark.parametrize(("size", "expected"), [(2, 0.2), (3, 0.25), (4, 0.24), (8, 0.12), (16, -0.05)])
def test_a_reward_below_the_mean_can_be_pushed_up(size, expected):
    weights = group_weights([0, 0.1, 1], [0.3, 0.6, 0.1], size, Advantage())
    assert weights[1] == pytest.approx(expected, abs=6e-3)


def test_policies_are_batched():
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(4), size=(3, 2))
    rewards = [1.0, 0.5, 0.5, 0.0]
    together = group_weights(rewards, table, 5, Advantage())
    apart = np.array([[group_weights(rewards, row, 5, Advantage()) for row in rows] for rows in table])
    np.testing.assert_allclose(together, apart, rtol=1e-14)


def test_rare_answers_keep_their_digits():
    tiny = 1e-300
    weights = group_weights([1.0, 0.0], [tiny, 1.0], 8, Advantage())
    assert weights[0] == pytest.approx(np.sqrt(7), rel=1e-14)
    assert weights[1] == pytest.approx(-tiny * np.sqrt(7), rel=1e-12)
    weights = group_weights([1.0, 0.0], [1 - 2.0**-53, 2.0**-53], 8, Advantage())
    assert weights[1] == pytest.approx(-np.sqrt(7), rel=1e-14)


def test_multinomial_probabilities_against_fractions():
    masses = [Fraction(1, 7), Fraction(5, 7), Fraction(1, 7)]
    counts = compositions(5, 3)
    floats = multinomial_probabilities(counts, np.array([float(m) for m in masses]))
    from math import factorial

    for row, value in zip(counts.tolist(), floats, strict=True):
        exact = Fraction(factorial(5))
        for count, mass in zip(row, masses, strict=True):
            exact *= mass**count / factorial(count)
        assert value == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize(
    ("rewards", "probabilities", "group_size", "advantage", "message"),
    [
        ([1, 0], [0.5, 0.6], 4, Advantage(), "sum to 1 .* got 1.1"),
        ([1, 0], [1.5, -0.5], 4, Advantage(), "at least 0 .* got 1.5"),
        ([1, 0], [np.nan, 0.5], 4, Advantage(), "got nan"),
        ([1, 0, 0], [0.5, 0.5], 4, Advantage(), "one reward a probability"),
        ([1, 0], [0.5, 0.5], 1, Advantage(), "group of one"),
        ([1, 0], [0.5, 0.5], 1, Advantage(baseline="none", scale="std"), "group of one"),
        ([1, 0], [0.5, 0.5], 2.5, Advantage(), "an integer"),
        ([1, 0], [0.5, 0.5], 4, Advantage(scale="batch_std"), "couples prompts"),
        ([1, 0], [0.5, 0.5], 4, Advantage(baseline="length_weighted"), "needs lengths"),
        (np.arange(12.0), np.full(12, 1 / 12), 32, Advantage(selection="best"), "use a smaller group"),
    ],
)
def test_what_is_refused(rewards, probabilities, group_size, advantage, message):
    with pytest.raises(InputError, match=message):
        group_weights(rewards, probabilities, group_size, advantage)


def test_exact_weights_refuse_what_is_not_a_distribution():
    with pytest.raises(InputError, match="sum to"):
        group_weights([1, 0], [Fraction(1, 2), Fraction(1, 3)], 2, Advantage(), precision="rational")
    with pytest.raises(InputError, match="negative"):
        group_weights([1, 0], [Fraction(3, 2), Fraction(-1, 2)], 2, Advantage(), precision="rational")
    with pytest.raises(InputError, match="precision"):
        group_weights([1, 0], [0.5, 0.5], 2, Advantage(), precision="float16")
