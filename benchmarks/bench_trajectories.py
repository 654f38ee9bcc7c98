"""A million prompts through a thousand tilts: step by step, and by the flow map."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import comb, exp
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks import growth
from benchmarks.threads import threads
from reweight.kernels.flow_map import FlowMap, flow_map
from reweight.kernels.gap_polynomial import even_coefficients, even_polynomial_twin
from reweight.kernels.lumped_tilt import lumped_tilt

Floats = NDArray[np.float64]
ETA, STEPS = 0.05, 1000
PROMPTS = np.random.default_rng(0).normal(-2, 2, 1_000_000)
SOME, FEW = PROMPTS[:100_000], PROMPTS[:500]
LOW, HIGH = float(PROMPTS.min()), float(PROMPTS.max())


def coefficients(size: int) -> Floats:
    j = np.arange(size - 1)
    return np.asarray((size - 1) / np.sqrt((j + 1) * (size - 1 - j)))


def numpy_polynomial(size: int, theta: Floats, steps: int) -> Floats:
    """The fastest of the numpy forms: a polynomial in (q - p)^2."""
    even, theta = even_coefficients(coefficients(size)), theta.copy()
    for _ in range(steps):
        p = expit(theta)
        theta += ETA * even_polynomial_twin(even, p, 1 - p)
    return theta


def numpy_bernstein(size: int, theta: Floats, steps: int) -> Floats:
    terms, theta = [(j, comb(size - 2, j) * b) for j, b in enumerate(coefficients(size))], theta.copy()
    for _ in range(steps):
        p = expit(theta)
        theta += ETA * sum(b * p**j * (1 - p) ** (size - 2 - j) for j, b in terms)
    return theta


def plain_python(size: int, theta: Floats, steps: int) -> Floats:
    terms, end = [(j, comb(size - 2, j) * b) for j, b in enumerate(coefficients(size).tolist())], []
    for start in theta.tolist():
        odds = start
        for _ in range(steps):
            p = 1 / (1 + exp(-odds))
            odds += ETA * sum(b * p**j * (1 - p) ** (size - 2 - j) for j, b in terms)
        end.append(odds)
    return np.array(end)


def mapped(size: int, steps: int = STEPS, theta: Floats = PROMPTS, tolerance: float = 1e-11) -> Floats:
    """The flow map made and used."""
    return made(size, steps, tolerance)(theta)


def made(size: int, steps: int = STEPS, tolerance: float = 1e-11) -> FlowMap:
    return flow_map(LOW, HIGH, steps, ETA, coefficients(size), tolerance=tolerance)


# group -> (way, function, steps of it, prompts times steps a call, least ratio that is aimed at)
ROWS: dict[str, list[tuple[str, Callable[[], Floats], int, int, float | None]]] = {
    "tilts, by prompt and step, G = 8": [
        ("reweight", partial(lumped_tilt, SOME, 200, ETA, coefficients(8)), 200, SOME.size * 200, None),
        ("numpy polynomial", partial(numpy_polynomial, 8, SOME, 20), 20, SOME.size * 20, 25),
        ("numpy Bernstein", partial(numpy_bernstein, 8, SOME, 5), 5, SOME.size * 5, None),
        ("plain Python", partial(plain_python, 8, FEW, 20), 20, FEW.size * 20, None),
    ],
    "1e6 prompts x 1000 tilts, by prompt and step, G = 8": [
        ("reweight", partial(mapped, 8), STEPS, PROMPTS.size * STEPS, None),
        ("numpy polynomial", partial(numpy_polynomial, 8, PROMPTS, 5), 5, PROMPTS.size * 5, 500),
        ("step by step", partial(lumped_tilt, SOME, STEPS, ETA, coefficients(8)), STEPS, SOME.size * STEPS, None),
    ],
    "1e6 prompts x 1000 tilts, by prompt and step, G = 1024": [
        ("reweight", partial(mapped, 1024, tolerance=1e-10), STEPS, PROMPTS.size * STEPS, None),
        ("step by step", partial(lumped_tilt, SOME, 100, ETA, coefficients(1024)), 100, SOME.size * 100, None),
    ],
}
CASES = [(group, *row) for group, rows in ROWS.items() for row in rows]


@pytest.mark.parametrize(("group", "way", "function", "steps", "units", "target"), CASES, ids=lambda v: str(v)[:24])
def bench_trajectories(
    benchmark: Any, group: str, way: str, function: Callable[[], Floats], steps: int, units: int, target: float | None
) -> None:
    benchmark.group = group
    found = benchmark.pedantic(function, rounds=5, iterations=1, warmup_rounds=1)[: FEW.size]
    size = 1024 if "1024" in group else 8
    error = float(np.abs(found - lumped_tilt(FEW, steps, ETA, coefficients(size))).max())
    if "1e6" in group and way == "reweight":
        assert error <= made(size, tolerance=1e-10).error_bound
    assert error <= 1e-10
    benchmark.extra_info.update(way=way, error=error, target=target, units=units)


@pytest.mark.benchmark(group="growth")
@pytest.mark.parametrize(
    ("kernel", "variable", "prepare", "sizes"),
    [
        (
            "tilts, G = 8",
            "P",
            lambda count: partial(lumped_tilt, PROMPTS[:count], 50, ETA, coefficients(8)),
            [20_000, 40_000, 80_000, 160_000],
        ),
        (
            "tilts, G = 8",
            "T",
            lambda steps: partial(lumped_tilt, PROMPTS[:20_000], steps, ETA, coefficients(8)),
            [50, 100, 200, 400],
        ),
        (
            "flow map used, G = 8",
            "P",
            lambda count: partial(made(8), PROMPTS[:count]),
            [100_000, 200_000, 400_000, 800_000],
        ),
        ("flow map made, G = 8", "T", lambda steps: partial(made, 8, steps), [200, 400, 800, 1600]),
    ],
)
def bench_growth(benchmark: Any, kernel: str, variable: str, prepare: growth.Prepare, sizes: list[int]) -> None:
    with threads(1):
        growth.record(benchmark, kernel, variable, prepare, sizes, 1)
