"""Worlds: the quadrature against moments of Beta distributions as Fractions."""

from fractions import Fraction

import numpy as np
import pytest

from reweight.emitting.worlds import WORLDS, World


def moment(a: Fraction, b: Fraction, degree: int) -> Fraction:
    """E p^k of Beta(a, b): the product of (a + i)/(a + b + i) over i < k."""
    found = Fraction(1)
    for i in range(degree):
        found *= (a + i) / (a + b + i)
    return found


@pytest.mark.parametrize(("a", "b"), [("1/5", "1/5"), ("1/2", "1/2"), ("1/5", "3"), ("1", "1"), ("7/2", "1/4")])
@pytest.mark.parametrize("degree", [1, 2, 8, 64, 399])
def test_moments_of_a_beta_distribution(a, b, degree):
    world = World("", ((1.0, 0.0, 1.0, float(Fraction(a)), float(Fraction(b))),))
    found = world.mean(lambda p: p**degree)
    assert found == pytest.approx(float(moment(Fraction(a), Fraction(b), degree)), rel=1e-12)


def test_parts_lie_where_they_are_put():
    world = WORLDS["sparse"]
    assert world.mean(lambda p: p**2) == pytest.approx(0.1 * 0.3**2 / 3, rel=1e-13)
    assert world.mean(lambda p: (p == 0) * 1.0) == pytest.approx(0.9, rel=1e-15)
    rates = world.draw(np.random.default_rng(1), 50_000)
    assert rates.min() == 0.0
    assert rates.max() < 0.3
    assert abs((rates == 0).mean() - 0.9) < 5 * np.sqrt(0.09 / 50_000)


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_counts_are_binomial_around_drawn_rates(world):
    counts = world.counts(np.random.default_rng(2), 50_000, 8)
    for k in (0, 8):
        share = world.mean(lambda p, k=k: (1 - p) ** 8 if k == 0 else p**8)
        assert abs((counts == k).mean() - share) < 5 * np.sqrt(share * (1 - share) / 50_000) + 1e-12
