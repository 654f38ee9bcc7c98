"""Exact group expectations against what one would write first: plain Python sums, and sampling."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import comb, prod, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reweight.groups.binary import gap
from reweight.groups.weights import group_weights
from reweight.objectives.advantage import Advantage

Floats = NDArray[np.float64]

REWARDS = [1.0, 0.5, 0.0, 0.0]
PROBABILITIES = [0.1, 0.2, 0.3, 0.4]
WEIGHTS_GROUP = 6
GAP_GROUP = 8
PASS_RATES = np.linspace(0.05, 0.95, 1000)
WEIGHTS_DRAWS = 100_000
GAP_DRAWS = 1000  # for each pass rate


def exact_weights() -> Floats:
    return group_weights(REWARDS, PROBABILITIES, WEIGHTS_GROUP, Advantage())


def enumerated_weights() -> Floats:
    """Every group of answers, one at a time: N^G of them."""
    totals = [0.0] * len(REWARDS)
    for group in product(range(len(REWARDS)), repeat=WEIGHTS_GROUP):
        rewards = [REWARDS[answer] for answer in group]
        if min(rewards) < max(rewards):
            mean = sum(rewards) / WEIGHTS_GROUP
            spread = sqrt(sum((reward - mean) ** 2 for reward in rewards) / WEIGHTS_GROUP)
            others = prod(PROBABILITIES[answer] for answer in group[1:])
            totals[group[0]] += others * (rewards[0] - mean) / spread
    return np.array(totals)


def sampled_weights() -> Floats:
    """Mean advantage of each answer over drawn groups, all members used."""
    answers = np.random.default_rng(0).choice(len(REWARDS), (WEIGHTS_DRAWS, WEIGHTS_GROUP), p=PROBABILITIES)
    rewards = np.array(REWARDS)[answers]
    centred = rewards - rewards.mean(axis=1, keepdims=True)
    spread = rewards.std(axis=1, keepdims=True)
    drawn = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 1e-9)
    counts = np.bincount(answers.ravel(), minlength=len(REWARDS))
    return np.bincount(answers.ravel(), weights=drawn.ravel(), minlength=len(REWARDS)) / counts


def exact_gap() -> Floats:
    return np.asarray(gap(PASS_RATES, GAP_GROUP))


def summed_gap() -> Floats:
    """The sum over the number of successes among the others, in plain Python, one pass rate at a time."""
    size = GAP_GROUP
    return np.array(
        [
            (size - 1)
            / size
            * sum(
                comb(size - 2, k) * p**k * (1 - p) ** (size - 2 - k) * size / sqrt((k + 1) * (size - 1 - k))
                for k in range(size - 1)
            )
            for p in PASS_RATES.tolist()
        ]
    )


def sampled_gap() -> Floats:
    """Mean advantage of the right members minus that of the wrong ones, over drawn groups."""
    rng = np.random.default_rng(0)
    gaps = []
    for p in PASS_RATES:
        rewards = (rng.random((GAP_DRAWS, GAP_GROUP)) < p).astype(np.float64)
        centred = rewards - rewards.mean(axis=1, keepdims=True)
        spread = rewards.std(axis=1, keepdims=True)
        drawn = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 1e-9)
        gaps.append(
            (drawn * rewards).sum() / (rewards.size * p) - (drawn * (1 - rewards)).sum() / (rewards.size * (1 - p))
        )
    return np.array(gaps)


# way -> function, largest error allowed, least ratio of its time to ours that is aimed at
WEIGHTS: dict[str, tuple[Callable[[], Floats], float, float | None]] = {
    "reweight": (exact_weights, 1e-12, None),
    "plain Python, all groups": (enumerated_weights, 1e-12, 10),
    "Monte Carlo, 1e5 groups": (sampled_weights, 0.05, 50),
}
GAPS: dict[str, tuple[Callable[[], Floats], float, float | None]] = {
    "reweight": (exact_gap, 1e-12, None),
    "plain Python, all counts": (summed_gap, 1e-12, 10),
    "Monte Carlo, 1e3 groups a pass rate": (sampled_gap, 0.5, 100),
}


@pytest.mark.parametrize("way", WEIGHTS)
@pytest.mark.benchmark(group="group_weights: 4 answers, 3 reward levels, G = 6")
def bench_weights(benchmark: Any, way: str) -> None:
    function, allowed, target = WEIGHTS[way]
    error = float(np.max(np.abs(benchmark(function) - enumerated_weights())))
    benchmark.extra_info.update(way=way, error=error, target=target)
    assert error <= allowed


@pytest.mark.parametrize("way", GAPS)
@pytest.mark.benchmark(group="gap: 1000 pass rates, G = 8")
def bench_gap(benchmark: Any, way: str) -> None:
    function, allowed, target = GAPS[way]
    error = float(np.max(np.abs(benchmark(function) - summed_gap())))
    benchmark.extra_info.update(way=way, error=error, target=target)
    assert error <= allowed
