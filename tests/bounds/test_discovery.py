"""Discovery bounds against every path of small sampled runs, with exact fractions.

With G = 2 the advantages of a mixed group are +1 and -1, so a logit moves by eta/2 in either direction; with
eta = 2 log(growth) a policy stays rational: a correct answer's weight is multiplied by `growth`, a wrong one's divided.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reweight.bounds import discovery_ceiling, discovery_probability, first_success_probability
from reweight.errors import InputError

F = Fraction


@dataclass(frozen=True)
class Node:
    """A state of the run: chance of the path, unnormalised weights, answers seen so far."""

    chance: Fraction
    weights: tuple[Fraction, ...]
    seen: frozenset[int]

    def policy(self) -> tuple[Fraction, ...]:
        total = sum(self.weights)
        return tuple(weight / total for weight in self.weights)


def after_update(node: Node, correct: tuple[bool, ...], growth: Fraction, averaged: int) -> Iterator[Node]:
    """Every outcome of one update from `averaged` pairs; growth is the factor of a single pair's push."""
    policy = node.policy()
    for draws in product(range(len(policy)), repeat=2 * averaged):
        chance, weights = node.chance, list(node.weights)
        for first, second in zip(draws[::2], draws[1::2], strict=True):
            chance *= policy[first] * policy[second]
            if correct[first] != correct[second]:
                weights[first] *= growth if correct[first] else 1 / growth
                weights[second] *= growth if correct[second] else 1 / growth
        yield Node(chance, tuple(weights), node.seen | set(draws))


def tree(
    base: tuple[Fraction, ...], correct: tuple[bool, ...], growth: Fraction, updates: int, averaged: int = 1
) -> list[list[Node]]:
    """Nodes of the run after 0, 1, ... updates."""
    levels = [[Node(F(1), base, frozenset())]]
    for _ in range(updates):
        levels.append([child for node in levels[-1] for child in after_update(node, correct, growth, averaged)])
    return levels


WORLDS = [
    ((F(1, 100), F(1, 5), F(79, 100)), (True, True, False)),
    ((F(1, 100), F(1, 50), F(97, 100)), (True, True, False)),
    ((F(1, 20), F(1, 10), F(1, 2), F(7, 20)), (True, True, False, False)),
    ((F(1, 10), F(9, 10)), (True, False)),
]


@pytest.mark.parametrize(("base", "correct"), WORLDS)
@pytest.mark.parametrize("growth", [F(11, 10), F(2), F(50)])
def test_every_path_stays_below_the_ceiling(
    base: tuple[Fraction, ...], correct: tuple[bool, ...], growth: Fraction
) -> None:
    pass_rate = sum(mass for mass, right in zip(base, correct, strict=True) if right)
    for t, level in enumerate(tree(base, correct, growth, 3 if len(base) < 4 else 2)):
        for node in level:
            wrong = sum(base[y] for y in node.seen if not correct[y])
            for y in set(range(len(base))) - node.seen:
                now = float(node.policy()[y])
                ceiling = float(discovery_ceiling(float(base[y]), float(pass_rate), float(wrong)))
                assert now <= ceiling * (1 + 1e-12)
                assert ceiling <= float(discovery_ceiling(float(base[y]), float(pass_rate))) * (1 + 1e-12)
                assert now <= float(base[y] * growth**t) * (1 + 1e-12)


@pytest.mark.parametrize(("base", "correct"), WORLDS)
@pytest.mark.parametrize("growth", [F(11, 10), F(2), F(50)])
def test_chance_of_discovery_by_listing_all_paths(
    base: tuple[Fraction, ...], correct: tuple[bool, ...], growth: Fraction
) -> None:
    pass_rate = float(sum(mass for mass, right in zip(base, correct, strict=True) if right))
    step = 2 * math.log(growth)
    for t, level in enumerate(tree(base, correct, growth, 3 if len(base) < 4 else 2)):
        assert sum(node.chance for node in level) == 1
        found = float(sum(node.chance for node in level if 0 in node.seen))
        mass = float(base[0])
        for form in ("minimum", "ceiling", "growth"):
            bound = float(discovery_probability(mass, pass_rate, 2, t, step, form=form))
            assert found <= bound * (1 + 1e-12)
        either = float(sum(node.chance for node in level if any(correct[y] for y in node.seen)))
        first = float(first_success_probability(pass_rate, 2, t))
        assert either == pytest.approx(first, rel=1e-12)
        assert found <= first * (1 + 1e-12)
        if sum(correct) == 1:
            assert found == pytest.approx(first, rel=1e-12)


@pytest.mark.parametrize("growth", [F(2), F(20)])
def test_averaged_pairs_obey_the_same_bounds(growth: Fraction) -> None:
    """Two pairs an update, each pushing half: the step is 4 log(growth), the push of a pair log(growth)."""
    base, correct = WORLDS[0]
    step = 4 * math.log(growth)
    for t, level in enumerate(tree(base, correct, growth, 2, averaged=2)):
        found = float(sum(node.chance for node in level if 0 in node.seen))
        for form in ("minimum", "ceiling", "growth"):
            bound = discovery_probability(0.01, 0.21, 2, 2 * t, step, groups_per_update=2, form=form)
            assert found <= float(bound) * (1 + 1e-12)
        for node in level:
            if 0 not in node.seen:
                assert float(node.policy()[0]) <= 0.01 * math.exp(step / 2 * t) * (1 + 1e-12)


