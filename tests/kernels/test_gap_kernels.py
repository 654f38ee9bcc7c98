"""Compiled gaps against their numpy twins, and against exact fractions."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from reweight import Advantage, gap
from reweight.groups.bernstein_form import COMPILED_FROM
from reweight.kernels.bernstein import PARALLEL_FROM, bernstein, bernstein_twin
from reweight.kernels.gap_polynomial import even_coefficients, even_polynomial, even_polynomial_twin
from reweight.kernels.gap_table import gap_table, table_lookup, table_lookup_twin

RATES = np.array([0.0, 1e-300, 1e-17, 1e-9, 0.01, 0.3, 0.5, 0.7, 1 - 1e-9, 1 - 2**-53, 1.0])


def symmetric(size):
    j = np.arange(size - 1)
    return (size - 1) / np.sqrt((j + 1) * (size - 1 - j))


def exactly(coefficients, p):
    """The polynomial in fractions at a float pass rate."""
    n, x = len(coefficients) - 1, Fraction(p)
    return float(sum(comb(n, k) * x**k * (1 - x) ** (n - k) * Fraction(float(c)) for k, c in enumerate(coefficients)))


@pytest.mark.parametrize("size", [2, 3, 8, 30, 100])
def test_all_three_are_the_polynomial(size):
    coefficients = symmetric(size)
    wanted = np.array([exactly(coefficients, p) for p in RATES])
    p, q = RATES, 1 - RATES
    found = {
        "sum": bernstein(coefficients, p, q),
        "sum twin": bernstein_twin(coefficients, p, q),
        "table": table_lookup(gap_table(coefficients), p, q),
        "table twin": table_lookup_twin(gap_table(coefficients), p, q),
    }
    if size <= 32:
        even = even_coefficients(coefficients)
        found |= {"polynomial": even_polynomial(even, p, q), "polynomial twin": even_polynomial_twin(even, p, q)}
    for name, values in found.items():
        np.testing.assert_allclose(values, wanted, rtol=2e-14, err_msg=name)


def test_a_sum_of_any_signs():
    rng = np.random.default_rng(0)
    coefficients = rng.normal(size=41)
    p = rng.random(50)
    wanted = np.array([exactly(coefficients, x) for x in p])
    np.testing.assert_allclose(bernstein(coefficients, p, 1 - p), wanted, atol=1e-14)
    np.testing.assert_allclose(bernstein_twin(coefficients, p, 1 - p), wanted, atol=1e-14)


@pytest.mark.parametrize("size", [2, 8, 64, 1024])
@pytest.mark.parametrize("advantage", [Advantage(ddof=1, eps=1e-4), Advantage("none", "std", eps=0.5)])
def test_many_pass_rates_give_what_one_gives(size, advantage):
    rng = np.random.default_rng(1)
    p = np.concatenate([RATES, 10.0 ** -rng.uniform(0, 300, 200), rng.random(COMPILED_FROM)])
    many = gap(p, size, advantage)
    for index in [*range(len(RATES)), *rng.integers(0, len(p), 40).tolist()]:
        assert many[index] == pytest.approx(float(gap(p[index], size, advantage)), rel=1e-12)


@pytest.mark.parametrize("size", [8, 64])
def test_threads_change_no_bit(size):
    p = np.random.default_rng(2).random(PARALLEL_FROM + 7)
    coefficients = symmetric(size)
    for whole, part in (
        (bernstein(coefficients, p, 1 - p), bernstein(coefficients, p[:100], 1 - p[:100])),
        (table_lookup(gap_table(coefficients), p, 1 - p), table_lookup(gap_table(coefficients), p[:100], 1 - p[:100])),
    ):
        np.testing.assert_array_equal(whole[:100], part)
