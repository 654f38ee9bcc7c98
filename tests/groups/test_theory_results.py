"""The formulas of docs/theory.md about one group, by the public names and by a walk through all groups in fractions."""

from fractions import Fraction
from itertools import pairwise, product
from math import comb, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq

from oracles import enumerated_weights
from reweight import Advantage, advantages, effective_objective, gap, group_weights
from reweight.groups.radicals import RadicalSum, square_root

PLAIN, DDOF1 = Advantage(), Advantage(ddof=1)
F = Fraction


@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("advantage", [PLAIN, DDOF1, Advantage(ddof=1, eps=0.25)])
def test_r01_the_gap_in_three_exact_forms(size, advantage):
    p = F(2, 7)
    found = gap(p, size, advantage)
    (right, wrong), _ = enumerated_weights([F(1), F(0)], [p, 1 - p], size, advantage)
    assert found == right - wrong
    assert (right, wrong) == (found * (1 - p), -found * p)
    # ((G-1)/G) E 1/(s + eps) over the others
    total = RadicalSum()
    for j in range(size - 1):
        k = j + 1
        variance = F(k * (size - k), size * (size - advantage.ddof))
        mass = comb(size - 2, j) * p**j * (1 - p) ** (size - 2 - j)
        total += (square_root(variance) + advantage.exact_eps).reciprocal() * mass
    assert found == total * F(size - 1, size)


def test_r01_limits():
    for size in (2, 8, 64):
        assert gap(1e-300, size, PLAIN) == pytest.approx(sqrt(size - 1), rel=1e-12)
        assert gap(1e-300, size, DDOF1) == pytest.approx((size - 1) / sqrt(size), rel=1e-12)
        assert gap(0.3, size, Advantage(scale="none")) == pytest.approx((size - 1) / size, rel=1e-13)
        assert gap(0.3, size, Advantage("leave_one_out", "none")) == pytest.approx(1, rel=1e-13)
    assert gap(0.3, 4096, PLAIN) == pytest.approx(1 / sqrt(0.21), rel=1e-3)


@pytest.mark.parametrize("size", [2, 3, 4, 8, 17, 64])
def test_r02_shape(size):
    p = np.linspace(0.001, 0.999, 501)
    values, q = gap(p, size, PLAIN), 1 - p
    np.testing.assert_allclose(values, values[::-1], rtol=1e-11)
    assert (np.diff(values, 2) >= -1e-12).all()
    assert values.min() == pytest.approx(values[250], rel=1e-12)
    assert (values >= 2 * (size - 1) / size - 1e-12).all()
    assert (values <= np.minimum(sqrt(size - 1), np.sqrt((size - 1) / (size * p * q))) + 1e-12).all()
    assert (gap(p, size + 1, PLAIN) >= values - 1e-12).all()
    total = sum(1 / sqrt(k * (size - k)) for k in range(1, size))
    assert effective_objective(1.0, size, PLAIN) == pytest.approx(total, rel=1e-12)


def test_r03_no_advantage_exceeds_the_bound():
    for size in (2, 3, 5):
        for rewards in product([F(0), F(1, 3), F(1), F(7)], repeat=size):
            for advantage, bound in ((PLAIN, size - 1), (DDOF1, F((size - 1) ** 2, size))):
                values = advantages(np.array(rewards, dtype=object), advantage)
                for value, own in zip(values, rewards, strict=True):
                    others = [*rewards]
                    others.remove(own)
                    attained = len(set(others)) == 1 and others[0] != own
                    assert (value * value == bound) == attained
                    assert value * value <= bound
                assert sum((abs(v) for v in values), RadicalSum()) <= size


def test_r04_a_higher_reward_has_no_lower_advantage_or_weight():
    levels = [F(0), F(1, 4), F(1, 2), F(3)]
    for others in product(levels, repeat=3):
        column = [advantages(np.array([own, *others], dtype=object), PLAIN)[0] for own in levels]
        assert all(low <= high for low, high in pairwise(column))
    rng = np.random.default_rng(0)
    for size in (2, 5, 16):
        weights = group_weights([0, 0.25, 0.5, 3], rng.dirichlet(np.ones(4), 50), size, PLAIN)
        assert (np.diff(weights, axis=1) >= -1e-13).all()


