"""pass@k, its estimate and coverage@k against exact fractions, 60-digit arithmetic and enumeration."""

from fractions import Fraction
from itertools import product
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reweight.errors import InputError
from reweight.measures import coverage_at_k, estimate_pass_at_k, pass_at_k

CORNERS = [1e-300, 1e-20, 1e-9, 0.1, 0.5, 0.9, 1 - 1e-9, 1 - 2**-53]


@pytest.mark.parametrize("p", CORNERS)
@pytest.mark.parametrize("k", [1, 2, 8, 1000, 10**6, 10**12])
def test_pass_at_k_to_1e12_over_the_corners(p: float, k: int) -> None:
    with mpmath.workdps(60):
        # expm1 in many digits: 1 - (1 - p)^k itself would need 300 of them
        exact = -mpmath.expm1(k * mpmath.log1p(-mpmath.mpf(p)))
        assert abs(mpmath.mpf(float(pass_at_k(p, k))) / exact - 1) < 1e-12


def test_pass_at_k_edges_and_broadcasting() -> None:
    assert pass_at_k(0.0, 10**12) == 0.0
    assert pass_at_k(1.0, 1) == 1.0
    assert pass_at_k(1.0, 0) == 0.0
    assert pass_at_k(np.full((3, 1), 0.5), [1, 2]).tolist() == [[0.5, 0.75]] * 3


@given(st.fractions(0, 1, max_denominator=50), st.integers(0, 12))
def test_pass_at_k_is_the_fraction(p: Fraction, k: int) -> None:
    assert float(pass_at_k(float(p), k)) == pytest.approx(float(1 - (1 - p) ** k), rel=1e-13, abs=1e-300)


def exact_estimate(n: int, c: int, k: int) -> Fraction:
    return 1 - Fraction(comb(n - c, k), comb(n, k))


@given(st.data())
def test_estimate_is_the_fraction(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 400))
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert float(estimate_pass_at_k(n, c, k)) == pytest.approx(float(exact_estimate(n, c, k)), rel=1e-13, abs=0)


@pytest.mark.parametrize(
    ("n", "c", "k"),
    [
        (10**6, 1, 1),
        (10**6, 1, 999_999),
        (10**6, 3, 500_000),
        (10**6, 4600, 4600),
        (10**6, 900, 900),
        (10**6, 6300, 6300),
        (10**7, 5, 10**6),
    ],
)
def test_estimate_for_a_million_samples(n: int, c: int, k: int) -> None:
    few, many = min(c, k), max(c, k)
    with mpmath.workdps(50):
        failing = mpmath.mpf(1)
        for i in range(few):
            failing *= mpmath.mpf(n - i - many) / (n - i)
        assert abs(mpmath.mpf(float(estimate_pass_at_k(n, c, k))) / (1 - failing) - 1) < 1e-12


def test_estimate_beyond_the_cutoff_is_one_to_the_last_digit() -> None:
    assert estimate_pass_at_k(10**6, 500_000, 500_000) == 1.0
    assert 1 - float(exact_estimate(2000, 300, 268)) < 1e-17
    assert estimate_pass_at_k(2000, 300, 268) == 1.0


def test_published_case_of_too_few_samples() -> None:
    assert np.isnan(estimate_pass_at_k(99, 0, 100))
    assert np.isnan(estimate_pass_at_k(99, 99, 100))
    assert np.isnan(estimate_pass_at_k(0, 0, 1))
    assert estimate_pass_at_k(99, 0, 99) == 0.0
    assert float(estimate_pass_at_k(200, 3, 100)) == pytest.approx(0.876884422110553, abs=1e-15)


def test_published_case_of_resampling_with_replacement() -> None:
    assert estimate_pass_at_k(4, 1, [2, 3, 4]).tolist() == pytest.approx([0.5, 0.75, 1.0], abs=1e-15)
    assert float(estimate_pass_at_k(16, 2, 8)) == pytest.approx(0.766666666666667, abs=1e-15)


@pytest.mark.parametrize("p", [Fraction(1, 7), Fraction(1, 2), Fraction(9, 10)])
def test_estimate_is_unbiased(p: Fraction) -> None:
    n = 9
    for k in range(1, n + 1):
        estimates = estimate_pass_at_k(n, np.arange(n + 1), k)
        mean = sum(comb(n, c) * p**c * (1 - p) ** (n - c) * Fraction(float(estimates[c])) for c in range(n + 1))
        assert float(mean) == pytest.approx(float(pass_at_k(float(p), k)), rel=1e-13)


def test_estimate_keeps_the_shape_and_repeats() -> None:
    table = estimate_pass_at_k(np.full((2, 3), 8), [[0, 1, 2], [2, 1, 0]], 4)
    assert table.shape == (2, 3)
    assert table[0].tolist() == table[1][::-1].tolist()
    assert estimate_pass_at_k(np.zeros((0,)), 0, 1).shape == (0,)


def test_coverage_by_listing_all_draws() -> None:
    policy, correct, k = [Fraction(1, 4), Fraction(3, 20), Fraction(3, 5)], [True, True, False], 4
    expected = Fraction(0)
    for draws in product(range(3), repeat=k):
        chance = Fraction(1)
        for answer in draws:
            chance *= policy[answer]
        expected += chance * len({answer for answer in draws if correct[answer]})
    assert float(coverage_at_k([float(p) for p in policy], correct, k)) == pytest.approx(float(expected), rel=1e-14)
    assert float(expected) == pytest.approx(1.162, abs=5e-4)


def test_coverage_broadcasts_over_k_and_policies() -> None:
    policies = np.array([[0.5, 0.5], [1.0, 0.0]])
    assert coverage_at_k(policies, [True, True], 2).tolist() == [1.5, 1.0]
    assert coverage_at_k(policies[:, np.newaxis, :], [True, True], [1, 2]).tolist() == [[1.0, 1.5], [1.0, 1.0]]
    assert coverage_at_k(policies[0], [True, True], [1, 2]).tolist() == [1.0, 1.5]


@pytest.mark.parametrize("p", [1.2, -0.1, float("nan"), "half"])
def test_pass_at_k_refuses_what_is_no_probability(p: object) -> None:
    with pytest.raises(InputError, match="pass_rate"):
        pass_at_k(p, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [-1, 1.5, float("inf"), float("nan")])
def test_pass_at_k_refuses_what_is_no_count(k: float) -> None:
    with pytest.raises(InputError, match="k must be"):
        pass_at_k(0.5, k)


@pytest.mark.parametrize(
    ("n", "c", "k", "message"),
    [
        (4, 5, 1, "c must not exceed n"),
        (4, -1, 1, "c must"),
        (4, 1, 0, "k must"),
        (-1, 0, 1, "n must"),
        (4, 0.5, 1, "c must"),
    ],
)
def test_estimate_refuses_impossible_counts(n: int, c: float, k: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        estimate_pass_at_k(n, c, k)


def test_shapes_that_do_not_fit_are_named() -> None:
    with pytest.raises(InputError, match=r"pass_rate \(2,\), k \(3,\)"):
        pass_at_k([0.1, 0.2], [1, 2, 3])
    with pytest.raises(InputError, match="correct"):
        coverage_at_k([0.5, 0.5], [True, True, False], 1)
    with pytest.raises(InputError, match="True and False"):
        coverage_at_k([0.5, 0.5], [0.3, 1.0], 1)
