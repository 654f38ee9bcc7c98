"""Presets: the objective of a framework or paper, one file each; a new file here is a new preset."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from reweight.errors import InputError
from reweight.objectives.objective import Objective

__all__ = ["Preset", "preset", "presets"]


@dataclass(frozen=True)
class Preset:
    """An objective with where it was read.

    Attributes
    ----------
    name, version : str
        Framework or paper, and the version that was read.
    objective : Objective
        Its default configuration, in groups of 8 where the framework or paper leaves the size to its user.
    source : str
        Where it is defined.
    """

    name: str
    version: str
    objective: Objective
    source: str


@cache
def presets() -> tuple[Preset, ...]:
    """Return all presets, in order of name.

    Examples
    --------
    >>> [item.name for item in presets()]
    ['dr_grpo', 'rloo', 'trl', 'verl']
    """
    modules = sorted(module.name for module in iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{module}").PRESET for module in modules)


def preset(name: str, version: str | None = None, **overrides: Any) -> Objective:
    """Return the objective of a framework or paper, with some fields replaced.

    Parameters
    ----------
    name : str
        One of :func:`presets`.
    version : str, optional
        Refuse the preset unless it was read from this version.
    **overrides
        Fields of Objective to replace, for example ``group_size=16``.

    Raises
    ------
    InputError
        If there is no such preset, version or field.

    Examples
    --------
    >>> preset("trl", group_size=16).advantage.eps
    0.0001
    """
    found = {item.name: item for item in presets()}
    if name not in found:
        raise InputError(f"there is no preset {name!r}: choose one of {', '.join(found)}")
    chosen = found[name]
    if version is not None and version != chosen.version:
        raise InputError(f"preset {name} is of version {chosen.version}, not {version}")
    try:
        return replace(chosen.objective, **overrides)
    except TypeError as error:
        raise InputError(f"preset {name} cannot be changed so: {error}") from None
