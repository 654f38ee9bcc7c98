"""DAPO: a higher upper clip, groups redrawn until they are mixed, one mean over all tokens."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.clip import Clip
from reweight.objectives.filter import Filter
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset

PRESET = Preset(
    name="dapo",
    version="2503.14476",
    objective=Objective(
        Advantage(),
        group_size=16,
        clip=Clip(0.2, 0.28),
        aggregation="token_mean",
        filter=Filter("mixed"),
    ),
    source="Yu et al., arXiv 2503.14476, equations 8 and 11",
    note="The token mean is over the batch: give batch=Batch() for that. Overlong shaping is a LengthPenalty of the "
    "reward, whose limits are the user's. The divisor of the std is not stated (ddof 0 here).",
)
