"""GRPO as its paper defines it: z-score within the group, a mean within each answer, k3 against the reference."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.clip import Clip
from reweight.objectives.kl import KLPenalty
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset

PRESET = Preset(
    name="grpo",
    version="2402.03300",
    objective=Objective(
        Advantage(),
        group_size=64,
        clip=Clip(0.2, 0.2),
        kl=KLPenalty("k3", 0.04),
        aggregation="sequence_mean",
    ),
    source="Shao et al. (DeepSeekMath), arXiv 2402.03300, equations 3 and 4 and section 4.2",
    note="The paper states neither the divisor of the std (ddof 0 here) nor the clip range (0.2 here).",
)
