"""The map of many tilts as one smooth function: followed at a few nodes, interpolated everywhere else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev

from reweight.checks import Floats
from reweight.errors import InputError
from reweight.kernels.bernstein import PARALLEL_FROM
from reweight.kernels.lumped_tilt import lumped_tilt

__all__ = ["FlowMap", "flow_map", "flow_map_twin"]

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
        Ten times the larger of the last two coefficients of any cell, an estimate that followed the true error within
        that factor wherever it was measured, not a proof; at least what adding up the steps may have rounded off.
    """

    low: float
    width: float
    coefficients: Floats
    error_bound: float

    def __call__(self, log_odds: Floats) -> Floats:
        """Return the log-odds after the tilts, shape (...).

        Raises
        ------
        InputError
            If a log-odds is outside the range of the map.
        """
        from reweight.kernels.compiled import flow_map as compiled

        theta = np.asarray(log_odds, dtype=np.float64)
        if theta.size and not (theta.min() >= self.low and theta.max() <= self.high):
            raise InputError("a log-odds is outside the range that the flow map was made for")
        out = np.empty(theta.size)
        loop = compiled.parallel if theta.size >= PARALLEL_FROM else compiled.serial
        loop(self.low, self.width, self.coefficients, np.ravel(theta), out)
        return out.reshape(theta.shape)

    @property
    def high(self) -> float:
        """Where the last cell ends."""
        return self.low + self.width * len(self.coefficients)


def flow_map_twin(moved: FlowMap, log_odds: Floats) -> Floats:
    """Evaluate the map in numpy."""
    cells, terms = moved.coefficients.shape
    place = (log_odds - moved.low) / moved.width
    cell = np.minimum(np.floor(place).astype(np.intp), cells - 1)
    basis = chebyshev.chebvander(2 * (place - cell) - 1, terms - 1)
    return np.asarray(log_odds + (basis * moved.coefficients[cell]).sum(axis=-1))


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
        Largest error of the interpolation, in nats.

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
        end = lumped_tilt(start, steps, step, coefficients)
        rows = np.asarray(np.linalg.solve(chebyshev.chebvander(nodes, DEGREE), (end - start).T).T, dtype=np.float64)
        bound = SAFETY * float(np.abs(rows[:, -2:]).max())
        if bound <= tolerance:
            rounding = steps * float(np.spacing(np.abs([start, end]).max())) / 2
            return FlowMap(low, width, rows, max(bound, rounding))
        width /= 2
    raise InputError(f"a flow map of {steps} steps of {step:g} does not reach {tolerance:g}: run the steps one by one")
