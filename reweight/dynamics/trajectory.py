"""A trajectory as JSON values; trajectory.schema.json describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray

__all__ = ["trajectory_dict"]


def trajectory_dict(path: xarray.Dataset) -> dict[str, Any]:
    """Return attributes, coordinates and variables as JSON values; what is not finite is null.

    Parameters
    ----------
    path : xarray.Dataset
        What :func:`reweight.run` returns.

    Examples
    --------
    >>> import reweight as rw
    >>> start = rw.FlatPolicy.from_probabilities([0.0, 1.0])
    >>> path = rw.run(rw.Problem([1, 0]), start, rw.preset("trl"), rw.Tilt(0.1), 1)
    >>> trajectory_dict(path)["variables"]["log_odds"]["values"]
    [None, None]
    """
    variables = {}
    for name, variable in path.data_vars.items():
        values = variable.values.astype(object)
        values[~np.isfinite(variable.values)] = None
        variables[str(name)] = {
            "long_name": variable.attrs["long_name"],
            "units": variable.attrs["units"],
            "dimensions": [str(dimension) for dimension in variable.dims],
            "values": values.tolist(),
        }
    coordinates = {str(name): coordinate.values.tolist() for name, coordinate in path.coords.items()}
    return {"attributes": dict(path.attrs), "coordinates": coordinates, "variables": variables}
