"""MaxRL: rewards are divided by the mean reward of the group, a step from mean reward towards maximum likelihood."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset

PRESET = Preset(
    name="maxrl",
    version="2602.02710",
    objective=Objective(Advantage(scale="mean"), group_size=8, aggregation="sequence_sum"),
    source="arXiv 2602.02710",
    note="For rewards 0 and 1. With the group's mean as baseline, as here, the gap is (1 - (1 - p)^(G-1)) / p; with "
    "baseline none it has G in place of G - 1.",
)