def tool_effect(size, advantage, alpha, p_with, p_without, share=0.5):
    """Weights of (right, wrong) with and without the tool, and the effect of the tool."""
    masses = [share * p_with, share * (1 - p_with), (1 - share) * p_without, (1 - share) * (1 - p_without)]
    w = group_weights([1 + alpha, -1 + alpha, 1, -1], masses, size, advantage)
    return w, p_with * w[0] + (1 - p_with) * w[1] - p_without * w[2] - (1 - p_without) * w[3]


def test_r13_the_effect_of_a_tool():
    for alpha, p, wanted in ((0.4, 0.01, 1.561), (1e-6, 0.01, 1.552), (0.4, 0.5, 0.393), (1e-6, 0.5, 0.202)):
        assert tool_effect(4, PLAIN, alpha, p, p)[1] == pytest.approx(wanted, abs=5e-4)
    mean_only = Advantage(scale="none")
    for p_with, p_without in ((0.3, 0.3), (0.2, 0.4)):
        _, effect = tool_effect(4, mean_only, 0.4, p_with, p_without)
        assert effect == pytest.approx(3 / 4 * (2 * (p_with - p_without) + 0.4), rel=1e-12)


@pytest.mark.parametrize(
    ("size", "advantage", "threshold"),
    [
        (2, PLAIN, 1 / 3),
        (3, PLAIN, 0.2870),
        (4, PLAIN, 0.2548),
        (8, PLAIN, 0.1853),
        (4, Advantage(scale="none"), 0.1),
    ],
)
def test_r13_wrong_answers_with_the_tool_are_reinforced_below_a_threshold(size, advantage, threshold):
    crossing = brentq(lambda p: tool_effect(size, advantage, 0.4, p, p)[0][1], 0.02, 0.6)
    assert crossing == pytest.approx(threshold, abs=6e-5)


def test_r13_a_tool_that_costs_20_points():
    def effect(p, size):
        return tool_effect(size, PLAIN, 0.4, p - 0.2, p)[1]

    assert brentq(lambda p: effect(p, 8), 0.3, 0.6) == pytest.approx(0.457, abs=1e-3)
    assert brentq(lambda p: effect(p, 8), 0.6, 0.9) == pytest.approx(0.743, abs=1e-3)
    assert min(effect(p, 4) for p in np.linspace(0.2, 1.0, 81)) > 0


def test_r14_the_middle_level_can_be_pushed_the_wrong_way():
    rewards, pi = [0, 0.1, 1], [0.3, 0.6, 0.1]
    for size, wanted in ((2, 0.2), (3, 0.25), (4, 0.24), (8, 0.12), (16, -0.05)):
        assert group_weights(rewards, pi, size, PLAIN)[1] == pytest.approx(wanted, abs=6e-3)
    r, pi = np.array([-0.01, 0, 1]), np.array([0.06, 0.93, 0.01])
    for size, gradient, tilt in ((2, -2.4e-4, 0.0105), (8, -5.0e-4, 0.0271)):
        w = group_weights(r, pi, size, PLAIN)
        climb = pi * w  # policy gradient: d theta, then d E[r] = sum pi (r - mean) (climb - mean climb)
        assert pi @ ((r - pi @ r) * climb) == pytest.approx(gradient, rel=0.03)
        assert pi @ ((r - pi @ r) * w) == pytest.approx(tilt, rel=0.01)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("advantage", [PLAIN, Advantage(ddof=1, eps=0.25)])
def test_r28_the_pair_form(size, advantage):
    levels, pi = [F(0), F(1, 3), F(1)], [F(1, 2), F(1, 3), F(1, 6)]
    wanted, _ = enumerated_weights(levels, pi, size, advantage)
    for a, level in enumerate(levels):
        total = RadicalSum()
        for b in {0, 1, 2} - {a}:
            spread = RadicalSum()  # S_ab, by all groups of the others
            for rest in product(range(3), repeat=size - 2):
                rewards = [level, levels[b], *(levels[k] for k in rest)]
                mean = sum(rewards) / size
                variance = sum((r - mean) ** 2 for r in rewards) / (size - advantage.ddof)
                mass = F(1)
                for k in rest:
                    mass *= pi[k]
                spread += (square_root(variance) + advantage.exact_eps).reciprocal() * mass
            total += spread * pi[b] * (level - levels[b])
        assert total * F(size - 1, size) == wanted[a]
    exact = group_weights(levels, pi, size, advantage, precision="rational")
    assert list(exact) == wanted
