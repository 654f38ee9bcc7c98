"""The estimates of a prompt are unbiased, by exact enumeration, and agree with sub-groups counted one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb, sqrt

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.forecasting.functional import Functional, dead_share, pass_at, signal
from reweight.objectives.advantage import Advantage

RATES = [Fraction(0), Fraction(1, 1000), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), Fraction(1)]


def law(n: int, p: Fraction) -> list[Fraction]:
    return [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]


def over_groups(function, size: int, p: Fraction) -> Fraction | float:
    """E of a function of a group's rewards, over all 2^G groups."""
    return sum(
        p ** sum(group) * (1 - p) ** (size - sum(group)) * function(group) for group in product((1, 0), repeat=size)
    )


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("n", [5, 8])
def test_sub_groups_counted_one_by_one(n: int, size: int) -> None:
    table = np.random.default_rng(3).normal(size=size + 1)
    for c in range(n + 1):
        samples = [1] * c + [0] * (n - c)
        values = [table[sum(group)] for group in combinations(samples, size)]
        assert Functional(table).unbiased(n, np.array([c]))[0] == pytest.approx(np.mean(values), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("n", [4, 8])
@pytest.mark.parametrize("p", RATES)
def test_dead_share_and_pass_at_k_are_unbiased_for_every_pass_rate(n: int, p: Fraction) -> None:
    weights = [float(weight) for weight in law(n, p)]
    for size in range(2, 5):
        dead = over_groups(lambda group: int(len(set(group)) == 1), size, p)
        solved = over_groups(max, size, p)
        assert weights @ dead_share(size).unbiased(n, np.arange(n + 1)) == pytest.approx(float(dead), abs=1e-14)
        assert weights @ pass_at(size).unbiased(n, np.arange(n + 1)) == pytest.approx(float(solved), abs=1e-14)
        assert dead_share(size).at(np.array([float(p)]))[0] == pytest.approx(float(dead), abs=1e-14)
        assert pass_at(size).at(np.array([float(p)]))[0] == pytest.approx(float(solved), abs=1e-14)


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("p", RATES)
@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_signal_is_the_expected_reward_times_advantage(size: int, p: Fraction, ddof: int) -> None:
    def worth(group: tuple[int, ...]) -> float:
        mean = sum(group) / size
        std = sqrt(sum((r - mean) ** 2 for r in group) / (size - ddof))
        return 0.0 if std == 0 else sum(r * (r - mean) / std for r in group) / size

    functional = signal(size, Advantage(ddof=ddof))
    expected = over_groups(worth, size, p)
    assert functional.at(np.array([float(p)]))[0] == pytest.approx(float(expected), abs=1e-14)
    weights = [float(weight) for weight in law(8, p)]
    assert weights @ functional.unbiased(8, np.arange(9)) == pytest.approx(float(expected), abs=1e-14)


@pytest.mark.parametrize(
    ("advantage", "factor"),
    [(Advantage(scale="none"), lambda size: (size - 1) / size), (Advantage("leave_one_out", "none"), lambda size: 1.0)],
)
@pytest.mark.parametrize("size", [2, 3, 8, 64])
def test_without_a_scale_two_samples_identify_the_signal(advantage: Advantage, factor, size: int) -> None:
    functional = signal(size, advantage)
    assert functional.degree == 2
    rates = np.linspace(0, 1, 11)
    assert functional.at(rates) == pytest.approx(factor(size) * rates * (1 - rates), abs=1e-13)


def test_a_group_of_four_with_a_scale_needs_four_samples() -> None:
    assert [signal(size, Advantage()).degree for size in (2, 3, 4, 8)] == [2, 2, 4, 8]


def test_many_samples_keep_their_digits() -> None:
    n, size = 5000, 64
    for c in (0, 1, 63, 64, 2500, 4999, 5000):
        exact = Fraction(comb(c, size) + comb(n - c, size), comb(n, size))
        assert dead_share(size).unbiased(n, np.array([c]))[0] == pytest.approx(float(exact), rel=1e-11, abs=1e-300)


def test_what_is_not_identified_or_not_in_counts_is_refused() -> None:
    with pytest.raises(InputError, match="do not identify"):
        dead_share(9).unbiased(8, np.array([3]))
    with pytest.raises(InputError, match="statistics of a batch"):
        signal(8, Advantage(scale="batch_std"))
    with pytest.raises(InputError, match="answer lengths"):
        signal(8, Advantage("length_weighted", "none"))


@pytest.mark.parametrize(
    "functional", [dead_share(4), pass_at(3), signal(5, Advantage()), signal(4, Advantage("none"))]
)
def test_more_samples_never_widen_the_range_of_possible_values(functional: Functional) -> None:
    tables = [functional.unbiased(n, np.arange(n + 1)) for n in range(functional.degree, 40)]
    for fewer, more in pairwise(tables):
        assert fewer.min() - 1e-15 <= more.min()
        assert more.max() <= fewer.max() + 1e-15


def test_one_call_for_different_numbers_of_samples_is_each_on_its_own() -> None:
    n, c = np.array([4, 9, 4, 30]), np.array([1, 9, 4, 17])
    together = dead_share(4).unbiased(n, c)
    assert together.tolist() == [dead_share(4).unbiased(int(n[i]), c[i : i + 1])[0] for i in range(4)]
    with pytest.raises(InputError, match="3 samples a prompt do not identify what needs 4"):
        dead_share(4).unbiased(np.array([8, 3]), np.array([1, 1]))
