"""Distributions of pass rates with exact expectations, to simulate files whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class World:
    """Pass rates are drawn by `draw`; nodes and weights integrate polynomials of degree up to 399 exactly."""

    draw: Callable[[np.random.Generator, int], Floats]
    nodes: Floats
    weights: Floats

    def mean(self, function: Callable[[Floats], Floats]) -> float:
        return float(self.weights @ function(self.nodes))

    def counts(self, rng: np.random.Generator, prompts: int, n: int) -> NDArray[np.int64]:
        return rng.binomial(n, self.draw(rng, prompts))


def points(rates: list[float], weights: list[float]) -> World:
    return World(lambda rng, size: rng.choice(rates, size, p=weights), np.array(rates), np.array(weights))


def beta(a: float, b: float) -> World:
    from scipy.special import roots_jacobi

    nodes, weights = roots_jacobi(200, b - 1, a - 1)
    return World(lambda rng, size: rng.beta(a, b, size), (nodes + 1) / 2, weights / weights.sum())


def sparse() -> World:
    """Nine in ten prompts impossible, the others uniform up to .3."""
    uniform = beta(1, 1)
    return World(
        lambda rng, size: np.where(rng.random(size) < 0.9, 0.0, rng.uniform(0, 0.3, size)),
        np.append(0.0, 0.3 * uniform.nodes),
        np.append(0.9, 0.1 * uniform.weights),
    )


WORLDS = {
    "uniform": beta(1, 1),
    "u-shaped": beta(0.2, 0.2),
    "sparse": sparse(),
    "two points": points([0.05, 0.6], [0.3, 0.7]),
    "hardly ever": points([0.002], [1.0]),
    "nearly always": points([0.998], [1.0]),
}


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest) -> World:
    """Each world in turn."""
    return WORLDS[request.param]


@pytest.fixture
def worlds() -> dict[str, World]:
    return WORLDS


@pytest.fixture
def acceptable() -> Callable[[int, int, float], bool]:
    """Whether the one-sided 99.9 % upper limit of the coverage includes the level."""
    from scipy.special import bdtr

    return lambda covered, repeats, level: bool(bdtr(covered, repeats, level) >= 0.001)
