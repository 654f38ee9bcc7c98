"""Entropy, KL, total variation and Fisher-Rao distance against 60-digit arithmetic at the corners."""

from itertools import chain, combinations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.measures import binary_kl, entropy, fisher_rao, kl, log_odds, total_variation

CORNERS = [1e-300, 1e-16, 1e-3, 0.3, 0.5, 0.5 + 1e-12, 0.9, 1 - 1e-9, 1 - 2**-53]
PI, REF = (0.6, 0.3, 0.1), (0.2, 0.3, 0.5)


def exact_binary_kl(p: float, q: float) -> mpmath.mpf:
    a, b = mpmath.mpf(p), mpmath.mpf(q)
    return a * mpmath.log(a / b) + (1 - a) * mpmath.log((1 - a) / (1 - b))


@pytest.mark.parametrize("p", CORNERS)
@pytest.mark.parametrize("q", CORNERS)
def test_binary_kl_to_1e12_over_the_corners(p: float, q: float) -> None:
    with mpmath.workdps(700):
        exact = exact_binary_kl(p, q)
        assert abs(mpmath.mpf(float(binary_kl(p, q))) - exact) <= 1e-12 * exact


@pytest.mark.parametrize("apart", [1e-1, 1e-4, 1e-8, 1e-12, 2**-50])
def test_binary_kl_of_close_pass_rates_keeps_its_digits(apart: float) -> None:
    for q in (1e-9, 0.1, 0.5, 0.999):
        p = q * (1 - apart)
        with mpmath.workdps(100):
            exact = exact_binary_kl(p, q)
            assert abs(mpmath.mpf(float(binary_kl(p, q))) / exact - 1) < 1e-12


def test_binary_kl_edges() -> None:
    assert binary_kl(0.0, 0.0) == binary_kl(1.0, 1.0) == 0.0
    assert binary_kl(0.5, 0.0) == binary_kl(0.5, 1.0) == binary_kl(1.0, 0.0) == np.inf
    assert float(binary_kl(1.0, 0.25)) == pytest.approx(np.log(4), rel=1e-15)
    assert float(binary_kl(0.0, 1e-300)) == pytest.approx(1e-300, rel=1e-15)
    assert float(binary_kl(1.0, 1e-320)) == pytest.approx(-np.log(1e-320), rel=1e-12)


def test_published_values_of_both_directions() -> None:
    assert float(kl(PI, REF)) == pytest.approx(0.498223581957456, abs=1e-15)
    assert float(kl(REF, PI)) == pytest.approx(0.584996498483428, abs=1e-15)


def test_kl_where_support_is_left() -> None:
    assert kl([0.5, 0.5, 0.0], [1.0, 0.0, 0.0]) == np.inf
    assert float(kl([1.0, 0.0, 0.0], [0.5, 0.5, 0.0])) == pytest.approx(np.log(2), rel=1e-15)


def test_kl_of_nearly_equal_policies_keeps_its_digits() -> None:
    nudge = 2.0**-40
    p, q = np.array([0.5 + nudge, 0.25 - nudge, 0.25]), np.array([0.5, 0.25, 0.25])
    with mpmath.workdps(60):
        exact = mpmath.fsum(
            mpmath.mpf(float(a)) * mpmath.log(mpmath.mpf(float(a)) / float(b)) for a, b in zip(p, q, strict=True)
        )
        assert abs(mpmath.mpf(float(kl(p, q))) / exact - 1) < 1e-12


def policies(size: int = 4) -> st.SearchStrategy[NDArray[np.float64]]:
    weights = st.lists(st.integers(0, 1000), min_size=size, max_size=size).filter(any)
    return weights.map(lambda w: np.array(w, dtype=float) / sum(w))


@given(policies(), policies())
def test_divergences_are_ordered(p: NDArray[np.float64], q: NDArray[np.float64]) -> None:
    far, half = float(kl(p, q)), float(total_variation(p, q))
    angle = float(fisher_rao(p, q))
    assert far >= 2 * half**2 - 1e-15  # Pinsker
    assert far >= -2 * np.log(np.cos(angle / 2)) - 1e-12 if angle < np.pi else far == np.inf
    assert 1 - np.cos(angle / 2) <= half + 1e-12  # squared Hellinger distance
    assert angle == pytest.approx(float(fisher_rao(q, p)), abs=1e-15)


