"""The map of many tilts as one smooth function: followed at a few nodes, interpolated everywhere else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev

from reweight.checks import Floats
from reweight.errors import InputError
from reweight.kernels.lumped_tilt import lumped_tilt

__all__ = ["FlowMap", "flow_map"]

DEGREE, WIDTH, NARROWEST = 9, 0.25, 1 / 256
SAFETY = 10.0


@dataclass(frozen=True, eq=False)
class FlowMap:
    """The log-odds after some tilts as a function of those before.

    Attributes
    ----------
    low, width : float
        Where the first cell begins, and how wide a cell is, in nats.
    coefficients : ndarray, shape (cells, 10)
        Chebyshev coefficients of the displacement in each cell.
    error_bound : float
        Ten times the larger of the last two coefficients of any cell: an estimate that followed the true error within
        that factor wherever it was measured, not a proof.
    """

    low: float
    width: float
    coefficients: Floats
    error_bound: float

    def __call__(self, log_odds: Floats) -> Floats:
        """Return the log-odds after the tilts, shape (P,).

        Raises
        ------
        InputError
            If a log-odds is outside the range of the map.
        """
        place = (np.asarray(log_odds, dtype=np.float64) - self.low) / self.width
        cell = np.minimum(np.floor(place).astype(np.intp), len(self.coefficients) - 1)
        if place.size and (cell.min() < 0 or place.max() > len(self.coefficients)):
            raise InputError("a log-odds is outside the range that the flow map was made for")
        x = 2 * (place - cell) - 1
        rows = self.coefficients[cell]
        later, last = np.zeros_like(x), rows[..., -1]
        for k in range(DEGREE - 1, 0, -1):  # Clenshaw's recurrence
            later, last = last, 2 * x * last - later + rows[..., k]
        return np.asarray(log_odds + x * last - later + rows[..., 0])


def flow_map(
    low: float, high: float, steps: int, step: float, coefficients: Floats, *, tolerance: float = 1e-10
) -> FlowMap:
    """Make the flow map of `steps` tilts on a range of log-odds, with cells as narrow as the tolerance needs.

    Parameters
    ----------
    low, high : float
        Range of the log-odds at the start, in nats.
    steps, step, coefficients
        As in :func:`reweight.kernels.lumped_tilt.lumped_tilt`.
    tolerance : float
        Largest `error_bound`, in nats.

    Raises
    ------
    InputError
        If the range is empty, or cells of 1/256 do not meet the tolerance.

    Examples
    --------
    >>> moved = flow_map(-3.0, 3.0, 100, 0.1, np.array([1.0]))
    >>> bool(abs(moved(np.array([0.0])) - 10.0) < 1e-12)
    True
    """
    if not low < high:
        raise InputError(f"the range of log-odds from {low:g} to {high:g} is empty")
    width = WIDTH
    while width >= NARROWEST:
        cells = int(np.ceil((high - low) / width))
        nodes = chebyshev.chebpts1(DEGREE + 1)
        start = low + width * (np.arange(cells)[:, None] + (nodes + 1) / 2)
        moved = lumped_tilt(start.ravel(), steps, step, coefficients).reshape(start.shape) - start
        rows: Floats = np.linalg.solve(chebyshev.chebvander(nodes, DEGREE), moved.T).T.astype(np.float64)
        bound = SAFETY * float(np.abs(rows[:, -2:]).max())
        if bound <= tolerance:
            return FlowMap(low, width, rows, bound)
        width /= 2
    raise InputError(f"a flow map of {steps} steps of {step:g} does not reach {tolerance:g}: run the steps one by one")
