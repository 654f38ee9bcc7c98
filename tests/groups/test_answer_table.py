"""Tables of the answers of one prompt against coefficients and walks through all groups."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.groups.advantages import advantages
from reweight.groups.answer_table import answer_table, earned
from reweight.groups.coefficients import conditional_coefficients
from reweight.objectives import Advantage, Filter, LengthPenalty, Objective, Ratio, RewardRule
from reweight.objectives.presets import presets
from reweight.policies.flat import FlatPolicy
from reweight.problems import Problem, Verifier

MASSES = [Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)]
FLOATS = np.array([0.2, 0.3, 0.5])
VARIANTS = [
    *(replace(each.objective, kl=None) for each in presets()),
    Objective(Advantage(), 4, aggregation="sequence_mean", ratio=Ratio("sequence_product")),
    Objective(Advantage("leave_one_out", "none"), 3, aggregation="constant", constant_length=7.0),
    Objective(Advantage(), 4, filter=Filter("solved")),
]


def weights(table):
    return np.array([row.weight for row in table.rows])


@pytest.mark.parametrize("lengths", [None, [4, 4, 4], [3, 5, 2]])
@pytest.mark.parametrize("objective", VARIANTS)
def test_weights_are_what_multiplies_grad_log_pi(objective, lengths):
    """The short ways (rewards alone, times a factor of the answer's own length) against the general one."""
    problem = Problem([1, Fraction(1, 2), 0], lengths=lengths)
    table = answer_table(objective, problem, MASSES)
    (expected,) = conditional_coefficients(problem, FlatPolicy.from_probabilities(FLOATS), objective)
    assert weights(table) == pytest.approx(expected, abs=1e-12)
    assert [row.coefficient for row in table.rows] == pytest.approx(FLOATS * expected, abs=1e-12)


def test_token_mean_by_a_walk_through_all_groups():
    rewards, lengths, advantage = np.array([1.0, 0.5, 0.0]), np.array([3.0, 5.0, 2.0]), Advantage(ddof=1)
    totals = np.zeros(3)
    for group in product(range(3), repeat=3):
        members = list(group)
        weight = 3 / lengths[members].sum()
        chance = FLOATS[members[1:]].prod()
        totals[group[0]] += chance * weight * advantages(rewards[members], advantage)[0]
    table = answer_table(Objective(advantage, 3), Problem(rewards, lengths=lengths), MASSES)
    assert weights(table) == pytest.approx(totals, rel=1e-12)


def test_exact_weights_with_lengths():
    problem = Problem([1, Fraction(1, 2), 0], lengths=[10, 20, 40])
    objective = Objective(Advantage(), 2, aggregation="sequence_mean")
    table = answer_table(objective, problem, MASSES, precision="rational")
    assert [row.value for row in table.rows] == ["2/25", "3/200", "-1/80"]
    assert weights(table) == pytest.approx([2 / 25, 3 / 200, -1 / 80], rel=1e-12)
    balls = answer_table(objective, problem, MASSES, precision="ball", radius=1e-30)
    for row, exact in zip(balls.rows, (0.08, 0.015, -0.0125), strict=True):
        middle, radius = row.value.strip("[]").split(" +/- ") if "+/-" in row.value else (row.value, "0")
        assert float(middle) == pytest.approx(exact, rel=1e-15)
        assert float(radius) < 1e-30


def test_dead_groups_and_draws_are_those_of_observed_rewards():
    verifier = Verifier.binary([True, False, False], tpr=0.9, fpr=[0.0, 0.1, 0.2])
    noisy = answer_table(Objective(Advantage(), 4), Problem([1, 0, 0], verifier=verifier), MASSES)
    accepted = 0.2 * 0.9 + 0.3 * 0.1 + 0.5 * 0.2
    assert noisy.dead_share == pytest.approx(accepted**4 + (1 - accepted) ** 4, rel=1e-12)
    solved = answer_table(Objective(Advantage(), 4, filter=Filter("solved")), Problem([1, 0.5, 0]), MASSES)
    assert solved.draws == pytest.approx(4 / (1 - 0.8**4), rel=1e-12)
    apart = replace(Objective(Advantage(), 3), reward=RewardRule(order="normalise_then_sum"))
    channels = answer_table(apart, Problem([[1, 0], [0, 1], [1, 0]]), MASSES)
    assert channels.dead_share == pytest.approx(0.7**3 + 0.3**3, rel=1e-12)
    assert answer_table(Objective(Advantage(), 4), Problem([1, 0.5, 0]), MASSES).draws is None


def test_signal_is_given_where_rewards_alone_matter():
    plain, problem = Objective(Advantage(), 4), Problem([1, 0.5, 0])
    pi, groups = FLOATS, np.array(list(product(range(3), repeat=4)))
    chances, values = pi[groups].prod(axis=1), advantages(np.array([1, 0.5, 0])[groups], Advantage())
    gradients = (values[:, :, None] * (np.eye(3)[groups] - pi)).mean(axis=1)
    mean = chances @ gradients
    ratio = mean @ mean / (chances @ (gradients**2).sum(axis=1) - mean @ mean) / 4
    table = answer_table(plain, problem, MASSES)
    assert table.signal_to_noise == pytest.approx(ratio, rel=1e-12)
    assert table.expected_advantage == pytest.approx(chances @ np.abs(values[:, 0]), rel=1e-12)
    assert answer_table(replace(plain, filter=Filter("solved")), problem, MASSES).signal_to_noise is None
    assert answer_table(plain, Problem([1, 0.5, 0], lengths=[1, 2, 3]), MASSES).signal_to_noise is None


def test_noiseless_prompts_have_no_ratio():
    """Two answers, mixed pairs: every group pushes alike."""
    half = [Fraction(1, 2)] * 2
    table = answer_table(Objective(Advantage(), 2, filter=Filter("mixed")), Problem([1, 0]), half)
    assert table.signal_to_noise is None
    assert table.expected_advantage == 1.0


def test_what_an_answer_earns():
    rule = RewardRule(channel_weights=(1.0, 0.5), bonus=0.1, length_penalty=LengthPenalty(0.25, free=4))
    problem = Problem([[1, 1], [0, 1]], counts=[0, 3], lengths=[4, 6])
    assert earned(problem, Objective(Advantage(), 2, reward=rule)) == [Fraction(3, 2), Fraction(3, 10)]
    with pytest.raises(InputError, match="counts"):
        earned(Problem([1, 0]), Objective(Advantage(), 2, reward=RewardRule(bonus=0.1)))
    with pytest.raises(InputError, match="channel weights"):
        earned(Problem([1, 0]), Objective(Advantage(), 2, reward=RewardRule(channel_weights=(1.0, 2.0))))


@pytest.mark.parametrize(
    ("problem", "objective", "masses", "options", "message"),
    [
        (Problem([1, 0]), Objective(Advantage(), 2), MASSES, {}, "one of each an answer"),
        (Problem([1, 0, 0]), Objective(Advantage(), 2), [Fraction(1, 2)] * 3, {}, "sum to 1"),
        (Problem([1, 0, 0]), Objective(Advantage(), 2), MASSES, {"precision": "exact"}, "precision"),
        (
            Problem([1, 0, 0], lengths=[1, 2, 3]),
            Objective(Advantage(), 2),
            MASSES,
            {"precision": "rational"},
            "leave it out",
        ),
    ],
)
def test_bad_input(problem, objective, masses, options, message):
    with pytest.raises(InputError, match=message):
        answer_table(objective, problem, masses, **options)
