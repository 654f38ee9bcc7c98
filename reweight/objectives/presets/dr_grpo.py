"""Dr. GRPO: no standard deviation, and division by a constant, the generation budget, not by the answer's own length.

The constant only scales the step; it is 1 here, and `constant_length` replaces it.
"""

from reweight.objectives.advantage import Advantage
from reweight.objectives.clip import Clip
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset

PRESET = Preset(
    name="dr_grpo",
    version="2503.20783",
    objective=Objective(
        Advantage(scale="none"), group_size=8, clip=Clip(0.2, 0.2), aggregation="constant", constant_length=1.0
    ),
    source="Liu et al., arXiv 2503.20783",
    note="constant_length is 1 here; it is the generation budget, and only scales the step.",
)
