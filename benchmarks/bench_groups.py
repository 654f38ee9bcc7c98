"""Expected weights of one group: against plain sums, sampling, and the ways that grow with the group."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from math import prod, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks import growth
from reweight.groups.pair_form import pair_weights
from reweight.groups.weights import group_weights, weigh
from reweight.objectives.advantage import Advantage

Floats = NDArray[np.float64]
ADVANTAGE = Advantage(ddof=1, eps=1e-4)
REWARDS, PROBABILITIES, SIZE, DRAWS = [1.0, 0.5, 0.0, 0.0], [0.1, 0.2, 0.3, 0.4], 6, 100_000
FIVE = np.arange(5.0) / 4


def policies(count: int, levels: int = 5) -> Floats:
    return np.random.default_rng(0).dirichlet(np.full(levels, 3.0), count)


def exact_weights() -> Floats:
    return group_weights(REWARDS, PROBABILITIES, SIZE, Advantage())


def enumerated_weights() -> Floats:
    """Every group of answers, one at a time: N^G of them."""
    totals = [0.0] * len(REWARDS)
    for group in product(range(len(REWARDS)), repeat=SIZE):
        rewards = [REWARDS[answer] for answer in group]
        if min(rewards) < max(rewards):
            mean = sum(rewards) / SIZE
            spread = sqrt(sum((reward - mean) ** 2 for reward in rewards) / SIZE)
            totals[group[0]] += prod(PROBABILITIES[answer] for answer in group[1:]) * (rewards[0] - mean) / spread
    return np.array(totals)


def sampled_weights() -> Floats:
    """Mean advantage of each answer over drawn groups, all members used."""
    answers = np.random.default_rng(0).choice(len(REWARDS), (DRAWS, SIZE), p=PROBABILITIES)
    rewards = np.array(REWARDS)[answers]
    centred = rewards - rewards.mean(axis=1, keepdims=True)
    spread = rewards.std(axis=1, keepdims=True)
    drawn = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 1e-9)
    counts = np.bincount(answers.ravel(), minlength=len(REWARDS))
    return np.bincount(answers.ravel(), weights=drawn.ravel(), minlength=len(REWARDS)) / counts


def one_by_one(masses: Floats, size: int) -> Floats:
    """Each policy by its own composition sum, the loop that one writes before batching."""
    return np.array([weigh(FIVE, row, size, ADVANTAGE, method="composition").weights for row in masses])


def by_torch(row: Floats, size: int) -> Floats:
    """All L^G groups as one tensor, weighted by their probability."""
    torch = pytest.importorskip("torch")
    grid = torch.cartesian_prod(*[torch.arange(len(FIVE))] * size)
    rewards = torch.tensor(FIVE)[grid]
    values = (rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)
    mass = torch.tensor(row)[grid[:, 1:]].prod(1)
    return np.asarray(torch.zeros(len(FIVE), dtype=torch.float64).index_add(0, grid[:, 0], values[:, 0] * mass))


BATCH, SOME = policies(4096), policies(16)
# group -> (way, function, results a call, largest error, least ratio that is aimed at)
ROWS: dict[str, list[tuple[str, Callable[[], Floats], int, float, float | None]]] = {
    "weights of one policy: 4 answers, 3 levels, G = 6": [
        ("reweight", exact_weights, 1, 1e-12, None),
        ("plain Python, all groups", enumerated_weights, 1, 1e-12, 10),
        ("Monte Carlo, 1e5 groups", sampled_weights, 1, 0.05, 50),
    ],
    "weights of a batch, by policy: 5 levels, G = 8": [
        ("reweight", partial(pair_weights, FIVE, BATCH, 8, ADVANTAGE), len(BATCH), 5e-15, None),
        ("composition sum, one by one", partial(one_by_one, SOME, 8), len(SOME), 1e-12, 25),
        ("torch, all groups", partial(by_torch, SOME[0], 8), 1, 1e-9, 5e5),
    ],
    "weights of a batch, by policy: 5 levels, G = 128": [
        (
            "reweight",
            lambda: weigh(FIVE, BATCH[:256], 128, ADVANTAGE, method="quadrature").weights,
            256,
            2e-13,
            None,
        ),
        ("lattice", lambda: weigh(FIVE, SOME[0], 128, ADVANTAGE, method="lattice").weights, 1, 1e-12, 1500),
    ],
}
CASES = [(group, *row) for group, rows in ROWS.items() for row in rows]


@pytest.mark.parametrize(("group", "way", "function", "units", "allowed", "target"), CASES, ids=lambda v: str(v)[:24])
def bench_weights(
    benchmark: Any,
    group: str,
    way: str,
    function: Callable[[], Floats],
    units: int,
    allowed: float,
    target: float | None,
) -> None:
    benchmark.group = group
    slow = "torch" in way or way == "lattice"
    found = benchmark.pedantic(function, rounds=2 if slow else 7, iterations=1, warmup_rounds=0 if slow else 1)
    error = float(np.max(np.abs(np.atleast_2d(found)[0] - np.atleast_2d(reference(group))[0])))
    benchmark.extra_info.update(way=way, error=error, target=target, units=units)
    assert error <= allowed


def reference(group: str) -> Floats:
    """What the first row of a group should be, by another method than ours."""
    if "one policy" in group:
        return enumerated_weights()
    if "G = 8" in group:
        return weigh(FIVE, BATCH[0], 8, ADVANTAGE, method="quadrature").weights
    return weigh(FIVE, BATCH[0], 128, ADVANTAGE, method="lattice").weights


@pytest.mark.benchmark(group="growth")
def bench_growth_of_quadrature_in_group_size(benchmark: Any) -> None:
    masses = policies(64)
    growth.record(
        benchmark,
        "quadrature, 5 levels",
        "G",
        lambda size: lambda: weigh(FIVE, masses, size, ADVANTAGE, method="quadrature"),
        [16, 32, 64, 128, 256],
        0.5,
    )


@pytest.mark.benchmark(group="growth")
def bench_growth_of_quadrature_in_levels(benchmark: Any) -> None:
    growth.record(
        benchmark,
        "quadrature, G = 32",
        "L",
        lambda levels: (
            lambda: weigh(np.arange(float(levels)), policies(1, levels)[0], 32, ADVANTAGE, method="quadrature")
        ),
        [17, 24, 34, 48],
        2,
    )


@pytest.mark.benchmark(group="growth")
def bench_growth_of_pairs_in_policies(benchmark: Any) -> None:
    growth.record(
        benchmark,
        "pairs, 5 levels, G = 8",
        "B",
        lambda count: partial(pair_weights, FIVE, policies(count), 8, ADVANTAGE),
        [512, 1024, 2048, 4096],
        1,
    )
