"""Exact GRPO on finite answer spaces: weights, dynamics, bounds, forecasts; every number can be checked a second way.

The names below are the public interface. They are imported when first used, so that ``import reweight`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reweight import bounds, measures, rollouts
    from reweight.dynamics.run import run
    from reweight.errors import InputError
    from reweight.forecasting.forecast import forecast
    from reweight.groups.advantages import advantages
    from reweight.groups.binary import effective_objective, fill_probability, gap, usable_share
    from reweight.groups.coefficients import expected_coefficients
    from reweight.groups.weights import group_weights
    from reweight.objectives.advantage import Advantage
    from reweight.objectives.clip import Clip, surrogate
    from reweight.objectives.kl import KLPenalty, kl_expected, kl_gradient
    from reweight.objectives.objective import Objective, Ratio, diff
    from reweight.objectives.presets import preset, presets
    from reweight.policies.flat import FlatPolicy
    from reweight.problems.problem import Problem, ProblemSet
    from reweight.updates.policy_gradient import PolicyGradient
    from reweight.updates.sampled_policy_gradient import SampledPolicyGradient
    from reweight.updates.tilt import Tilt

_HOMES = {
    "dynamics.run": ("run",),
    "errors": ("InputError",),
    "forecasting.forecast": ("forecast",),
    "groups.advantages": ("advantages",),
    "groups.binary": ("effective_objective", "fill_probability", "gap", "usable_share"),
    "groups.coefficients": ("expected_coefficients",),
    "groups.weights": ("group_weights",),
    "objectives.advantage": ("Advantage",),
    "objectives.clip": ("Clip", "surrogate"),
    "objectives.kl": ("KLPenalty", "kl_expected", "kl_gradient"),
    "objectives.objective": ("Objective", "Ratio", "diff"),
    "objectives.presets": ("preset", "presets"),
    "policies.flat": ("FlatPolicy",),
    "problems.problem": ("Problem", "ProblemSet"),
    "updates.policy_gradient": ("PolicyGradient",),
    "updates.sampled_policy_gradient": ("SampledPolicyGradient",),
    "updates.tilt": ("Tilt",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}
_SUBPACKAGES = ("bounds", "measures", "rollouts")

__all__ = [
    "Advantage",
    "Clip",
    "FlatPolicy",
    "InputError",
    "KLPenalty",
    "Objective",
    "PolicyGradient",
    "Problem",
    "ProblemSet",
    "Ratio",
    "SampledPolicyGradient",
    "Tilt",
    "advantages",
    "bounds",
    "diff",
    "effective_objective",
    "expected_coefficients",
    "fill_probability",
    "forecast",
    "gap",
    "group_weights",
    "kl_expected",
    "kl_gradient",
    "measures",
    "preset",
    "presets",
    "rollouts",
    "run",
    "surrogate",
    "usable_share",
]


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return import_module(f"reweight.{name}")
    if name in _MODULE_OF:
        value = getattr(import_module(f"reweight.{_MODULE_OF[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'reweight' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
