"""The objective of a run: advantage, ratio, clip, KL, aggregation, as one frozen description."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.batch import Batch
from reweight.objectives.clip import Clip, surrogate
from reweight.objectives.filter import Filter
from reweight.objectives.kl import KLPenalty, kl_expected, kl_gradient
from reweight.objectives.loss import batch_loss, sequence_ratio, token_weights
from reweight.objectives.objective import Objective, diff, flatten
from reweight.objectives.presets import Preset, preset
from reweight.objectives.ratio import Ratio
from reweight.objectives.reward import LengthPenalty, RewardRule

__all__ = [
    "Advantage",
    "Batch",
    "Clip",
    "Filter",
    "KLPenalty",
    "LengthPenalty",
    "Objective",
    "Preset",
    "Ratio",
    "RewardRule",
    "batch_loss",
    "diff",
    "flatten",
    "kl_expected",
    "kl_gradient",
    "preset",
    "sequence_ratio",
    "surrogate",
    "token_weights",
]
