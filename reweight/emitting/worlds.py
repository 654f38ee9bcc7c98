"""Worlds of prompts whose pass rates are known, to see whether an analysis finds the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["WORLDS", "World"]

Floats = NDArray[np.float64]
NODES = 200
"""Of a quadrature that is exact for polynomials of degree up to 2 NODES - 1."""


@dataclass(frozen=True, eq=False)
class World:
    """A distribution of pass rates: point masses and Beta distributions on parts of [0, 1].

    Parameters
    ----------
    about : str
        In words.
    parts : tuple of (float, float, float, float, float)
        Weight, first and last pass rate, and the two parameters of a Beta distribution between them.

    Examples
    --------
    >>> world = WORLDS["sparse"]
    >>> round(world.mean(lambda p: p), 12)
    0.015
    >>> world.draw(np.random.default_rng(0), 5).shape
    (5,)
    """

    about: str
    parts: tuple[tuple[float, float, float, float, float], ...]

    def draw(self, rng: np.random.Generator, prompts: int) -> Floats:
        """Pass rates of some prompts, shape (P,)."""
        weights = [part[0] for part in self.parts]
        chosen = rng.choice(len(self.parts), prompts, p=weights)
        rates = np.empty(prompts)
        for i, (_, first, last, a, b) in enumerate(self.parts):
            here = chosen == i
            rates[here] = first + (last - first) * rng.beta(a, b, int(here.sum()))
        return rates

    def counts(self, rng: np.random.Generator, prompts: int, samples: int) -> NDArray[np.int64]:
        """Correct samples of each prompt, of `samples` each, shape (P,)."""
        return rng.binomial(samples, self.draw(rng, prompts))

    @cached_property
    def nodes(self) -> Floats:
        """Pass rates (M,) that stand for the distribution, with `weights`."""
        return np.concatenate([nodes for nodes, _ in self._quadratures])

    @cached_property
    def weights(self) -> Floats:
        """Probabilities (M,) of the nodes."""
        return np.concatenate([weights for _, weights in self._quadratures])

    def mean(self, function: Callable[[Floats], Floats]) -> float:
        """Expectation of a function of the pass rates (M,); exact for polynomials of degree up to 399."""
        return float(self.weights @ function(self.nodes))

    @cached_property
    def _quadratures(self) -> list[tuple[Floats, Floats]]:
        found = []
        for weight, first, last, a, b in self.parts:
            if first == last:
                found.append((np.array([first]), np.array([weight])))
                continue
            nodes, masses = _of_beta(a, b)
            found.append((first + (last - first) * nodes, weight * masses))
        return found


def _of_beta(a: float, b: float) -> tuple[Floats, Floats]:
    """Nodes in [0, 1] and weights of a Gauss quadrature of Beta(a, b), by Golub and Welsch.

    scipy.special.roots_jacobi has an error of 1e-10 at 200 nodes of a U shape; eigenvectors have one of 1e-15.
    """
    from scipy.linalg import eigh_tridiagonal

    total = a + b
    k = np.arange(1, NODES)
    span = 2 * k + total - 2
    diagonal = np.concatenate([[(a - b) / total], (a - b) * (total - 2) / (span * (span + 2))])
    squares = np.empty(NODES - 1)
    squares[0] = 4 * a * b / (total**2 * (total + 1))  # where the general term is 0/0 for total = 1
    k, span = k[1:], span[1:]
    squares[1:] = 4 * k * (k + b - 1) * (k + a - 1) * (k + total - 2) / (span**2 * (span + 1) * (span - 1))
    places, vectors = eigh_tridiagonal(diagonal, np.sqrt(squares))
    return (places + 1) / 2, vectors[0] ** 2


def _point(weight: float, rate: float) -> tuple[float, float, float, float, float]:
    return weight, rate, rate, 1.0, 1.0


WORLDS = {
    "uniform": World("pass rates uniform from 0 to 1", ((1.0, 0.0, 1.0, 1.0, 1.0),)),
    "u-shaped": World("Beta(.2, .2): most prompts nearly always or hardly ever solved", ((1.0, 0.0, 1.0, 0.2, 0.2),)),
    "sparse": World(
        "nine in ten prompts impossible, the others uniform up to .3", (_point(0.9, 0.0), (0.1, 0.0, 0.3, 1.0, 1.0))
    ),
    "two-point": World("three in ten prompts at .05, the others at .6", (_point(0.3, 0.05), _point(0.7, 0.6))),
    "hardly-ever": World("all prompts at .002", (_point(1.0, 0.002),)),
    "nearly-always": World("all prompts at .998", (_point(1.0, 0.998),)),
}
"""By the name that `reweight simulate --world` takes."""
