"""The seam: expected coefficients against every group and against frameworks' numbers."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reweight import testing
from reweight.errors import InputError
from reweight.groups.coefficients import conditional_coefficients, expected_coefficients, sampled_coefficients
from reweight.groups.weights import group_weights
from reweight.objectives import Advantage, Clip, KLPenalty, Objective, Ratio, preset
from reweight.policies.flat import FlatPolicy
from reweight.problems import Problem

FRAMEWORKS = {
    "trl": (0.28537561, -0.11452475, -0.17085086),
    "verl": (0.285425, -0.114544, -0.170880),
    "dr_grpo": (0.164790, -0.066132, -0.098658),
    "rloo": (0.247185, -0.099199, -0.147987),
}
THREE = FlatPolicy(np.array([0.4, -0.3, 0.1]), (3,))


def mean_over_all_groups(problem, policy, objective, old, reference=None):
    probabilities = old.log_probs(problem).probabilities
    total = 0.0
    for group in product(range(len(problem)), repeat=objective.group_size):
        draws = np.array([group])
        mass = np.prod(probabilities[list(group)])
        total = (
            total + mass * sampled_coefficients(problem, policy, objective, {0: draws}, old=old, reference=reference)[0]
        )
    return total


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_ascent_direction_of_presets(name):
    problem = Problem([1, 0, 0])
    direction = THREE.pull_back(problem, expected_coefficients(problem, THREE, preset(name, group_size=3)))
    np.testing.assert_allclose(direction, FRAMEWORKS[name], atol=6e-7)


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [([1, 0, 0], (0.297802, -0.119512, -0.178291)), ([1, 0.3, 0], (0.406780, -0.088666, -0.318114))],
)
def test_leave_one_out_std_is_another_algorithm(rewards, expected):
    problem = Problem(rewards)
    objective = Objective(Advantage("leave_one_out", "leave_one_out_std", ddof=1, eps=1e-6), 3)
    direction = THREE.pull_back(problem, expected_coefficients(problem, THREE, objective))
    np.testing.assert_allclose(direction, expected, atol=6e-7)


@settings(max_examples=25)
@given(st.data())
def test_expectation_is_the_mean_over_all_groups(data):
    problem = data.draw(testing.problems(largest=3))
    objective = data.draw(testing.objectives(largest_group=4, clipped=True))
    old, policy = data.draw(testing.policies(problem)), data.draw(testing.policies(problem))
    expected = expected_coefficients(problem, policy, objective, old=old)
    np.testing.assert_allclose(mean_over_all_groups(problem, policy, objective, old), expected, atol=1e-12)


@pytest.mark.parametrize("aggregation", ["token_mean", "sequence_mean", "sequence_sum", "constant"])
@pytest.mark.parametrize("baseline", ["mean", "length_weighted"])
def test_lengths_enter_through_aggregation(aggregation, baseline):
    problem = Problem([1, 0, 0.5], lengths=[2, 7, 3])
    constant = 8 if aggregation == "constant" else None
    objective = Objective(
        Advantage(baseline), 4, aggregation=aggregation, constant_length=constant, kl=KLPenalty("k3", 0.3)
    )
    old, policy = FlatPolicy.from_probabilities([0.2, 0.5, 0.3]), FlatPolicy.from_probabilities([0.3, 0.3, 0.4])
    expected = expected_coefficients(problem, policy, objective, old=old, reference=old)
    every = mean_over_all_groups(problem, policy, objective, old, reference=old)
    np.testing.assert_allclose(every, expected, atol=1e-13)


def test_on_policy_without_kl_it_is_probability_times_weight():
    problem, policy = Problem([1, 0.5, 0]), FlatPolicy.from_probabilities([0.2, 0.3, 0.5])
    weights = group_weights([1, 0.5, 0], [0.2, 0.3, 0.5], 5, Advantage())
    (given_answer,) = conditional_coefficients(problem, policy, Objective(Advantage(), 5, clip=Clip(0.2, 0.2)))
    np.testing.assert_allclose(given_answer, weights, rtol=1e-12)


@pytest.mark.parametrize(
    ("kl", "expected"),
    [
        (KLPenalty("k2", 1.0), (-0.207735, 0.220477, -0.012742)),
        (KLPenalty("k1", 1.0, gradient="straight_through"), (-0.207735, 0.220477, -0.012742)),
        (KLPenalty("k3", 1.0, gradient="ratio_weighted"), (-0.207735, 0.220477, -0.012742)),
        (KLPenalty("k1", 1.0, gradient="ratio_weighted"), (-0.207735, 0.220477, -0.012742)),
        (KLPenalty("k3", 1.0), (-0.290726, 0.373066, -0.082340)),
        (KLPenalty("k1", 1.0), (0, 0, 0)),
        (KLPenalty("k2", 1.0, gradient="ratio_weighted"), (-0.179309, None, None)),
    ],
)
def test_gradients_of_kl_rules(kl, expected):
    problem = Problem([0, 0, 0], correct=[True, False, False])
    policy, reference = (FlatPolicy(np.array(logits), (3,)) for logits in ([0.9, -0.6, 0.1], [0.0, 0.5, -0.5]))
    objective = Objective(Advantage(), 3, kl=kl)
    gradient = policy.pull_back(problem, expected_coefficients(problem, policy, objective, reference=reference))
    for value, wanted in zip(gradient, expected, strict=True):
        assert wanted is None or value == pytest.approx(wanted, abs=6e-7)


def test_answers_that_cannot_be_drawn_contribute_nothing():
    problem = Problem([1, 0, 0])
    old = FlatPolicy.from_probabilities([0, 0.5, 0.5])
    policy = FlatPolicy.from_probabilities([0.2, 0.4, 0.4])
    coefficients = expected_coefficients(problem, policy, Objective(Advantage(), 3), old=old)
    assert np.isfinite(coefficients).all()
    assert coefficients[0] == 0


def test_sequence_ratio_of_one_token_is_the_token_ratio():
    problem = Problem([1, 0])
    old, policy = FlatPolicy.from_probabilities([0.2, 0.8]), FlatPolicy.from_probabilities([0.25, 0.75])
    results = [
        expected_coefficients(problem, policy, Objective(Advantage(), 4, ratio=Ratio(level)), old=old)
        for level in ("token", "sequence_product")
    ]
    np.testing.assert_array_equal(*results)


def test_what_is_refused():
    problem, policy = Problem([1, 0]), FlatPolicy.from_probabilities([0.5, 0.5])
    with pytest.raises(InputError, match="give the reference"):
        expected_coefficients(problem, policy, Objective(Advantage(), 4, kl=KLPenalty("k3", 0.1)))
    with pytest.raises(InputError, match="couples prompts"):
        expected_coefficients(problem, policy, Objective(Advantage(scale="batch_std"), 4))
    zero = FlatPolicy.from_probabilities([0, 1])
    with pytest.raises(InputError, match="KL penalty is infinite"):
        expected_coefficients(problem, policy, Objective(Advantage(), 4, kl=KLPenalty("k2", 0.1)), reference=zero)
    with pytest.raises(InputError, match="one probability an answer"):
        expected_coefficients(Problem([1, 0, 0]), policy, Objective(Advantage(), 4))


def test_large_groups_of_many_levels_on_policy():
    """Beyond enumeration, where no clip is in force: the weights by quadrature, and a whole run."""
    from reweight.dynamics.run import run
    from reweight.updates import PolicyGradient

    rewards = np.arange(12.0) / 11
    problem = Problem(rewards, correct=rewards == 1)
    policy = FlatPolicy.from_probabilities(np.full(12, 1 / 12))
    objective = Objective(Advantage(ddof=1), 64, clip=Clip(0.2, 0.2))
    found = expected_coefficients(problem, policy, objective)
    np.testing.assert_allclose(found * 12, group_weights(rewards, np.full(12, 1 / 12), 64, objective.advantage))
    path = run(problem, policy, objective, PolicyGradient(1.0), 3)
    assert path.pass_rate[-1] > path.pass_rate[0]
    now = FlatPolicy(np.arange(12.0) / 9, (12,))
    with pytest.raises(InputError, match="above the limit"):  # elevenths are no decimals
        expected_coefficients(problem, now, objective, old=policy)


def test_large_groups_with_a_clip_by_the_law_of_sums(monkeypatch):
    """Positive and negative parts beyond enumeration; against enumeration where both can."""
    from reweight.groups import group_sums

    rewards = np.arange(12.0) / 10
    problem = Problem(rewards, correct=rewards == 1.1)
    old, now = FlatPolicy.from_probabilities(np.full(12, 1 / 12)), FlatPolicy(np.arange(12.0) / 9, (12,))
    objective = Objective(Advantage(ddof=1), 32, clip=Clip(0.2, 0.2))
    large = expected_coefficients(problem, now, objective, old=old)
    unclipped = expected_coefficients(problem, now, Objective(Advantage(ddof=1), 32), old=old)
    ratio = now.log_probs(problem).probabilities * 12
    weights = group_weights(rewards, np.full(12, 1 / 12), 32, objective.advantage)
    np.testing.assert_allclose(unclipped * 12, weights * ratio, atol=1e-12)
    assert (np.abs(large) <= np.abs(unclipped) + 1e-12).sum() >= 8
    small = Objective(Advantage(ddof=1), 6, clip=Clip(0.2, 0.2))
    wanted = expected_coefficients(problem, now, small, old=old)
    monkeypatch.setattr(group_sums, "MOST_ENTRIES", 0)
    np.testing.assert_allclose(expected_coefficients(problem, now, small, old=old), wanted, atol=1e-14)
