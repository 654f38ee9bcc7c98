"""Kernels of whole runs: a softmax over millions of answers, a tree, the law of a sampled run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks import growth
from reweight.kernels.sampled_law import sampled_law, sampled_law_twin
from reweight.kernels.softmax_step import LevelSoftmax, softmax_step_twin
from reweight.kernels.tree_step import tree_step, tree_step_twin

Floats = NDArray[np.float64]
RNG = np.random.default_rng(0)
ANSWERS = 5_000_000
WEIGHTS = RNG.random(ANSWERS)
POLICY = LevelSoftmax(np.array_split(WEIGHTS, 5))
LEVELS = np.array([1.0, 0.5, 0.1, -0.4, -1.0])
EACH = np.repeat(LEVELS, [row.size for row in POLICY.levels])
LOG_PROBS = np.log(WEIGHTS / WEIGHTS.sum())
TREE = [RNG.normal(size=(4, 4**d)) for d in range(9)]
LEAVES = (RNG.random(4**9) < 0.1).astype(float)
INCREMENTS = 0.1 * 2 * np.sqrt(np.arange(1, 5) * (8 - np.arange(1, 5))) / 8


def scaled_in_place() -> Floats:
    WEIGHTS.__imul__(1.0)
    return WEIGHTS


def softmax_step() -> Floats:
    POLICY.policy_gradient(LEVELS, 0.1)
    return POLICY.masses


def a_tree_step() -> Floats:
    return np.array([tree_step(TREE, LEAVES, 0.1, lambda p: 1.0)])


EDGES = sum(z.size for z in TREE)
# group -> (way, function, results a call, least ratio that is aimed at)
ROWS: dict[str, list[tuple[str, Callable[[], Any], float, float | None]]] = {
    "policy gradient, by answer of 5e6": [
        ("reweight", softmax_step, ANSWERS, None),
        ("in-place scale", scaled_in_place, ANSWERS, None),
        ("numpy", partial(softmax_step_twin, LOG_PROBS, EACH, 0.1), ANSWERS, 30),
    ],
    "tree step, by edge: 4 children, depth 9": [
        ("reweight", a_tree_step, EDGES, None),
        ("numpy", partial(tree_step_twin, TREE, LEAVES, 0.1, lambda p: 1.0), EDGES, 12),
    ],
    "law of a sampled run, by state and step: G = 8, T = 40": [
        ("reweight", partial(sampled_law, -2.0, 40, INCREMENTS, 8), 135_751 * 40, None),
        ("dictionary of states, T = 8", partial(sampled_law_twin, -2.0, 8, INCREMENTS, 8), 495 * 8, 300),
    ],
}
CASES = [(group, *row) for group, rows in ROWS.items() for row in rows]


@pytest.mark.parametrize(("group", "way", "function", "units", "target"), CASES, ids=lambda v: str(v)[:24])
def bench_run(
    benchmark: Any, group: str, way: str, function: Callable[[], Any], units: float, target: float | None
) -> None:
    benchmark.group = group
    benchmark.pedantic(function, rounds=5, iterations=1, warmup_rounds=1)
    benchmark.extra_info.update(way=way, error=0.0, target=target, units=units)


@pytest.mark.benchmark(group="growth")
def bench_growth_of_softmax_step_in_answers(benchmark: Any) -> None:
    made = {n: LevelSoftmax(np.array_split(WEIGHTS[:n], 5)) for n in (500_000, 1_000_000, 2_000_000, 4_000_000)}
    growth.record(benchmark, "softmax step", "N", lambda n: lambda: made[n].policy_gradient(LEVELS, 0.1), list(made), 1)


@pytest.mark.benchmark(group="growth")
def bench_growth_of_sampled_law_in_steps(benchmark: Any) -> None:
    growth.record(
        benchmark,
        "sampled law, G = 4",
        "T",
        lambda steps: partial(sampled_law, -2.0, steps, INCREMENTS[:2], 4),
        [50, 100, 200, 400],
        3,
    )
