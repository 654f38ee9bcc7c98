"""Record verl's own advantages, losses and KL penalties. Run with the interpreter of verl's environment:
python record_verl.py OUTPUT.json
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from verl.trainer.ppo import core_algos

from groups import CONSTANT, mixed_groups

ESTIMATORS = {
    "grpo": core_algos.compute_grpo_outcome_advantage,
    "grpo_passk": core_algos.compute_grpo_passk_outcome_advantage,
    "rloo": core_algos.compute_rloo_outcome_advantage,
}
LENGTHS = [2, 1, 3, 4, 2, 1]


def advantages(name: str, rewards: list[float]) -> list[float]:
    """Advantages of one group of answers of one token, in float64."""
    table = torch.tensor(rewards, dtype=torch.float64)[:, None]
    mask = torch.ones_like(table)
    options: dict[str, Any] = {"config": {}} if name == "grpo_passk" else {}
    found, _ = ESTIMATORS[name](table, mask, np.zeros(len(rewards), dtype=int), **options)
    return [float(value) for value in found[:, 0]]


def batch_advantages(function: Any, rewards: list[float], groups: list[int]) -> list[float]:
    """Advantages of a batch of answers of unequal lengths; the reward stands at the last token."""
    width = max(LENGTHS)
    mask = torch.tensor([[float(t < length) for t in range(width)] for length in LENGTHS], dtype=torch.float64)
    table = torch.zeros_like(mask)
    for row, (reward, length) in enumerate(zip(rewards, LENGTHS, strict=True)):
        table[row, length - 1] = reward
    found, _ = function(table, mask, index=np.array(groups))
    return [float(value) for value in (found * mask)[:, 0]]


def aggregation(mode: str) -> float:
    """The loss that verl aggregates from given token losses."""
    losses = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.5, -1.0, 2.0, 0.25]], dtype=torch.float64)
    mask = torch.tensor([[1.0, 0, 0, 0], [1, 1, 1, 1]], dtype=torch.float64)
    return float(core_algos.agg_loss(losses, mask, mode))


def penalties(name: str) -> list[float]:
    """KL penalties of a few tokens."""
    log_probs = torch.log(torch.tensor([[0.6, 0.3, 0.1]], dtype=torch.float64))
    reference = torch.log(torch.tensor([[0.2, 0.3, 0.5]], dtype=torch.float64))
    return [float(value) for value in core_algos.kl_penalty_forward(log_probs, reference, name)[0]]


def main(path: str) -> None:
    """Write the record."""
    rewards, groups = [1.0, 0.0, 0.5, 1.0, 1.0, 0.0], [0, 0, 0, 1, 1, 1]
    record = {
        "versions": {"verl": version("verl"), "torch": torch.__version__},
        "grpo": [advantages("grpo", group) for group in mixed_groups(1000)],
        "grpo_passk": [advantages("grpo_passk", group) for group in mixed_groups(100, seed=1)],
        "rloo": [advantages("rloo", group) for group in mixed_groups(100, seed=1)],
        "constant": [advantages("grpo", group) for group in CONSTANT],
        "singleton": advantages("grpo", [0.7]),
        "lengths": LENGTHS,
        "opo": batch_advantages(core_algos.compute_opo_outcome_advantage, rewards, groups),
        "reinforce_plus_plus_baseline": batch_advantages(
            core_algos.compute_reinforce_plus_plus_baseline_outcome_advantage, rewards, groups
        ),
        "reinforce_plus_plus": batch_advantages(
            lambda table, mask, index: core_algos.compute_reinforce_plus_plus_outcome_advantage(
                table, mask, config=SimpleNamespace(gamma=1.0)
            ),
            rewards,
            groups,
        ),
        "agg_loss": {mode: aggregation(mode) for mode in ("token-mean", "seq-mean-token-sum", "seq-mean-token-mean")},
        "kl_penalty": {name: penalties(name) for name in ("kl", "mse", "low_var_kl")},
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(record, file, separators=(",", ":"))


if __name__ == "__main__":
    main(sys.argv[1])
