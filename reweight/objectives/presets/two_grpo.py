"""2-GRPO: groups of two, where a pair that differs gets +1 and -1."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.clip import Clip
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset

PRESET = Preset(
    name="two_grpo",
    version="2510.00977",
    objective=Objective(Advantage(), group_size=2, clip=Clip(0.2, 0.2), aggregation="sequence_mean"),
    source="arXiv 2510.00977",
    note="The expected direction is the gradient of the pass rate itself (ddof 0); the divisor is not stated.",
)
