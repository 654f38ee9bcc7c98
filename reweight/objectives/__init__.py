"""The objective of a run: advantage, ratio, clip, KL, aggregation, as one frozen description."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.clip import Clip, surrogate
from reweight.objectives.kl import KLPenalty, kl_expected, kl_gradient
from reweight.objectives.objective import Objective, Ratio, diff, flatten
from reweight.objectives.presets import Preset, preset

__all__ = [
    "Advantage",
    "Clip",
    "KLPenalty",
    "Objective",
    "Preset",
    "Ratio",
    "diff",
    "flatten",
    "kl_expected",
    "kl_gradient",
    "preset",
    "surrogate",
]
