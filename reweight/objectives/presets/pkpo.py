"""PKPO: rewards become shares in the unbiased estimate of pass@k."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset
from reweight.objectives.reward import RewardRule

PRESET = Preset(
    name="pkpo",
    version="2505.15201",
    objective=Objective(
        Advantage("none", "none"),
        group_size=8,
        reward=RewardRule("pass_at_k", k=4),
        aggregation="sequence_sum",
    ),
    source="arXiv 2505.15201",
    note="k is the user's (4 here). Less variance: transform 'leave_one_out_pass_at_k'.",
)
