"""Record verl's own advantages, losses and KL penalties. Run in tests/ with the interpreter of verl's environment:
python -m frameworks.record_verl OUTPUT.json
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from verl.trainer.ppo import core_algos
from verl.workers.config import ActorConfig

from frameworks.groups import BANDITS, CONSTANT, all_groups, batches, mixed_groups, token_batch
from frameworks.recording import differentiated, numbers, tensors, write

ALONE = ("grpo", "grpo_vectorized", "grpo_passk", "rloo", "rloo_vectorized")
TOGETHER = ("opo", "reinforce_plus_plus", "reinforce_plus_plus_baseline", "gpg")
AGGREGATIONS = ("token-mean", "token-sum", "seq-mean-token-mean", "seq-mean-token-sum", "seq-mean-token-sum-norm")
OPTIONS: list[dict[str, Any]] = [{}, {"clip_ratio": 0.05}, {"clip_ratio_high": 0.28}, {"clip_ratio_c": 10.0}]
DEFAULTS = [
    "clip_ratio",
    "clip_ratio_low",
    "clip_ratio_high",
    "clip_ratio_c",
    "loss_agg_mode",
    "loss_scale_factor",
    "use_kl_loss",
    "kl_loss_coef",
    "kl_loss_type",
]
PENALTIES = ("k1", "k2", "k3", "k1+", "k2+", "k3+", "kl", "mse", "low_var_kl")


def estimate(name: str, rewards: torch.Tensor, lengths: list[int], groups: list[int], **options: Any) -> torch.Tensor:
    """Advantages of answers, one each; the reward stands at the last token."""
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).to(rewards.dtype)
    table = torch.zeros_like(mask)
    table[torch.arange(len(rewards)), torch.tensor(lengths) - 1] = rewards
    given = {"index": np.array(groups), "config": SimpleNamespace(gamma=1.0, get=lambda _, default: default)}
    found, _ = core_algos.get_adv_estimator_fn(name)(table, mask, **{**given, **options})
    assert torch.equal(found, found[:, :1] * mask)
    return found[:, 0]


def of_group(name: str, rewards: list[float], dtype: torch.dtype = torch.float64, **options: Any) -> list[float]:
    """Advantages of one group of answers of one token."""
    size = len(rewards)
    return numbers(estimate(name, torch.tensor(rewards, dtype=dtype), [1] * size, [0] * size, **options))


def of_batch(name: str, batch: dict[str, Any]) -> list[float]:
    """Advantages of two groups of three answers."""
    rewards = torch.tensor(batch["rewards"], dtype=torch.float64).flatten()
    lengths = [length for group in batch["lengths"] for length in group]
    return numbers(estimate(name, rewards, lengths, [0, 0, 0, 1, 1, 1]))


def degenerate(value: float, size: int) -> dict[str, Any]:
    """The largest advantage of a group of equal rewards, in both precisions."""
    largest = {
        str(dtype).removeprefix("torch."): max(map(abs, of_group("grpo", [value] * size, dtype)))
        for dtype in (torch.float32, torch.float64)
    }
    return {"reward": value, "size": size, **largest}


def loss(name: str, aggregation: str, options: dict[str, Any]) -> dict[str, Any]:
    """A policy loss of the token batch and its derivative in each log-probability."""
    batch, mask = tensors(token_batch())
    config = ActorConfig(strategy="fsdp", rollout_n=3, use_dynamic_bsz=True, **options)
    values = batch["advantages"][:, None] * mask
    found, _ = core_algos.get_policy_loss_fn(name)(batch["old"], batch["now"], values, mask, aggregation, config)
    return {
        "options": {"name": name, "aggregation": aggregation, **options},
        **differentiated(found, batch["now"]),
    }


def micro_batches(counted: bool) -> list[float]:
    """Token means of the first and the last three answers, with or without the number of tokens of all six."""
    batch, mask = tensors(token_batch())
    count = int(mask.sum()) if counted else None
    parts = (slice(0, 3), slice(3, 6))
    found = [
        core_algos.agg_loss(batch["now"][part], mask[part], "token-mean", batch_num_tokens=count) for part in parts
    ]
    return [float(value.detach()) for value in found]


def penalty(name: str) -> dict[str, Any]:
    """Values of a KL penalty by token, and its derivative in each log-probability."""
    batch, mask = tensors(token_batch())
    values = core_algos.kl_penalty(batch["now"], batch["reference"], name)
    (gradient,) = torch.autograd.grad((values * mask).sum(), batch["now"])
    return {"values": numbers(values * mask), "gradient": numbers(gradient)}


def main(path: str) -> None:
    """Write the record."""
    defaults = ActorConfig(strategy="fsdp", rollout_n=8, use_dynamic_bsz=True)
    mixed = mixed_groups(1000)
    record = {
        "defaults": {name: getattr(defaults, name) for name in DEFAULTS},
        "mixed": mixed,
        **{name: [of_group(name, group) for group in mixed[: 1000 if name == "grpo" else 100]] for name in ALONE},
        "grpo_float32": [of_group("grpo", group, torch.float32) for group in mixed[:300]],
        "grpo_unscaled": [of_group("grpo", group, norm_adv_by_std_in_grpo=False) for group in mixed[:100]],
        "bandits": [
            {
                "rewards": rewards,
                **{name: [of_group(name, group) for group in all_groups(rewards)] for name in ALONE},
            }
            for rewards in BANDITS
        ],
        "constant": [degenerate(*pair) for pair in CONSTANT],
        "singleton": {"reward": 0.7, **{name: of_group(name, [0.7])[0] for name in ALONE if name != "grpo_passk"}},
        "batches": [{**batch, **{name: of_batch(name, batch) for name in TOGETHER}} for batch in batches(50)],
        "token_batch": token_batch(),
        "losses": [
            loss(name, aggregation, options)
            for name in ("vanilla", "gspo", "cispo")
            for aggregation in AGGREGATIONS
            for options in (OPTIONS if aggregation == "token-mean" else OPTIONS[:1])
        ],
        "micro_batches": {"counted": micro_batches(True), "uncounted": micro_batches(False)},
        "kl_penalty": {name: penalty(name) for name in PENALTIES},
    }
    write(path, ["verl", "transformers", "tensordict", "ray", "torch"], record)


if __name__ == "__main__":
    main(sys.argv[1])
