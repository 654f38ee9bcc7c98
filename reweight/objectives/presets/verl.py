"""verl's advantage estimator `grpo` with the vanilla policy loss and token mean."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.clip import Clip
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset

PRESET = Preset(
    name="verl",
    version="0.9.1",
    objective=Objective(
        Advantage(ddof=1, eps=1e-6, singleton="reward"),
        group_size=8,
        clip=Clip(0.2, 0.2, dual=3.0, log_ratio_limit=20.0),
        aggregation="token_mean",
    ),
    source="verl 0.9.1, verl/trainer/ppo/core_algos.py",
    note="The token mean is over the batch: give batch=Batch() for that. A lone sample of a group keeps its reward.",
)
