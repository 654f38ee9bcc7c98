"""Lengths and rewards that are whole multiples of units: sums of a group have a law of their own, of any group size."""

from __future__ import annotations

import numpy as np
import pytest

from reweight.groups import group_sums
from reweight.groups.coefficients import expected_coefficients
from reweight.objectives import Advantage, Objective
from reweight.policies.flat import FlatPolicy
from reweight.problems import Problem

REWARDS = {"binary": [1, 0, 0, 1], "levels": [1, 0.5, 0, -0.25], "constant": [1, 1, 1, 1]}
ADVANTAGES = {
    "std": Advantage(),
    "std, ddof 1": Advantage(ddof=1, eps=1e-4),
    "none": Advantage(scale="none"),
    "leave one out": Advantage(baseline="leave_one_out", scale="none"),
    "leave one out std": Advantage(baseline="leave_one_out", scale="leave_one_out_std", eps=1e-6),
    "maxrl": Advantage(scale="mean"),
    "no baseline": Advantage(baseline="none", scale="none"),
}


@pytest.mark.parametrize("aggregation", ["token_mean", "prompt_token_mean"])
@pytest.mark.parametrize("advantage", ADVANTAGES.values(), ids=ADVANTAGES)
@pytest.mark.parametrize("rewards", REWARDS.values(), ids=REWARDS)
def test_the_law_of_sums_gives_what_enumeration_gives(
    rewards: list[float], advantage: Advantage, aggregation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = Problem(rewards=rewards, lengths=[3, 5, 8, 5])
    policy = FlatPolicy.from_probabilities([0.4, 0.3, 0.2, 0.1])
    for size in (2, 5):
        objective = Objective(advantage, size, aggregation=aggregation)
        enumerated = expected_coefficients(problem, policy, objective)
        with monkeypatch.context() as patch:
            patch.setattr(group_sums, "MOST_ENTRIES", 0)
            called = _count_calls(patch)
            by_sums = expected_coefficients(problem, policy, objective)
        assert called
        np.testing.assert_allclose(by_sums, enumerated, rtol=0, atol=1e-12)


def _count_calls(patch: pytest.MonkeyPatch) -> list[int]:
    calls: list[int] = []
    original = group_sums._by_sums

    def counted(*arguments: object) -> object:
        calls.append(1)
        return original(*arguments)

    patch.setattr(group_sums, "_by_sums", counted)
    return calls


def test_groups_that_cannot_be_enumerated() -> None:
    """Ten kinds of answers in groups of 128: 2e13 compositions."""
    lengths = [10 * i for i in range(1, 11)]
    problem = Problem(rewards=[1, 0] * 5, lengths=lengths)
    policy = FlatPolicy.from_probabilities([0.1] * 10)
    found = expected_coefficients(problem, policy, Objective(Advantage(), 128))
    assert (np.sign(found) == np.where(np.array([1, 0] * 5) == 1, 1, -1)).all()
