"""REINFORCE++: one sample a prompt, advantages whitened over all tokens of the batch."""

from reweight.objectives.advantage import Advantage
from reweight.objectives.batch import Batch
from reweight.objectives.clip import Clip
from reweight.objectives.objective import Objective
from reweight.objectives.presets import Preset

PRESET = Preset(
    name="reinforce_plus_plus",
    version="2501.03262",
    objective=Objective(
        Advantage("none", "none", ddof=1, eps=1e-8, eps_rule="inside_root", second="token_whiten"),
        group_size=1,
        clip=Clip(0.2, 0.2),
        aggregation="token_mean",
        batch=Batch(),
    ),
    source="Hu, arXiv 2501.03262; whitening as in verl 0.9.1, verl/trainer/ppo/core_algos.py",
    note="Its KL penalty stands in the return before whitening, token by token, which is not expressed here. The "
    "variant with the group's mean as baseline: baseline 'mean' and a larger group.",
)
