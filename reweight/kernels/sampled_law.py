"""The exact law of a sampled run with two answers: all paths, merged where they have met the same kinds of groups.

A group with K correct of G moves the log-odds by an amount that depends on K (G - K) alone, and one that is all alike
does not move it. So the state after T groups is how often each of m = floor(G / 2) kinds occurred: C(T + m, m) states
instead of (G + 1)^T paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from scipy.special import expit, gammaln

from reweight.checks import Floats
from reweight.errors import InputError

__all__ = ["SampledLaw", "sampled_law", "sampled_law_twin"]

MOST_STATES = 5_000_000


@dataclass(frozen=True, eq=False)
class SampledLaw:
    """The distribution of the log-odds after some groups.

    Attributes
    ----------
    counts : ndarray of int, shape (S, m)
        How often groups with min(K, G - K) = 1..m occurred.
    log_odds, masses : ndarray, shape (S,)
        Log-odds of each state, in nats, and its probability.
    """

    counts: np.ndarray
    log_odds: Floats
    masses: Floats

    @property
    def mean_pass_rate(self) -> float:
        """Expected pass rate."""
        return float(self.masses @ expit(self.log_odds))


def sampled_law(log_odds: float, steps: int, increments: Floats, group_size: int) -> SampledLaw:
    """Compute the law after `steps` groups, compiled.

    Parameters
    ----------
    log_odds : float
        At the start, in nats.
    steps : int
        Number of groups T, one update each.
    increments : ndarray, shape (m,)
        What a group with min(K, G - K) = 1..m adds to the log-odds; m = floor(G / 2).
    group_size : int

    Raises
    ------
    InputError
        If the increments are not m numbers, or there are more than 5e6 states.

    Notes
    -----
    Source: map S-PG; R05.

    Examples
    --------
    >>> law = sampled_law(0.0, 1, np.array([1.0]), 2)
    >>> law.log_odds, law.masses
    (array([0., 1.]), array([0.5, 0.5]))
    """
    from reweight.kernels.compiled.sampled_law import gather

    counts, theta, stay, move, predecessor = _states(log_odds, steps, increments, group_size)
    m = len(increments)
    before, after = np.zeros(len(theta)), np.zeros(len(theta))
    before[0] = 1.0
    for step in range(1, steps + 1):
        gather(comb(step + m, m), before, after, stay, move, predecessor)
        before, after = after, before
    return SampledLaw(counts, theta, before)


def sampled_law_twin(log_odds: float, steps: int, increments: Floats, group_size: int) -> SampledLaw:
    """Compute what :func:`sampled_law` does, with a dictionary of states."""
    m = len(increments)
    law = {(0,) * m: 1.0}
    for _ in range(steps):
        later: dict[tuple[int, ...], float] = {}
        for state, mass in law.items():
            stay, move = _chances(np.array([log_odds + np.dot(state, increments)]), group_size)
            later[state] = later.get(state, 0.0) + mass * float(stay[0])
            for j in range(m):
                moved = tuple(n + (k == j) for k, n in enumerate(state))
                later[moved] = later.get(moved, 0.0) + mass * float(move[0, j])
        law = later
    counts = np.array(list(law))
    return SampledLaw(counts, log_odds + counts @ increments, np.array(list(law.values())))


def _states(
    log_odds: float, steps: int, increments: Floats, group_size: int
) -> tuple[np.ndarray, Floats, Floats, Floats, np.ndarray]:
    """Return the states by increasing number of groups that moved, their log-odds, chances and predecessors."""
    m = group_size // 2
    if np.shape(increments) != (m,):
        raise InputError(f"increments of shape {np.shape(increments)} for groups of {group_size}: give {m} numbers")
    if comb(steps + m, m) > MOST_STATES:
        raise InputError(f"{comb(steps + m, m):.1e} states are above {MOST_STATES:.0e}: fewer steps or smaller groups")
    rows = np.zeros((1, 0), dtype=np.int64)
    for _ in range(m):
        room = steps - rows.sum(axis=1) + 1
        value = np.arange(room.sum()) - np.repeat(np.cumsum(room) - room, room)
        rows = np.column_stack([np.repeat(rows, room, axis=0), value])
    total = rows.sum(axis=1)
    base = (steps + 1) ** np.arange(m - 1, -1, -1)
    key = total * (steps + 1) ** m + rows @ base
    order = np.argsort(key)
    rows, key, total = rows[order], key[order], total[order]
    predecessor = np.full(rows.shape, -1, dtype=np.int64)
    for j in range(m):
        some = rows[:, j] > 0
        predecessor[some, j] = np.searchsorted(key, key[some] - (steps + 1) ** m - base[j])
    theta = log_odds + rows @ increments
    return rows, theta, *_chances(theta, group_size), predecessor


def _chances(theta: Floats, group_size: int) -> tuple[Floats, Floats]:
    """Return the probability that a group moves nothing, shape (S,), and of each kind that does, shape (S, m)."""
    m = group_size // 2
    log_p, log_q = -np.logaddexp(0, -theta)[:, None], -np.logaddexp(0, theta)[:, None]
    k = np.arange(1, m + 1)
    ways = gammaln(group_size + 1) - gammaln(k + 1) - gammaln(group_size - k + 1)
    up = np.exp(ways + k * log_p + (group_size - k) * log_q)
    down = np.exp(ways + (group_size - k) * log_p + k * log_q)
    move = np.where(2 * k == group_size, up, up + down)
    return np.exp(group_size * log_p[:, 0]) + np.exp(group_size * log_q[:, 0]), move
