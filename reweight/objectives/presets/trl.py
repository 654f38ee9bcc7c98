"""TRL's GRPOTrainer with its default configuration (scale_rewards group, loss_type dapo, beta 0)."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.clip import Clip
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset

PRESET = Preset(
    name="trl",
    version="1.16.0",
    objective=Objective(Advantage(ddof=1, eps=1e-4), group_size=8, clip=Clip(0.2, 0.2), aggregation="token_mean"),
    source="TRL 1.16.0, trl/trainer/grpo_trainer.py and grpo_config.py",
    note="The token mean is over the batch: give batch=Batch() for that.",
)
