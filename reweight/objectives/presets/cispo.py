"""CISPO: the clipped ratio is a constant weight of the policy gradient, so no token is ever silenced."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.clip import Clip
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset
from reweight.objectives.ratio import Ratio

PRESET = Preset(
    name="cispo",
    version="2506.13585",
    objective=Objective(
        Advantage(),
        group_size=16,
        ratio=Ratio("detached_weight"),
        clip=Clip(1.0, 0.28),
        aggregation="token_mean",
    ),
    source="MiniMax (M1), arXiv 2506.13585, section 3.1",
    note="The ratio is clipped from above only; the paper does not state the upper range (0.28 here) nor the divisor "
    "of the std (ddof 0 here). The token mean is over the batch: give batch=Batch() for that.",
)
