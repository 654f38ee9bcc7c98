"""Binomial probabilities against exact fractions and at the edges of float64."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reweight.groups.binomial import binomial_probabilities
from reweight.groups.weights import group_weights
from reweight.objectives import Advantage


@given(st.integers(0, 40), st.floats(0, 1))
def test_relative_error_against_fractions(n, p):
    q = 1 - p
    whole = Fraction(p) + Fraction(q)
    p_exact, q_exact = Fraction(p) / whole, Fraction(q) / whole
    found = binomial_probabilities(n, np.array(p), np.array(q))
    for k, value in enumerate(found):
        exact = comb(n, k) * p_exact**k * q_exact ** (n - k)
        if exact > Fraction(10) ** -290:
            assert abs(Fraction(float(value)) / exact - 1) < Fraction(1, 10**13)
        else:
            assert value <= 1.01e-290


@pytest.mark.parametrize("n", [1, 7, 1023, 4095])
@pytest.mark.parametrize("p", [0.0, 5e-324, 1e-309, 1e-300, 0.5, 1.0])
def test_extremes_sum_to_one_and_keep_the_rare_term(n, p):
    found = binomial_probabilities(n, np.array(p), np.array(1 - p))
    assert found.sum() == pytest.approx(1, abs=1e-14)
    assert np.isfinite(found).all()
    if 0 < p < 1e-290:
        assert found[1] == pytest.approx(n * p, rel=1e-9, abs=5e-324)
    mirrored = binomial_probabilities(n, np.array(1 - p), np.array(p))
    np.testing.assert_allclose(mirrored[::-1], found, rtol=1e-11, atol=1e-320)


def test_weights_of_answers_at_the_smallest_floats():
    for tiny in (5e-324, 1e-310, 1e-200):
        weights = group_weights([1.0, 0.5, 0.0], [tiny, tiny, 1.0], 8, Advantage())
        assert np.isfinite(weights).all()
        assert weights[0] == pytest.approx(np.sqrt(7), rel=1e-9)
