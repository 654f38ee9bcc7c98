"""Record expected gradients by polgrad: its advantages and losses on every group of a policy of four answers.

Run with the interpreter of TRL's environment, which holds polgrad too: python record_polgrad.py OUTPUT.json
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from itertools import combinations_with_replacement
from math import factorial
from typing import Any

import polgrad
import torch
from polgrad import Aggregation, ClipConfig, GroupNormConfig, PolicyLossConfig, RatioKind, SurrogateKind

REWARDS = [1.0, 0.0, 0.5, 0.25]
OLD, NOW = [0.3, -0.2, 0.5, 0.0], [0.6, -0.4, 0.1, 0.2]
SIZE = 6
NORMS = {
    "grpo": GroupNormConfig(center=True, scale="std", eps=1e-4, unbiased=True),
    "dr_grpo": GroupNormConfig(center=True, scale="none"),
}
LOSSES = {
    "clipped": (SurrogateKind.PG_CLIP, ClipConfig(0.2, 0.2)),
    "cispo": (SurrogateKind.CISPO, ClipConfig(None, 0.28)),
}


def expected_gradient(norm: str, loss: str) -> list[float]:
    """Gradient of the expected loss in the logits: every multiset of draws, times how often its orders occur."""
    old = torch.log_softmax(torch.tensor(OLD, dtype=torch.float64), 0)
    logits = torch.tensor(NOW, dtype=torch.float64, requires_grad=True)
    kind, clip = LOSSES[loss]
    config = PolicyLossConfig(RatioKind.TOKEN, kind, clip, Aggregation.TOKEN_MEAN)
    total: Any = 0.0
    for group in combinations_with_replacement(range(4), SIZE):
        draws = torch.tensor(group)
        ways = factorial(SIZE)
        for answer in range(4):
            ways //= factorial(group.count(answer))
        rewards = torch.tensor(REWARDS, dtype=torch.float64)[draws]
        values = polgrad.grpo_advantages(rewards, torch.zeros(SIZE, dtype=torch.long), NORMS[norm])
        found = polgrad.policy_loss(
            config,
            logprobs=torch.log_softmax(logits, 0)[draws][:, None],
            old_logprobs=old[draws][:, None],
            advantages=values[:, None],
            response_mask=torch.ones(SIZE, 1, dtype=torch.bool),
        )
        total = total + ways * torch.exp(old[draws].sum()) * found.loss
    total.backward()
    assert logits.grad is not None
    return [float(value) for value in logits.grad]


def main(path: str) -> None:
    """Write the record."""
    record = {
        "versions": {"polgrad": version("polgrad"), "torch": torch.__version__},
        "rewards": REWARDS,
        "old": OLD,
        "now": NOW,
        "group_size": SIZE,
        "gradients": {f"{norm} {loss}": expected_gradient(norm, loss) for norm in NORMS for loss in LOSSES},
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1])