def test_ceiling_is_sharp() -> None:
    """A sampled correct answer of negligible mass pushes the sampled wrong one to nothing."""
    base, correct = (F(1, 2) - F(1, 10**12), F(1, 10**12), F(1, 2)), (True, True, False)
    start = Node(F(1), base, frozenset())
    node = next(child for child in after_update(start, correct, F(10**6), 1) if child.seen == {1, 2})
    ceiling = float(discovery_ceiling(float(base[0]), 0.5, 0.5))
    assert ceiling * (1 - 1e-5) < float(node.policy()[0]) < ceiling


def test_growth_bound_is_sharp_for_rare_answers_and_small_steps() -> None:
    base, correct = (F(1, 10**6), F(1, 10), F(9, 10) - F(1, 10**6)), (True, True, False)
    found = sum(node.chance for node in tree(base, correct, F(1001, 1000), 3)[-1] if 0 in node.seen)
    bound = float(discovery_probability(1e-6, 0.1 + 1e-6, 2, 3, 2 * math.log(1.001), form="growth"))
    assert float(found) == pytest.approx(bound, rel=2e-3)


def test_groups_that_do_not_fill_the_last_update() -> None:
    """5 groups, 2 an update: two at the start, two after one update, one after two."""
    u = 0.05
    expected = 8 * 1e-5 * (2 + 2 * math.exp(u) + math.exp(2 * u))
    bound = discovery_probability(1e-5, 0.01, 8, 5, 2 * u, groups_per_update=2, form="growth")
    assert float(bound) == pytest.approx(expected, rel=1e-13)


@given(
    st.floats(1e-300, 1e-3),
    st.floats(1e-3, 1.0),
    st.integers(2, 64),
    st.integers(0, 10**12),
    st.floats(0, 1e4),
    st.integers(1, 16),
)
def test_forms_and_their_minimum(mass: float, rate: float, size: int, groups: int, step: float, together: int) -> None:
    ceiling, growth, least = (
        float(discovery_probability(mass, rate, size, groups, step, groups_per_update=together, form=form))
        for form in ("ceiling", "growth", "minimum")
    )
    assert least == min(ceiling, growth)
    assert 0.0 <= least <= 1.0
    assert ceiling == float(discovery_probability(mass, rate, size, groups))
    assert ceiling >= -math.expm1(size * groups * math.log1p(-mass)) * (1 - 1e-12)
    assert growth >= min(1.0, size * groups * mass) * (1 - 1e-12)


def test_discovery_at_the_edges() -> None:
    assert discovery_ceiling(0.0, 0.0) == 0.0
    assert discovery_ceiling(0.3, 0.0) == 1.0
    assert discovery_ceiling(0.3, 0.3) == 1.0
    assert float(discovery_ceiling(1e-300, 1e-290)) == pytest.approx(1e-10, rel=1e-14)
    assert float(discovery_ceiling(0.1, 0.2, 0.8)) == pytest.approx(0.5, rel=1e-14)
    assert float(discovery_ceiling(1e-22, 1e-20, 1.0)) == pytest.approx(0.01, rel=1e-14)
    assert discovery_probability(0.0, 0.0, 8, 10**12, 1e5) == 0.0
    assert discovery_probability(0.1, 0.1, 8, 0, 1.0) == 0.0
    assert discovery_probability(0.1, 0.1, 8, 1) == 1.0
    assert float(discovery_probability(0.1, 0.1, 8, 1, 0.0)) == pytest.approx(0.8, rel=1e-15)
    assert float(discovery_probability(1e-300, 0.1, 8, 2, 1e4)) == pytest.approx(1.6e-298, rel=1e-12)
    assert discovery_probability(np.full((3, 1), 1e-4), 0.1, 8, [1, 2], 0.1).shape == (3, 2)


def test_short_horizon_of_the_growth_form() -> None:
    """The growth form alone passes .05 at T = 254 for step .1, pi_0 = 1e-9, G = 8; the ceiling form is far below."""
    growth = discovery_probability(1e-9, 0.01, 8, [253, 254], 0.1, form="growth")
    assert growth[0] < 0.05 < growth[1]
    assert discovery_probability(1e-9, 0.01, 8, 254) < 1e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.2, 0.5, 8, 1), "base_probability"),
        ((0.1, float("nan"), 8, 1), "pass_rate"),
        ((0.5, 0.1, 8, 1), "must not exceed pass_rate"),
        ((0.1, 0.5, 1, 1), "group_size"),
        ((0.1, 0.5, 8, -1), "groups"),
        ((0.1, 0.5, 8, 1, -0.1), "step"),
    ],
)
def test_bad_input_is_refused(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        discovery_probability(*arguments)


def test_bad_options_are_refused() -> None:
    with pytest.raises(InputError, match="needs the step size"):
        discovery_probability(0.1, 0.5, 8, 1, form="growth")
    with pytest.raises(InputError, match="form must be one of"):
        discovery_probability(0.1, 0.5, 8, 1, form="exact")
    with pytest.raises(InputError, match="groups_per_update"):
        discovery_probability(0.1, 0.5, 8, 1, 0.1, groups_per_update=0)
    with pytest.raises(InputError, match="leave room"):
        discovery_ceiling(0.1, 0.5, 0.6)
    with pytest.raises(InputError, match="group_size"):
        first_success_probability(0.1, 1, 1)
