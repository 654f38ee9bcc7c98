"""Expected directions of a three-answer policy against the sum over all 27 groups of the frameworks' own advantages."""

from itertools import product

import numpy as np
import pytest

from frameworks.recorded import TRL, VERL
from reweight import Advantage, FlatPolicy, Objective, Problem, expected_coefficients, preset

POLICY = FlatPolicy(np.array([0.4, -0.3, 0.1]), (3,))
PASS_AT_K = Objective(Advantage("second_best", ddof=1, eps=1e-6, selection="best"), 3)


def direction(groups):
    """What the groups push on average: the mean of A (e_y - pi) over each group's draws."""
    probabilities = np.exp(POLICY.log_probs(Problem([1, 0, 0])).tokens[:, 0])
    total = np.zeros(3)
    for draws, values in zip(product(range(3), repeat=3), groups, strict=True):
        scores = np.eye(3)[list(draws)] - probabilities
        total += probabilities[list(draws)].prod() * (np.array(values) @ scores) / 3
    return total


@pytest.mark.parametrize("bandit", [0, 1], ids=["binary", "three levels"])
@pytest.mark.parametrize(
    ("record", "name", "objective", "close"),
    [
        (TRL, "group", preset("trl", group_size=3), 2e-7),
        (VERL, "grpo", preset("verl", group_size=3), 1e-15),
        (VERL, "rloo", preset("rloo", group_size=3), 1e-15),
        (VERL, "rloo_vectorized", preset("rloo", group_size=3), 1e-15),
        (VERL, "grpo_passk", PASS_AT_K, 1e-15),
    ],
    ids=["trl group", "verl grpo", "verl rloo", "verl rloo_vectorized", "verl grpo_passk"],
)
def test_expected_directions(record, name, objective, close, bandit):
    entry = record["bandits"][bandit]
    problem = Problem(entry["rewards"], correct=[True, False, False])
    push = POLICY.pull_back(problem, expected_coefficients(problem, POLICY, objective))
    np.testing.assert_allclose(push, direction(entry[name]), rtol=0, atol=close)


def test_published_directions():
    np.testing.assert_allclose(direction(TRL["bandits"][0]["group"]), [0.28537561, -0.11452475, -0.17085086], atol=1e-8)
    assert direction(VERL["bandits"][0]["grpo"])[0] == pytest.approx(0.28542, abs=5e-6)


def test_float32_statistics_move_a_direction():
    """verl's grpo_vectorized gives three rewards of .3 an advantage of its own, so that a lost group pushes."""
    entry = VERL["bandits"][1]
    residue = entry["grpo_vectorized"][13]
    assert entry["grpo"][13] == [0.0, 0.0, 0.0]
    assert residue == pytest.approx([-0.0119209289] * 3, rel=1e-8)
    off = np.abs(direction(entry["grpo_vectorized"]) - direction(entry["grpo"])).max()
    assert off == pytest.approx(1.0e-4, abs=5e-6)
