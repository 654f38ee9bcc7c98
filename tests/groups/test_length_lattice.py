"""Lengths and rewards that are whole multiples of units: sums of a group have a law of their own, of any group size."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest

from reweight.groups import group_sums
from reweight.groups.coefficients import expected_coefficients
from reweight.groups.weights import group_weights
from reweight.objectives import Advantage, Clip, Objective
from reweight.policies.flat import FlatPolicy
from reweight.problems import Problem

REWARDS: dict[str, list[float]] = {"binary": [1, 0, 0, 1], "levels": [1, 0.5, 0, -0.25], "constant": [1, 1, 1, 1]}
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
    rewards: list[float], advantage: Advantage, aggregation: Any, monkeypatch: pytest.MonkeyPatch
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


@pytest.mark.parametrize("aggregation", ["token_mean", "sequence_mean", "sequence_sum", "constant"])
def test_under_a_clip_and_where_the_law_of_rewards_alone_is_too_large(
    aggregation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    constant_length = 7.0 if aggregation == "constant" else None
    objective = Objective(Advantage(), 5, clip=Clip(0.2, 0.2), aggregation=aggregation, constant_length=constant_length)
    problem = Problem(rewards=REWARDS["levels"], lengths=[3, 5, 8, 5])
    old, new = (FlatPolicy.from_probabilities(each) for each in ([0.4, 0.3, 0.2, 0.1], [0.3, 0.3, 0.1, 0.3]))
    enumerated = expected_coefficients(problem, new, objective, old=old)
    monkeypatch.setattr(group_sums, "MOST_ENTRIES", 0)
    monkeypatch.setattr(group_sums, "lattice_fits", lambda *_: False)
    called = _count_calls(monkeypatch)
    np.testing.assert_allclose(expected_coefficients(problem, new, objective, old=old), enumerated, atol=1e-12)
    assert called


def _count_calls(patch: pytest.MonkeyPatch) -> list[int]:
    calls: list[int] = []
    original = group_sums._by_sums

    def counted(*arguments: Any) -> Any:
        calls.append(1)
        return original(*arguments)

    patch.setattr(group_sums, "_by_sums", counted)
    return calls


@pytest.mark.parametrize("baseline", ["mean", "leave_one_out", "none"])
def test_the_law_of_sums_gives_what_all_groups_give_in_fractions(
    baseline: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewards, lengths = [Fraction(1), Fraction(1, 2), Fraction(-1, 4)], [3, 5, 8]
    masses, size = [Fraction(1, 2), Fraction(3, 8), Fraction(1, 8)], 4
    exact = [Fraction(0)] * 3
    for group in product(range(3), repeat=size):
        chance, tokens = prod(masses[answer] for answer in group), sum(lengths[answer] for answer in group)
        for place, answer in enumerate(group):
            others = [rewards[other] for position, other in enumerate(group) if position != place]
            mean = Fraction(sum(others) + rewards[answer]) / size
            taken = {"mean": mean, "leave_one_out": Fraction(sum(others)) / (size - 1), "none": Fraction(0)}[baseline]
            exact[answer] += chance * (rewards[answer] - taken) / tokens
    monkeypatch.setattr(group_sums, "MOST_ENTRIES", 0)
    called = _count_calls(monkeypatch)
    problem = Problem(rewards=[float(reward) for reward in rewards], lengths=lengths)
    policy = FlatPolicy.from_probabilities([float(mass) for mass in masses])
    found = expected_coefficients(problem, policy, Objective(Advantage(baseline=baseline, scale="none"), size))
    np.testing.assert_allclose(found, [float(value) for value in exact], rtol=1e-13)
    assert called


@pytest.mark.parametrize("aggregation", ["token_mean", "sequence_mean"])
def test_groups_that_cannot_be_enumerated(aggregation: Any) -> None:
    """Ten kinds of answers in groups of 128, 2e13 compositions, against drawn groups and their standard errors."""
    kinds, size, drawn = 10, 128, 20_000
    lengths, rewards = 10.0 * np.arange(1, kinds + 1), np.array([1.0, 0.0] * 5)
    policy = FlatPolicy.from_probabilities([0.1] * kinds)
    objective = Objective(Advantage(), size, aggregation=aggregation)
    found = expected_coefficients(Problem(rewards=rewards, lengths=lengths), policy, objective)
    counts = np.random.default_rng(7).multinomial(size, [0.1] * kinds, size=drawn)
    mean = counts @ rewards / size
    std = np.sqrt(counts @ rewards**2 / size - mean**2)
    share = 1 / (counts @ lengths)[:, None] if aggregation == "token_mean" else 1 / (size * lengths)
    draws = counts * (rewards - mean[:, None]) / std[:, None] * share
    errors = draws.std(axis=0, ddof=1) / np.sqrt(drawn)
    assert (np.abs(draws.mean(axis=0) - found) < 4.5 * errors).all()
    assert (errors < 0.02 * np.abs(found)).all()


@pytest.mark.parametrize(
    ("aggregation", "weight"),
    [
        ("token_mean", 1 / 3),
        ("prompt_token_mean", 1 / 3),
        ("sequence_mean", 1 / 3),
        ("sequence_sum", 1),
        ("constant", 1 / 7),
    ],
)
def test_equal_lengths_scale_every_weight_by_the_same_number(aggregation: Any, weight: float) -> None:
    masses, rewards, advantage = [0.2, 0.3, 0.5], [1, 0.5, 0], Advantage(ddof=1)
    constant_length = 7.0 if aggregation == "constant" else None
    objective = Objective(advantage, 4, aggregation=aggregation, constant_length=constant_length)
    found = expected_coefficients(Problem(rewards, lengths=[3, 3, 3]), FlatPolicy.from_probabilities(masses), objective)
    weights = group_weights(rewards, masses, 4, advantage)
    np.testing.assert_allclose(found, np.array(masses) * weights * weight, rtol=1e-13)
