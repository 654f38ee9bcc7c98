"""How the time of a kernel grows with a size: the slope of log(least time) over several sizes of one run.

A bench function asks for a row of the second table that `make bench` prints (`from benchmarks import growth`):

    @pytest.mark.benchmark(group="growth")
    def bench_growth_in_group_size(benchmark: Any) -> None:
        growth.record(benchmark, "gap table", "G", lambda size: partial(kernel, p, size), [64, 128, 256, 512], 0)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

__all__ = ["TOLERANCE", "fit", "least_times", "record"]

TOLERANCE = 0.15
"""A measured exponent may exceed the required one by this much."""

FEWEST_SIZES, ROUNDS, SHORTEST = 4, 7, 2e-3

Prepare = Callable[[int], Callable[[], object]]


def least_times(function_by_size: Prepare, sizes: Sequence[int]) -> list[float]:
    """Least time of one call at each size, in seconds; the sizes take turns, so that a noisy spell hits them all."""
    calls = [function_by_size(size) for size in sizes]
    for call in calls:
        call()  # compiles, fills caches
    repeats = [_repeats(call) for call in calls]
    rounds = [[_timed(call, n) for call, n in zip(calls, repeats, strict=True)] for _ in range(ROUNDS)]
    return [min(column) for column in zip(*rounds, strict=True)]


def fit(function_by_size: Prepare, sizes: Sequence[int]) -> float:
    """Exponent b of time ~ size^b; `function_by_size(size)` prepares the input and returns the call to be timed."""
    if len(sizes) < FEWEST_SIZES:
        raise ValueError(f"an exponent needs at least {FEWEST_SIZES} sizes, got {len(sizes)}")
    slope, _ = np.polyfit(np.log(sizes), np.log(least_times(function_by_size, sizes)), 1)
    return float(slope)


def record(
    benchmark: Any, kernel: str, variable: str, function_by_size: Prepare, sizes: Sequence[int], required: float
) -> None:
    """Fit the exponent and leave it for `ratios.py`; the benchmark itself times the largest size."""
    measured = fit(function_by_size, sizes)
    benchmark.pedantic(function_by_size(sizes[-1]), rounds=3, warmup_rounds=1)
    benchmark.extra_info["growth"] = {
        "kernel": kernel,
        "variable": variable,
        "sizes": list(sizes),
        "required": required,
        "measured": measured,
    }


def _timed(call: Callable[[], object], repeats: int) -> float:
    start = perf_counter()
    for _ in range(repeats):
        call()
    return (perf_counter() - start) / repeats


def _repeats(call: Callable[[], object]) -> int:
    """How many calls last long enough for the clock."""
    return max(1, int(SHORTEST / max(_timed(call, 1), 1e-9)))
