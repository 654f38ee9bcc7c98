"""Presets against numbers that were computed with the frameworks' own code, or written in papers."""

import numpy as np
import pytest

from reweight import (
    Advantage,
    FlatPolicy,
    KLPenalty,
    Objective,
    Problem,
    expected_coefficients,
    gap,
    kl_expected,
    kl_gradient,
    preset,
    presets,
)

THREE = FlatPolicy(np.array([0.4, -0.3, 0.1]), (3,))
DIRECTIONS = {
    # all 27 groups of 3 answers, rewards (1, 0, 0), ratio 1, no KL
    "trl": (0.28537561, -0.11452475, -0.17085086),
    "verl": (0.285425, -0.114544, -0.170880),
    "dr_grpo": (0.164790, -0.066132, -0.098658),
    "rloo": (0.247185, -0.099199, -0.147987),
    "nemo_rl": (0.297802, -0.119512, -0.178291),
    "openrlhf": (0.285425, -0.114545, -0.170881),
}


@pytest.mark.parametrize("name", DIRECTIONS)
def test_ascent_direction(name):
    problem = Problem([1, 0, 0])
    coefficients = expected_coefficients(problem, THREE, preset(name, group_size=3, kl=None))
    np.testing.assert_allclose(THREE.pull_back(problem, coefficients), DIRECTIONS[name], atol=1e-6)


def test_three_levels_under_leave_one_out_std_are_another_algorithm():
    """Rewards (1, .3, 0): NeMo-RL's default against the z-score of the group."""
    problem = Problem([1, 0.3, 0], correct=[True, False, False])
    push = THREE.pull_back(problem, expected_coefficients(problem, THREE, preset("nemo_rl", group_size=3, kl=None)))
    np.testing.assert_allclose(push, (0.406780, -0.088666, -0.318114), atol=1e-6)
    plain = Objective(Advantage(ddof=1), 3)
    push = THREE.pull_back(problem, expected_coefficients(problem, THREE, plain))
    assert push[0] == pytest.approx(0.282112, abs=1e-6)


def test_open_instruct_standard_and_centred():
    problem = Problem([1, 0, 0])
    standard = Objective(Advantage(ddof=0, eps=1e-8), 3)
    coefficients = expected_coefficients(problem, THREE, standard)
    np.testing.assert_allclose(THREE.pull_back(problem, coefficients), (0.349573, -0.140288, -0.209285), atol=1e-6)
    centred = preset("open_instruct", group_size=3, kl=None, filter=None)
    coefficients = expected_coefficients(problem, THREE, centred)
    np.testing.assert_allclose(THREE.pull_back(problem, coefficients), DIRECTIONS["dr_grpo"], atol=1e-6)


def test_every_preset_gives_a_direction_that_raises_the_pass_rate():
    problem = Problem([1, 0, 0], lengths=[3, 2, 5])
    for item in presets():
        if item.objective.batch is not None:
            continue
        coefficients = expected_coefficients(problem, THREE, item.objective, reference=THREE)
        push = THREE.pull_back(problem, coefficients)
        assert push[0] > 0, item.name
        assert abs(push.sum()) < 1e-12


NOW = FlatPolicy(np.array([0.9, -0.6, 0.1]), (3,))
REFERENCE = FlatPolicy(np.array([0.0, 0.5, -0.5]), (3,))
REVERSE, FORWARD = (-0.207735, 0.220477, -0.012742), (-0.290726, 0.373066, -0.082340)


@pytest.mark.parametrize(
    ("penalty", "wanted"),
    [
        (KLPenalty("k1", 1.0), (0, 0, 0)),
        (KLPenalty("k2", 1.0), REVERSE),
        (KLPenalty("k3", 1.0), FORWARD),
        (KLPenalty("k1", 1.0, gradient="straight_through"), REVERSE),
        (KLPenalty("k3", 1.0, gradient="straight_through"), REVERSE),
        (KLPenalty("k2", 1.0, gradient="straight_through"), REVERSE),
        (KLPenalty("k1", 1.0, gradient="ratio_weighted"), REVERSE),
        (KLPenalty("k3", 1.0, gradient="ratio_weighted"), REVERSE),
        (KLPenalty("k2", 1.0, gradient="ratio_weighted"), (-0.179309, None, None)),
    ],
)
def test_which_divergence_a_penalty_descends(penalty, wanted):
    """Equal rewards, so that the penalty alone moves the policy."""
    problem = Problem([1, 1, 1], correct=[True, True, True])
    coefficients = expected_coefficients(problem, NOW, Objective(Advantage(), 2, kl=penalty), reference=REFERENCE)
    push = NOW.pull_back(problem, coefficients)
    for found, value in zip(push, wanted, strict=True):
        assert value is None or found == pytest.approx(value, abs=1e-6)
    pi, reference = (np.exp(policy.log_probs(problem).tokens[:, 0]) for policy in (NOW, REFERENCE))
    uphill = kl_gradient(pi, reference, penalty.estimator, gradient=penalty.gradient)
    np.testing.assert_allclose(-uphill, push, atol=1e-15)


def test_which_gradients_are_those_of_the_divergences():
    """By central differences of both divergences in the logits."""
    reference = np.exp(REFERENCE.log_probs(Problem([1, 1, 0])).tokens[:, 0])

    def divergences(logits):
        pi = np.exp(FlatPolicy(logits, (3,)).log_probs(Problem([1, 1, 0])).tokens[:, 0])
        return np.array([kl_expected(pi, reference, "k1"), kl_expected(reference, pi, "k1")])

    steps = 1e-5 * np.eye(3)
    slopes = [(divergences(NOW.parameters + e) - divergences(NOW.parameters - e)) / 2e-5 for e in steps]
    np.testing.assert_allclose(-np.transpose(slopes), [REVERSE, FORWARD], atol=1e-6)


def test_maximum_likelihood_and_pass_at_k_presets():
    assert gap(0.3, 8, preset("maxrl").advantage) == pytest.approx((1 - 0.7**7) / 0.3, rel=1e-12)
    policy, problem = FlatPolicy.from_probabilities([0.3, 0.7]), Problem([1, 0])
    right, wrong = expected_coefficients(problem, policy, preset("pkpo")) / [0.3, 0.7]
    assert right - wrong == pytest.approx(4 * 0.7**3, rel=1e-12)