@given(policies(), policies())
def test_total_variation_is_the_largest_difference_of_any_set(p: NDArray[np.float64], q: NDArray[np.float64]) -> None:
    sets = chain.from_iterable(combinations(range(4), size) for size in range(5))
    largest = max(abs(p[list(members)].sum() - q[list(members)].sum()) for members in sets)
    assert float(total_variation(p, q)) == pytest.approx(largest, abs=1e-15)


@given(policies(), policies(), st.lists(st.booleans(), min_size=4, max_size=4))
def test_pass_rates_are_no_further_apart_than_policies(
    p: NDArray[np.float64], q: NDArray[np.float64], correct: list[bool]
) -> None:
    before, after = np.minimum(q[correct].sum(), 1.0), np.minimum(p[correct].sum(), 1.0)
    between = binary_kl(after, before)
    assert between <= kl(p, q) * (1 + 1e-9) + 1e-12 or before > 1 - 1e-12 or before < 1e-12


@given(policies(), policies())
def test_fisher_rao_is_the_arc_cosine(p: NDArray[np.float64], q: NDArray[np.float64]) -> None:
    with mpmath.workdps(40):
        overlap = mpmath.fsum(mpmath.sqrt(mpmath.mpf(float(a)) * float(b)) for a, b in zip(p, q, strict=True))
        exact = 2 * mpmath.acos(min(overlap, mpmath.mpf(1)))
        # p and q sum to one up to rounding only, which moves the arc cosine by a root of it
        assert abs(float(fisher_rao(p, q)) - exact) < 1e-7


@pytest.mark.parametrize("apart", [1e-3, 1e-7, 1e-12])
def test_fisher_rao_of_close_pass_rates_keeps_its_digits(apart: float) -> None:
    a, b = 0.25, 0.25 * (1 + apart)
    with mpmath.workdps(60):
        exact = 2 * (mpmath.asin(mpmath.sqrt(mpmath.mpf(b))) - mpmath.asin(mpmath.sqrt(mpmath.mpf(a))))
        measured = float(fisher_rao([b, 1 - b], [a, 1 - a]))
        assert abs(mpmath.mpf(measured) / exact - 1) < 1e-12 + 1e-16 / apart


def test_entropy() -> None:
    assert float(entropy(np.full(7, 1 / 7))) == pytest.approx(np.log(7), rel=1e-15)
    assert entropy([1.0, 0.0]) == 0.0
    assert entropy([[0.5, 0.5], [1.0, 0.0]]).tolist() == pytest.approx([np.log(2), 0.0])


@pytest.mark.parametrize("p", CORNERS)
def test_log_odds_over_the_corners(p: float) -> None:
    with mpmath.workdps(400):
        exact = mpmath.log(mpmath.mpf(p) / (1 - mpmath.mpf(p)))
        assert abs(float(log_odds(p)) - exact) <= 1e-12 * abs(exact)


def test_log_odds_edges_and_complement() -> None:
    assert log_odds([0.0, 0.5, 1.0]).tolist() == [-np.inf, 0.0, np.inf]
    assert float(log_odds(1.0, complement=1e-300)) == pytest.approx(300 * np.log(10), rel=1e-14)
    assert float(log_odds(0.25, complement=0.75)) == pytest.approx(float(log_odds(0.25)), rel=1e-15)
    with pytest.raises(InputError, match="add up to 1"):
        log_odds(0.5, complement=0.4)


@pytest.mark.parametrize("bad", [[0.5, 0.6], [0.5, 0.5 + 1e-8], [-0.1, 1.1], [float("nan"), 1.0], [], 1.0])
def test_what_is_no_distribution_is_refused(bad: object) -> None:
    for measure in (entropy, lambda x: kl(x, [0.5, 0.5]), lambda x: fisher_rao([0.5, 0.5], x)):
        with pytest.raises(InputError):
            measure(bad)  # type: ignore[operator]


def test_small_errors_of_the_sum_are_renormalised() -> None:
    assert float(entropy([0.5, 0.5 + 5e-10])) == pytest.approx(np.log(2), abs=1e-15)
