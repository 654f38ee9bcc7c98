"""One step of the law of a sampled run: every state gathers what its predecessors send."""

from __future__ import annotations

from typing import Any

from numba import njit

__all__ = ["gather"]


@njit(cache=True, error_model="numpy")
def gather(active: int, before: Any, after: Any, stay: Any, move: Any, predecessor: Any) -> None:
    """after[s] = before[s] stay[s] + sum over j of before[pred] move[pred, j], for the first `active` states."""
    for s in range(active):
        total = before[s] * stay[s]
        for j in range(predecessor.shape[1]):
            p = predecessor[s, j]
            if p >= 0:
                total += before[p] * move[p, j]
        after[s] = total
