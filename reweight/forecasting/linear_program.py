"""Linear programs over weights: maximise v w, w >= 0, where some sums of w lie between limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["maximise"]

Floats = NDArray[np.float64]


def maximise(values: Floats, rows: Floats, low: Floats, high: Floats) -> tuple[float, Floats] | None:
    """Largest v w for values (M,), and the multipliers (R,) of the sums; None where no weights keep to the limits.

    HiGHS is called directly: with limits on both sides of a row and without presolve, these programs of few rows and
    hundreds of columns take a fifth of the time that they take through scipy.

    Parameters
    ----------
    values : (M,) array
    rows : (R, M) array
        Coefficients of the sums.
    low, high : (R,) arrays
        Their limits; equal where a sum is fixed.

    Examples
    --------
    >>> rows = np.array([[1.0, 1.0], [0.0, 1.0]])
    >>> value, multipliers = maximise(np.array([1.0, 3.0]), rows, np.array([1.0, 0.2]), np.array([1.0, 0.6]))
    >>> round(value, 12), multipliers.round(12).tolist()
    (2.2, [1.0, 2.0])
    """
    import highspy
    from highspy._core import _Highs

    count, columns = rows.shape
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = columns, count
    model.sense_, model.col_cost_ = highspy.ObjSense.kMaximize, values
    model.col_lower_, model.col_upper_ = np.zeros(columns), np.full(columns, highspy.kHighsInf)
    model.row_lower_, model.row_upper_ = low, high
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = columns * np.arange(count + 1)
    model.a_matrix_.index_ = np.tile(np.arange(columns), count)
    model.a_matrix_.value_ = rows.ravel()
    options = highspy.HighsOptions()
    options.output_flag, options.threads, options.presolve = False, 1, "off"
    solver = _Highs()  # its public heir greets on standard output before it can be told not to
    solver.passOptions(options)
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return float(solver.getObjectiveValue()), np.array(solver.getSolution().row_dual)
