"""The back ends that a road can use, and whether each is there."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ["BACKENDS", "missing"]

BACKENDS = {
    "rational": (),
    "ball": ("flint",),
    "symbolic": ("sympy",),
    "smt": ("z3",),
    "convex": ("cvxpy",),
    "property": ("hypothesis",),
}
"""Each back end with the modules that it cannot do without."""


def missing(backend: str) -> str | None:
    """Why the back end cannot run here, in one sentence, or None if it can.

    >>> missing("rational") is None
    True
    """
    absent = [module for module in BACKENDS[backend] if find_spec(module) is None]
    return f"the module {absent[0]} is not installed (pip install 'grpo-reweight[prove]')" if absent else None
