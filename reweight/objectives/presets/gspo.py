"""GSPO: one ratio an answer, the geometric mean of its token ratios."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.clip import Clip
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset
from reweight.objectives.ratio import Ratio

PRESET = Preset(
    name="gspo",
    version="2507.18071",
    objective=Objective(
        Advantage(),
        group_size=8,
        ratio=Ratio("sequence_mean"),
        clip=Clip(3e-4, 4e-4),
        aggregation="sequence_mean",
    ),
    source="Zheng et al., arXiv 2507.18071, equations 5 to 7 and section 5.1",
    note="The divisor of the std is not stated (ddof 0 here).",
)
