"""The gap of a group of any size from a table that is indexed by the bits of x = p q.

A symmetric Bernstein polynomial is a polynomial in x whose only length scale is 1/G. A cell of fixed relative width (an
exponent and four bits of the mantissa) therefore needs the same degree for every G, and the float x names its own cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reweight.checks import Floats
from reweight.kernels.bernstein import PARALLEL_FROM, bernstein

__all__ = ["GapTable", "gap_table", "table_lookup", "table_lookup_twin"]

CELLS, DEGREE = 16, 7  # cells of a binade; the compiled loop is written for these two numbers
CELL_PLACE, ONE = np.uint64(48), np.uint64(0x3FF0_0000_0000_0000)
WITHIN_CELL = np.uint64((1 << 48) - 1)


@dataclass(frozen=True, eq=False)
class GapTable:
    """Polynomials in z on [-1, 1), one a cell, lowest coefficient first, shape (cells, 8), from x = `lowest` on."""

    coefficients: Floats
    lowest: float

    @property
    def first(self) -> np.uint64:
        """Number of the first cell: the upper bits of `lowest`."""
        return np.float64(self.lowest).view(np.uint64) >> CELL_PLACE


def gap_table(coefficients: Floats) -> GapTable:
    """Tabulate a symmetric polynomial in Bernstein form.

    Parameters
    ----------
    coefficients : ndarray, shape (n + 1,)
        A palindrome without negative numbers.

    Returns
    -------
    GapTable
        Relative error at most 2e-14 for the gap's coefficients; below `lowest` the value at p = 0 stands in, which
        is off by less than 1e-16.

    Notes
    -----
    Source: R01. Each cell is interpolated at Chebyshev points; only the difference from a middle value goes through the
    matrix, which is a 1/32 of it or less, so that its rounding isn't seen.

    Examples
    --------
    >>> table = gap_table(np.array([3.0, 1.0, 3.0]))
    >>> table_lookup(table, np.array([0.0, 0.5]), np.array([1.0, 0.5]))
    array([3., 2.])
    """
    last = 2  # x <= 1/4 = 2^-2
    depth = 55 + (len(coefficients) + 1).bit_length()
    exponents = np.repeat(np.arange(-depth, -last), CELLS)
    left = np.ldexp(1.0 + np.tile(np.arange(CELLS), depth - last) / CELLS, exponents)
    nodes = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
    x = left[:, None] + np.ldexp((nodes + 1) / (2 * CELLS), exponents[:, None])
    p = 2 * x / (1 + np.sqrt(1 - 4 * x))
    values = bernstein(coefficients, p, 1 - p)
    middle = values[:, DEGREE // 2 : DEGREE // 2 + 1]
    rows = np.linalg.solve(np.vander(nodes, increasing=True), (values - middle).T).T
    rows[:, 0] += middle[:, 0]
    at_half = np.zeros((1, DEGREE + 1))
    at_half[0, 0] = bernstein(coefficients, np.array(0.5), np.array(0.5))
    return GapTable(np.vstack([rows, at_half]), 2.0**-depth)


def table_lookup(table: GapTable, p: Floats, q: Floats, *, out: Floats | None = None) -> Floats:
    """Read the polynomial off its table at p + q = 1, compiled; the time does not depend on its degree.

    Parameters
    ----------
    table : GapTable
    p, q : ndarray, shape (...)
    out : ndarray, shape (...), optional
        Where the result goes, contiguous; a new array by default.

    Returns
    -------
    ndarray, shape (...)
    """
    from reweight.kernels.compiled import gap_table as compiled

    result = np.empty(p.shape) if out is None else out
    loop = compiled.parallel if p.size >= PARALLEL_FROM else compiled.serial
    loop(table.coefficients, table.lowest, table.first, np.ravel(p), np.ravel(q), result.reshape(-1))
    return result


def table_lookup_twin(table: GapTable, p: Floats, q: Floats) -> Floats:
    """Read what :func:`table_lookup` does, in numpy."""
    code = np.maximum(p * q, table.lowest).view(np.uint64)
    rows = table.coefficients[code - (code & WITHIN_CELL) - (table.first << CELL_PLACE) >> CELL_PLACE]
    z = ((code & WITHIN_CELL) | ONE).view(np.float64) * (2 * CELLS) - (2 * CELLS + 1)
    value = rows[..., DEGREE]
    for power in range(DEGREE - 1, -1, -1):
        value = value * z + rows[..., power]
    return np.asarray(value)
