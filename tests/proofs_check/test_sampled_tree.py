"""The tree is checked against the library's own update, path by path, and against enumeration of ordered groups."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from proofs_check import enumeration
from proofs_check import sampled_tree as tree
from proofs_check.checkers.rational import Undecided, groups
from reweight.groups.weights import group_weights
from reweight.objectives.advantage import Advantage
from reweight.objectives.objective import Objective
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem
from reweight.updates.sampled_policy_gradient import SampledPolicyGradient

START = (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2))
REWARDS = (Fraction(1), Fraction(1, 2), Fraction(0))
ETA = Fraction(3, 2)


def test_multisets_with_their_orders_are_all_groups() -> None:
    counted = {}
    for group in groups(3, 4):
        counted[tuple(sorted(group))] = counted.get(tuple(sorted(group)), 0) + 1
    assert dict(tree.multisets(3, 4)) == counted


@pytest.mark.parametrize("advantage", [Advantage(), Advantage(ddof=1), Advantage(baseline="none", scale="none")])
def test_one_step_is_that_of_the_library(advantage: Advantage) -> None:
    problem = Problem(np.array(REWARDS, dtype=float))
    policy = FlatPolicy.from_probabilities(np.array(START, dtype=float))
    for group, _ in tree.multisets(3, 3):
        changes = tree.change_of_logits(group, REWARDS, advantage, START)
        masses = np.array([float(mass) for mass in tree.masses(START, changes, ETA)])
        moved = SampledPolicyGradient(float(ETA)).apply_to_draws(
            problem, {0: np.array([group])}, policy, Objective(advantage, 3)
        )
        expected = moved.log_probs(problem).probabilities
        np.testing.assert_allclose(masses / masses.sum(), expected, rtol=1e-13)


def test_layers_hold_every_path_with_its_probability() -> None:
    *_, last = tree.layers(START, REWARDS, 2, Advantage(), ETA, 2)
    assert sum(float(chance) for chance in last.values()) == pytest.approx(1, abs=1e-14)
    found = {node.state: float(chance) for node, chance in last.items()}
    expected: dict[object, float] = {}
    for first, second in product(groups(3, 2), repeat=2):
        one = tree.change_of_logits(first, REWARDS, Advantage())
        weights = np.array([float(mass) for mass in tree.masses(START, one, ETA)])
        policy = weights / weights.sum()
        chance = float(np.prod([float(START[y]) for y in first]) * np.prod(policy[list(second)]))
        two = tree.change_of_logits(second, REWARDS, Advantage())
        state = tuple(a + b for a, b in zip(one, two, strict=True)), frozenset(first + second)
        expected[state] = expected.get(state, 0.0) + chance
    assert found.keys() == expected.keys()
    assert all(found[state] == pytest.approx(expected[state], rel=1e-13) for state in found)


def test_advantages_that_do_not_sum_to_zero_need_the_policy() -> None:
    with pytest.raises(ValueError, match="policy"):
        tree.change_of_logits((0, 1), REWARDS, Advantage(baseline="none", scale="none"))
    with pytest.raises(ValueError, match="policy"):
        list(tree.layers(START, REWARDS, 2, Advantage(baseline="none", scale="none"), ETA, 2))


def test_overlapping_balls_are_not_decided() -> None:
    third = tree.ball(Fraction(1, 3))
    assert tree.surely_less(third, tree.ball(1))
    assert not tree.surely_less(tree.ball(1), third)
    with pytest.raises(Undecided):
        tree.surely_less(third, tree.ball(Fraction(1, 3)))


def test_enumerated_weights_are_those_of_the_engine() -> None:
    for advantage in (Advantage(), Advantage(ddof=1, eps=Fraction(1, 10)), Advantage(baseline="leave_one_out")):
        ours = enumeration.weights(REWARDS, START, 3, advantage)
        engine = group_weights(np.array(REWARDS), np.array(START), 3, advantage, precision="rational")
        assert list(ours) == list(engine)
