"""NeMo-RL with its defaults: each sample is measured by the mean and the std of the other samples of its group."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.clip import Clip
from reweight.objectives.kl import KLPenalty
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset

PRESET = Preset(
    name="nemo_rl",
    version="0.6.0",
    objective=Objective(
        Advantage("leave_one_out", "leave_one_out_std", ddof=1, eps=1e-6),
        group_size=8,
        clip=Clip(0.2, 0.2),
        kl=KLPenalty("k3", 0.01, gradient="ratio_weighted", limit=10.0),
        aggregation="token_mean",
    ),
    source="NeMo-RL 0.6.0, nemo_rl/algorithms/utils.py and advantage_estimator.py",
    note="Advantages are neither centred nor bounded: a lone success among equal rewards stays undivided. The token "
    "mean is over the batch: give batch=Batch() for that.",
)
