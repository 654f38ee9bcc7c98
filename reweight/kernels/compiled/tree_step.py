"""Passes over one depth of a full prefix tree whose edges are kept child-major: (children, nodes above).

Nodes are worked on in blocks, whose exponentials stay in a cache; `rows` is scratch, (children + 2, block) a thread.
"""

from __future__ import annotations

from typing import Any

from numba import njit, prange

from reweight.kernels.compiled.arithmetic import exp_of_minus, use_wide_vectors

__all__ = ["move", "move_parallel", "rise", "rise_parallel"]


@njit(cache=True, error_model="numpy")
def _exponentials(z: Any, start: int, stop: int, rows: Any) -> None:
    """Fill rows[c] with exp(z[c] - largest of the node), and the last row with their sums."""
    use_wide_vectors()
    most, total = rows[-2][: stop - start], rows[-1][: stop - start]
    most[:] = z[0][start:stop]
    total[:] = 0.0
    for c in range(1, z.shape[0]):
        row = z[c][start:stop]
        for i in range(most.size):
            most[i] = max(most[i], row[i])
    for c in range(z.shape[0]):
        row, out = z[c][start:stop], rows[c][: stop - start]
        for i in range(most.size):
            value = exp_of_minus(most[i] - row[i])
            out[i] = value
            total[i] += value


@njit(cache=True, error_model="numpy")
def _rise_block(z: Any, below: Any, value: Any, start: int, stop: int, rows: Any) -> None:
    use_wide_vectors()
    _exponentials(z, start, stop, rows)
    total, out = rows[-1][: stop - start], value[start:stop]
    out[:] = 0.0
    for c in range(z.shape[0]):
        share, each = rows[c][: stop - start], below[c][start:stop]
        for i in range(out.size):
            out[i] += share[i] * each[i]
    for i in range(out.size):
        out[i] /= total[i]


@njit(cache=True, error_model="numpy")
def _move_block(
    z: Any, below: Any, value: Any, mass: Any, mass_below: Any, rate: float, start: int, stop: int, rows: Any
) -> None:
    use_wide_vectors()
    _exponentials(z, start, stop, rows)
    unit, above, total = rows[-2][: stop - start], value[start:stop], rows[-1][: stop - start]
    reached = mass[start:stop]
    for i in range(unit.size):
        unit[i] = reached[i] / total[i]
    if mass_below.size:
        for c in range(z.shape[0]):
            share, out = rows[c][: stop - start], mass_below[c][start:stop]
            for i in range(out.size):
                out[i] = share[i] * unit[i]
    for c in range(z.shape[0]):
        row, share, each = z[c][start:stop], rows[c][: stop - start], below[c][start:stop]
        for i in range(row.size):
            row[i] += rate * (share[i] * unit[i]) * (each[i] - above[i])


@njit(cache=True, error_model="numpy")
def rise(z: Any, below: Any, value: Any, rows: Any, block: int) -> None:
    """Fill the pass rate of each node from those of its children."""
    for start in range(0, value.size, block):
        _rise_block(z, below, value, start, min(start + block, value.size), rows[0])


@njit(cache=True, error_model="numpy")
def move(z: Any, below: Any, value: Any, mass: Any, mass_below: Any, rate: float, rows: Any, block: int) -> None:
    """Add rate * mass * (pass rate below the edge - below its node) to each logit; keep the masses unless empty."""
    for start in range(0, value.size, block):
        _move_block(z, below, value, mass, mass_below, rate, start, min(start + block, value.size), rows[0])


@njit(cache=True, error_model="numpy", parallel=True)
def rise_parallel(z: Any, below: Any, value: Any, rows: Any, block: int) -> None:
    """As `rise`, with nodes shared out over threads; nodes are independent, so that changes no bit."""
    threads = rows.shape[0]
    each = (value.size + threads - 1) // threads
    for t in prange(threads):
        last = min((t + 1) * each, value.size)
        for start in range(t * each, last, block):
            _rise_block(z, below, value, start, min(start + block, last), rows[t])


@njit(cache=True, error_model="numpy", parallel=True)
def move_parallel(
    z: Any, below: Any, value: Any, mass: Any, mass_below: Any, rate: float, rows: Any, block: int
) -> None:
    """As `move`, with nodes shared out over threads."""
    threads = rows.shape[0]
    each = (value.size + threads - 1) // threads
    for t in prange(threads):
        last = min((t + 1) * each, value.size)
        for start in range(t * each, last, block):
            _move_block(z, below, value, mass, mass_below, rate, start, min(start + block, last), rows[t])
