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
    from reweight.groups.clipped import clipped_optimum, clipped_surrogate
    from reweight.groups.coefficients import expected_coefficients
    from reweight.groups.weights import group_weights
    from reweight.objectives.advantage import Advantage
    from reweight.objectives.batch import Batch
    from reweight.objectives.clip import Clip, surrogate
    from reweight.objectives.filter import Filter
    from reweight.objectives.kl import KLPenalty, kl_expected, kl_gradient
    from reweight.objectives.loss import batch_loss, sequence_ratio, token_weights
    from reweight.objectives.objective import Objective, diff
    from reweight.objectives.presets import preset, presets
    from reweight.objectives.ratio import Ratio
    from reweight.objectives.reward import LengthPenalty, RewardRule
    from reweight.policies.flat import FlatPolicy
    from reweight.problems.problem import Problem, ProblemSet
    from reweight.problems.verifier import Verifier
    from reweight.updates.policy_gradient import PolicyGradient
    from reweight.updates.sampled_policy_gradient import SampledPolicyGradient
    from reweight.updates.tilt import Tilt

_HOMES = {
    "dynamics.run": ("run",),
    "errors": ("InputError",),
    "forecasting.forecast": ("forecast",),
    "groups.advantages": ("advantages",),
    "groups.binary": ("effective_objective", "fill_probability", "gap", "usable_share"),
    "groups.clipped": ("clipped_optimum", "clipped_surrogate"),
    "groups.coefficients": ("expected_coefficients",),
    "groups.weights": ("group_weights",),
    "objectives.advantage": ("Advantage",),
    "objectives.batch": ("Batch",),
    "objectives.clip": ("Clip", "surrogate"),
    "objectives.filter": ("Filter",),
    "objectives.kl": ("KLPenalty", "kl_expected", "kl_gradient"),
    "objectives.loss": ("batch_loss", "sequence_ratio", "token_weights"),
    "objectives.objective": ("Objective", "diff"),
    "objectives.presets": ("preset", "presets"),
    "objectives.ratio": ("Ratio",),
    "objectives.reward": ("LengthPenalty", "RewardRule"),
    "policies.flat": ("FlatPolicy",),
    "problems.problem": ("Problem", "ProblemSet"),
    "problems.verifier": ("Verifier",),
    "updates.policy_gradient": ("PolicyGradient",),
    "updates.sampled_policy_gradient": ("SampledPolicyGradient",),
    "updates.tilt": ("Tilt",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}
_SUBPACKAGES = ("bounds", "measures", "rollouts")

__all__ = [
    "Advantage",
    "Batch",
    "Clip",
    "Filter",
    "FlatPolicy",
    "InputError",
    "KLPenalty",
    "LengthPenalty",
    "Objective",
    "PolicyGradient",
    "Problem",
    "ProblemSet",
    "Ratio",
    "RewardRule",
    "SampledPolicyGradient",
    "Tilt",
    "Verifier",
    "advantages",
    "batch_loss",
    "bounds",
    "clipped_optimum",
    "clipped_surrogate",
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
    "sequence_ratio",
    "surrogate",
    "token_weights",
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
