"""OpenRLHF with advantage estimator group_norm: KL is taken from the normalised advantage, token by token."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.clip import Clip
from reweight.objectives.kl import KLPenalty
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset

PRESET = Preset(
    name="openrlhf",
    version="0.11.2",
    objective=Objective(
        Advantage(ddof=1, eps=1e-9, singleton="error"),
        group_size=8,
        clip=Clip(0.2, 0.2),
        kl=KLPenalty("k1", 0.01, "advantage", limit=10.0),
        aggregation="token_mean",
    ),
    source="OpenRLHF 0.11.2, openrlhf/trainer/ppo_utils/experience_maker.py and openrlhf/models/loss.py",
    note="The token mean is over the batch: give batch=Batch() for that. Needs at least two samples a prompt.",
)
