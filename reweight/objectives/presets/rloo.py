"""RLOO: REINFORCE, one term an answer, with the leave-one-out mean as baseline."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset
from reweight.objectives.ratio import Ratio

PRESET = Preset(
    name="rloo",
    version="2402.14740",
    objective=Objective(
        Advantage(baseline="leave_one_out", scale="none"),
        group_size=8,
        ratio=Ratio("sequence_product"),
        aggregation="sequence_mean",
    ),
    source="Ahmadian et al., arXiv 2402.14740",
)
