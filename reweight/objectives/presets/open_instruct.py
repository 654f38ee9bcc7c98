"""open-instruct with its defaults: centred rewards, no division, groups of equal rewards dropped."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.clip import Clip
from reweight.objectives.filter import Filter
from reweight.objectives.kl import KLPenalty
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset

PRESET = Preset(
    name="open_instruct",
    version="e6c3044aa",
    objective=Objective(
        Advantage(scale="none"),
        group_size=8,
        clip=Clip(0.2, 0.272),
        kl=KLPenalty("k3", 0.05),
        aggregation="token_mean",
        filter=Filter("mixed"),
    ),
    source="open-instruct e6c3044aa, open_instruct/data_loader.py and grpo_utils.py",
    note="Dropped groups are redrawn only with active_sampling: the mean over the groups that are left is the same, "
    "the number of samples generated is not. Degeneracy is np.std == 0 there, which float residue can defeat.",
)
