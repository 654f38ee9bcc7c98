"""What sampling costs for the precision that one asks of it: the signal p w(1), exact and by drawing groups."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.group_sampler import groups_needed, sampled_signal
from benchmarks.threads import threads
from reweight.groups.binary import binary_advantages
from reweight.groups.binomial import binomial_probabilities
from reweight.kernels.bernstein import bernstein
from reweight.objectives.advantage import Advantage

Floats = NDArray[np.float64]
TOLERANCE, MANY = 1e-3, 200_000
# group size, pass rate, least ratio that is aimed at
CASES = [(8, 0.5, None), (8, 0.01, 1e6), (64, 0.01, None), (1024, 0.01, None)]


def signal(size: int) -> Floats:
    """The sum of the right members' advantages over G, by how many they are; its mean is p w(1)."""
    right, _ = binary_advantages(size, Advantage(ddof=1, eps=1e-4))
    return np.asarray(np.arange(size + 1) * right / size)


def law(size: int, rate: float) -> Floats:
    return binomial_probabilities(size, np.array(rate), np.array(1 - rate))


def exact(size: int, rate: float) -> Floats:
    rates = np.full(MANY, rate)
    return bernstein(signal(size), rates, 1 - rates)


def numpy_groups(size: int, rate: float, groups: int) -> float:
    return float(signal(size)[np.random.default_rng(0).binomial(size, rate, groups)].mean())


@pytest.mark.parametrize("way", ["reweight", "compiled sampler", "numpy sampler"])
@pytest.mark.parametrize(("size", "rate", "target"), CASES)
def bench_monte_carlo(benchmark: Any, size: int, rate: float, target: float | None, way: str) -> None:
    benchmark.group = f"signal at p = {rate:g}, G = {size}, sampled to {TOLERANCE:g}"
    needed = groups_needed(law(size, rate), signal(size), TOLERANCE)
    drawn = min(needed, 2_000_000)  # a call draws a part of what is needed and counts as that part of a result
    ways: dict[str, tuple[Callable[[], Any], float, float | None]] = {
        "reweight": (partial(exact, size, rate), MANY, None),
        "compiled sampler": (partial(sampled_signal, law(size, rate), signal(size), drawn), drawn / needed, target),
        "numpy sampler": (partial(numpy_groups, size, rate, drawn), drawn / needed, target),
    }
    function, units, aim = ways[way]
    with threads(1):
        found = benchmark.pedantic(function, rounds=5, iterations=1, warmup_rounds=1)
    truth = law(size, rate) @ signal(size)
    error = float(np.abs(np.asarray(found) / truth - 1).max())
    assert error <= (1e-13 if way == "reweight" else 6 * TOLERANCE / np.sqrt(drawn / needed))
    benchmark.extra_info.update(way=way, error=error, target=aim, units=units)
