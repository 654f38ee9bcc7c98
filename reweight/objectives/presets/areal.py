"""AReaL with its defaults: rewards standardised over the whole batch."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.batch import Batch
from reweight.objectives.clip import Clip
from reweight.objectives.kl import KLPenalty
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset

PRESET = Preset(
    name="areal",
    version="4aef98d8d",
    objective=Objective(
        Advantage("batch_mean", "batch_std", ddof=1, eps=1e-5),
        group_size=8,
        clip=Clip(0.2, 0.2),
        kl=KLPenalty("k1", 0.1, "reward"),
        aggregation="token_mean",
        batch=Batch(),
    ),
    source="AReaL 4aef98d8d, areal/utils/data.py and areal/api/cli_args.py",
    note="Before 0.3.4 the std had ddof 0. Levels of mean and std can be set to group or none there.",
)
