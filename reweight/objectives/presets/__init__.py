"""Presets: the objective of a framework or paper, one file each; a new file here is a new preset."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
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
    note : str
        What it leaves to its user, or what of its source it cannot express.
    """

    name: str
    version: str
    objective: Objective
    source: str
    note: str = ""


@cache
def presets() -> tuple[Preset, ...]:
    """Return all presets, in order of name.

    Examples
    --------
    >>> [item.name for item in presets()][:4]
    ['areal', 'cispo', 'dapo', 'dr_grpo']
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
        raise InputError(f"there is no preset {name!r}: {_suggestion(name, tuple(found))}")
    chosen = found[name]
    if version is not None and version != chosen.version:
        raise InputError(f"preset {name} is of version {chosen.version}, not {version}")
    names = tuple(field.name for field in fields(Objective))
    for field in overrides:
        if field not in names:
            raise InputError(f"preset {name} cannot be changed in {field!r}: {_suggestion(field, names)}")
    return replace(chosen.objective, **overrides)


def _suggestion(name: str, known: tuple[str, ...]) -> str:
    close = get_close_matches(name, known, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"choose one of {', '.join(known)}"
