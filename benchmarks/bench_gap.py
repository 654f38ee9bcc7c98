"""The gap of many pass rates, and of one against sampling."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import comb
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks import growth
from reweight.groups.binary import binary_advantages, gap
from reweight.kernels.bernstein import bernstein
from reweight.kernels.gap_polynomial import even_coefficients, even_polynomial
from reweight.kernels.gap_table import gap_table, table_lookup
from reweight.objectives.advantage import Advantage

Floats = NDArray[np.float64]
ADVANTAGE = Advantage(ddof=1, eps=1e-4)
MANY = 1_000_000
P = expit(np.random.default_rng(0).normal(-2, 2, MANY))
FEW = P[:1000]


def coefficients(size: int) -> Floats:
    right, wrong = binary_advantages(size, ADVANTAGE)
    found = right[1:] - wrong[:-1]
    return np.asarray((found + found[::-1]) / 2)


def summed(size: int, rates: Floats) -> Floats:
    """The sum over the number of successes among the others, in plain Python, one pass rate at a time."""
    values = coefficients(size).tolist()
    return np.array(
        [sum(comb(size - 1, k) * p**k * (1 - p) ** (size - 1 - k) * b for k, b in enumerate(values)) for p in rates]
    )


def by_scipy(size: int, rates: Floats) -> Floats:
    from scipy.stats import binom

    return np.asarray(binom.pmf(np.arange(size)[:, None], size - 1, rates[None, :]).T @ coefficients(size))


def numpy_bernstein(size: int, rates: Floats) -> Floats:
    """One array pass a coefficient, the way one writes it in numpy."""
    values, q = coefficients(size), 1 - rates
    return np.asarray(sum(comb(size - 1, k) * b * rates**k * q ** (size - 1 - k) for k, b in enumerate(values)))


def triad() -> Floats:
    """Read two arrays, write one: the least that any function of p and q moves."""
    return P + 0.5 * P


def sampled(size: int, rate: float, groups: int) -> Floats:
    """Mean advantage of right minus wrong members over drawn groups."""
    right, wrong = binary_advantages(size, ADVANTAGE)
    k = np.random.default_rng(0).binomial(size, rate, groups)
    up, down = (k * right[k]).sum() / (groups * size * rate), ((size - k) * wrong[k]).sum()
    return np.array([up - down / (groups * size * (1 - rate))])


EVEN, TABLE = even_coefficients(coefficients(8)), gap_table(coefficients(1024))
ROWS: dict[str, list[tuple[str, Callable[[], Floats], int, float, float | None]]] = {
    "gap of 1e3 pass rates, G = 8": [
        ("reweight", partial(gap, FEW, 8, ADVANTAGE), 1, 1e-12, None),
        ("plain Python", partial(summed, 8, FEW), 1, 1e-12, 10),
    ],
    "gap, by pass rate of 1e6: polynomial, G = 8": [
        ("reweight", partial(even_polynomial, EVEN, P, 1 - P), MANY, 2e-14, None),
        ("public gap()", partial(gap, P, 8, ADVANTAGE), MANY, 2e-14, None),
        ("numpy Bernstein", partial(numpy_bernstein, 8, P[:100_000]), 100_000, 1e-12, 100),
        ("memory triad", triad, MANY, np.inf, None),
    ],
    "gap, by pass rate of 1e6: table, G = 1024": [
        ("reweight", partial(table_lookup, TABLE, P, 1 - P), MANY, 2e-14, None),
        ("sum from the mode", partial(bernstein, coefficients(1024), P[:20_000], 1 - P[:20_000]), 20_000, 1e-12, 100),
        ("scipy binom.pmf", partial(by_scipy, 1024, P[:200]), 200, 1e-9, 30_000),
    ],
    "gap at p = .01, G = 8, to 1e-3": [
        ("reweight", partial(gap, 0.01, 8, ADVANTAGE), 1, 1e-12, None),
        ("Monte Carlo, 1.2e7 groups for 1e-3", partial(sampled, 8, 0.01, 12_000_000), 1, 0.01, None),
    ],
}
CASES = [(group, *row) for group, rows in ROWS.items() for row in rows]


@pytest.mark.parametrize(("group", "way", "function", "units", "allowed", "target"), CASES, ids=lambda v: str(v)[:24])
def bench_gap(
    benchmark: Any,
    group: str,
    way: str,
    function: Callable[[], Floats],
    units: int,
    allowed: float,
    target: float | None,
) -> None:
    benchmark.group = group
    found = np.atleast_1d(benchmark.pedantic(function, rounds=5, iterations=1, warmup_rounds=1))[:200]
    size = 1024 if "1024" in group else 8
    wanted = np.array([float(gap(p, size, ADVANTAGE)) for p in ([0.01] if "p = .01" in group else P[: len(found)])])
    error = float(np.max(np.abs(found / wanted - 1)))
    benchmark.extra_info.update(way=way, error=min(error, 1e9), target=target, units=units)
    assert error <= allowed


@pytest.mark.benchmark(group="growth")
def bench_growth_of_table_in_group_size(benchmark: Any) -> None:
    tables = {size: gap_table(coefficients(size)) for size in (64, 256, 1024, 4096)}
    rates = P[:200_000]
    growth.record(
        benchmark, "gap table", "G", lambda size: partial(table_lookup, tables[size], rates, 1 - rates), list(tables), 0
    )


@pytest.mark.benchmark(group="growth")
def bench_growth_of_sum_in_group_size(benchmark: Any) -> None:
    rates = P[:5000]
    growth.record(
        benchmark,
        "sum from the mode",
        "G",
        lambda size: partial(bernstein, coefficients(size), rates, 1 - rates),
        [64, 256, 1024, 4096],
        0.5,
    )
