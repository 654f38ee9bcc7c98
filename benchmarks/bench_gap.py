"""The gap at many pass rates, against what one writes first, the classical sums, and the memory's own speed.

One thread computes, so that a busy machine's wake-up calls are not measured; only what is held against the memory gets
all threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import comb
from typing import Any

import numpy as np
import pytest
from numba import get_num_threads
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks import growth
from benchmarks.threads import threads
from benchmarks.triad import triad
from reweight.groups.binary import binary_advantages, gap
from reweight.kernels.bernstein import bernstein
from reweight.kernels.gap_polynomial import even_coefficients, even_polynomial
from reweight.kernels.gap_table import gap_table, table_lookup
from reweight.objectives.advantage import Advantage

Floats = NDArray[np.float64]
ADVANTAGE = Advantage(ddof=1, eps=1e-4)
MANY, MOST = 1_000_000, 10_000_000
P = expit(np.random.default_rng(0).normal(-2, 2, MOST))
Q, OUT = 1 - P, np.zeros(MOST)
CHECKED = 30


def coefficients(size: int) -> Floats:
    right, wrong = binary_advantages(size, ADVANTAGE)
    found = right[1:] - wrong[:-1]
    return np.asarray((found + found[::-1]) / 2)


def plain_python(size: int, rates: Floats) -> Floats:
    """The sum over the number of successes among the others, one pass rate at a time."""
    values = coefficients(size).tolist()
    return np.array(
        [
            sum(comb(size - 1, k) * p**k * (1 - p) ** (size - 1 - k) * b for k, b in enumerate(values))
            for p in rates.tolist()
        ]
    )


def numpy_bernstein(size: int, rates: Floats) -> Floats:
    """One array pass a coefficient, the way one writes it in numpy."""
    values, q = coefficients(size), 1 - rates
    return np.asarray(sum(comb(size - 1, k) * b * rates**k * q ** (size - 1 - k) for k, b in enumerate(values)))


def by_scipy(size: int, rates: Floats) -> Floats:
    from scipy.stats import binom

    return np.asarray(binom.pmf(np.arange(size)[:, None], size - 1, rates[None, :]).T @ coefficients(size))


@cache
def certified(size: int) -> Floats:
    """The first few gaps, enclosed in balls."""
    return np.array([float(ball) for ball in gap(P[:CHECKED], size, ADVANTAGE, precision="ball", radius=1e-16)])


EVEN, TABLE = even_coefficients(coefficients(8)), gap_table(coefficients(1024))
# group -> (way, function, results a call, largest error or None where it is no gap, least ratio that is aimed at)
ROWS: dict[str, list[tuple[str, Callable[[], Floats], int, float | None, float | None]]] = {
    "gap of 1e3 pass rates, G = 8": [
        ("reweight", partial(gap, P[:1000], 8, ADVANTAGE), 1, 1e-12, None),
        ("plain Python", partial(plain_python, 8, P[:1000]), 1, 1e-12, 10),
    ],
    "gap by polynomial, by pass rate of 1e6, G = 8": [
        ("reweight", partial(even_polynomial, EVEN, P[:MANY], Q[:MANY], out=OUT[:MANY]), MANY, 2e-14, None),
        ("public gap()", partial(gap, P[:MANY], 8, ADVANTAGE), MANY, 2e-14, None),
        ("numpy Bernstein", partial(numpy_bernstein, 8, P[:100_000]), 100_000, 1e-12, None),
    ],
    "gap by polynomial, by pass rate of 1e7, G = 8": [
        ("reweight", partial(even_polynomial, EVEN, P, Q, out=OUT), MOST, 2e-14, None),
        ("memory triad", partial(triad, P, Q, OUT), MOST, None, 0.8),
    ],
    "gap by table, by pass rate of 1e6, G = 1024": [
        ("reweight", partial(table_lookup, TABLE, P[:MANY], Q[:MANY], out=OUT[:MANY]), MANY, 2e-14, None),
        ("public gap()", partial(gap, P[:MANY], 1024, ADVANTAGE), MANY, 2e-14, None),
        ("our sum from the mode", partial(bernstein, coefficients(1024), P[:50_000], Q[:50_000]), 50_000, 1e-12, 100),
        ("scipy binom.pmf", partial(by_scipy, 1024, P[:200]), 200, 1e-9, 30_000),
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
    allowed: float | None,
    target: float | None,
) -> None:
    benchmark.group = group
    with threads(get_num_threads() if "1e7" in group else 1):
        found = benchmark.pedantic(function, rounds=7, iterations=1, warmup_rounds=1)[:CHECKED]
    error = 0.0
    if allowed is not None:
        size = 1024 if "1024" in group else 8
        error = float(np.max(np.abs(found / certified(size) - 1)))
        assert error <= allowed
    benchmark.extra_info.update(way=way, error=error, target=target, units=units)


@pytest.mark.benchmark(group="growth")
def bench_growth_of_table_in_group_size(benchmark: Any) -> None:
    tables = {size: gap_table(coefficients(size)) for size in (64, 256, 1024, 4096)}
    with threads(1):
        growth.record(
            benchmark,
            "gap table",
            "G",
            lambda size: partial(table_lookup, tables[size], P[:MANY], Q[:MANY], out=OUT[:MANY]),
            list(tables),
            0,
        )


@pytest.mark.benchmark(group="growth")
def bench_growth_of_sum_in_group_size(benchmark: Any) -> None:
    """Of pass rates near 1/2, for which the window is widest."""
    rates = np.linspace(0.3, 0.7, 20_000)
    with threads(1):
        growth.record(
            benchmark,
            "sum from the mode",
            "G",
            lambda size: partial(bernstein, coefficients(size), rates, 1 - rates),
            [64, 256, 1024, 4096],
            0.5,
        )


@pytest.mark.benchmark(group="growth")
def bench_growth_of_table_in_prompts(benchmark: Any) -> None:
    with threads(1):
        growth.record(
            benchmark,
            "gap table",
            "P",
            lambda count: partial(table_lookup, TABLE, P[:count], Q[:count], out=OUT[:count]),
            [500_000, 1_000_000, 2_000_000, 4_000_000],
            1,
        )
