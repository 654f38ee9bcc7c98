"""Record polgrad's expected advantages and losses: its functions on all groups of six from a policy of four answers.

The policy is a tree: one of three tokens at the root, one of two below the last of them; so two answers have one token
and two have two. Run in tests/ with the interpreter of TRL's environment, which holds polgrad too:
python -m frameworks.record_polgrad OUTPUT.json
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from math import factorial
from typing import Any

import polgrad
import torch
from polgrad import Aggregation, ClipConfig, GroupNormConfig, PolicyLossConfig, RatioKind, SurrogateKind
from polgrad.kl import KLEstimator, KLLossConfig

from frameworks.recording import differentiated, write

REWARDS = torch.tensor([1.0, 0.0, 0.5, 0.25], dtype=torch.float64)
LOGITS = {
    "old": [0.3, -0.5, 0.4, 0.2, -0.6],
    "now": [0.9, -0.7, -0.3, -0.6, 0.7],
    "reference": [0.1, 0.2, -0.1, 0.3, 0.0],
}
SIZE = 6
CONSTANT_LENGTH = 5
TOKENS = torch.tensor([[True, False], [True, False], [True, True], [True, True]])
ADVANTAGES = {
    "grpo": lambda rewards, groups: polgrad.grpo_advantages(rewards, groups, GroupNormConfig()),
    "grpo ddof 0": lambda rewards, groups: polgrad.grpo_advantages(
        rewards, groups, GroupNormConfig(eps=1e-6, unbiased=False)
    ),
    "dr_grpo": lambda rewards, groups: polgrad.grpo_advantages(rewards, groups, GroupNormConfig(scale="none")),
    "rloo": polgrad.rloo_advantages,
}
RATIOS = {
    "token": (RatioKind.TOKEN, SurrogateKind.PG_CLIP, ClipConfig(0.2, 0.28)),
    "token dual": (RatioKind.TOKEN, SurrogateKind.PG_CLIP, ClipConfig(0.2, 0.2, ratio_cap=1.5)),
    "token unclipped": (RatioKind.TOKEN, SurrogateKind.PG, None),
    "sequence": (RatioKind.SEQUENCE, SurrogateKind.PG_CLIP, ClipConfig(0.2, 0.28)),
    "sequence by token": (RatioKind.SEQUENCE_TOKEN, SurrogateKind.PG_CLIP, ClipConfig(0.2, 0.28)),
    "cispo": (RatioKind.TOKEN, SurrogateKind.CISPO, ClipConfig(None, 0.28)),
}
PENALTIES = [KLEstimator.K1, KLEstimator.K2, KLEstimator.K3]


def log_probs(logits: torch.Tensor) -> torch.Tensor:
    """Log-probabilities by answer and token, (4, 2); zero where there is no token."""
    root, below = torch.log_softmax(logits[:3], 0), torch.log_softmax(logits[3:], 0)
    none = torch.zeros((), dtype=torch.float64)
    return torch.stack([root[[0, 1, 2, 2]], torch.stack([none, none, below[0], below[1]])], dim=1)


OLD, REFERENCE = (log_probs(torch.tensor(LOGITS[name], dtype=torch.float64)) for name in ("old", "reference"))


def groups() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Every multiset of draws, with the probability that a group is one of its orders."""
    for group in combinations_with_replacement(range(4), SIZE):
        ways = factorial(SIZE)
        for answer in range(4):
            ways //= factorial(group.count(answer))
        draws = torch.tensor(group)
        yield draws, ways * torch.exp(OLD.sum(1)[draws].sum())


def weights(norm: str) -> list[float]:
    """Expected advantage of the first draw given which answer it is: all 4096 groups in order, in one batch."""
    draws = torch.tensor(list(product(range(4), repeat=SIZE)))
    ids = torch.arange(len(draws)).repeat_interleave(SIZE)
    first = ADVANTAGES[norm](REWARDS[draws.flatten()], ids).reshape(-1, SIZE)[:, 0]
    others = torch.exp(OLD.sum(1)[draws[:, 1:]].sum(1))
    return [float((others * first)[draws[:, 0] == answer].sum()) for answer in range(4)]


def expected(norm: str, config: PolicyLossConfig, whole: bool = False) -> dict[str, Any]:
    """The expected loss and its gradient in the logits; `whole` takes each answer for one token."""
    logits = torch.tensor(LOGITS["now"], dtype=torch.float64, requires_grad=True)
    now, old, mask = log_probs(logits), OLD, TOKENS
    if whole:
        now, old, mask = now.sum(1, keepdim=True), old.sum(1, keepdim=True), TOKENS[:, :1]
    total: Any = 0.0
    for draws, probability in groups():
        found = polgrad.policy_loss(
            config,
            logprobs=now[draws],
            old_logprobs=old[draws],
            advantages=ADVANTAGES[norm](REWARDS[draws], torch.zeros(SIZE, dtype=torch.long)),
            response_mask=mask[draws],
            ref_logprobs=REFERENCE[draws] if config.kl else None,
        )
        total = total + probability * found.loss
    return differentiated(total, logits)


def loss(norm: str, ratio: str, aggregation: Aggregation, kl: KLEstimator | None = None) -> dict[str, Any]:
    """Expected loss of the policy by token."""
    config = PolicyLossConfig(
        *RATIOS[ratio],
        aggregation,
        norm_len=CONSTANT_LENGTH if aggregation is Aggregation.TOKEN_SUM_NORM else None,
        kl=None if kl is None else KLLossConfig(kl, 0.1),
    )
    options = {"norm": norm, "ratio": ratio, "aggregation": aggregation.value, "kl": None if kl is None else kl.value}
    return {"options": options, **expected(norm, config)}


def whole_loss(norm: str, ratio: str) -> dict[str, Any]:
    """Expected loss where each answer is one token."""
    config = PolicyLossConfig(*RATIOS[ratio], Aggregation.TOKEN_MEAN)
    return {"options": {"norm": norm, "ratio": ratio}, **expected(norm, config, whole=True)}


def main(path: str) -> None:
    """Write the record."""
    plain = Aggregation.SEQ_MEAN_TOKEN_SUM
    record = {
        "rewards": REWARDS.tolist(),
        **LOGITS,
        "group_size": SIZE,
        "constant_length": CONSTANT_LENGTH,
        "weights": {norm: weights(norm) for norm in ADVANTAGES},
        "losses": [
            *(loss("grpo", ratio, aggregation) for ratio in RATIOS for aggregation in Aggregation),
            *(loss(norm, "token", plain) for norm in ADVANTAGES if norm != "grpo"),
            *(loss("grpo", "token", Aggregation.TOKEN_MEAN, kl) for kl in PENALTIES),
        ],
        "whole": [
            whole_loss(norm, ratio) for norm in ADVANTAGES for ratio in ("token", "token dual", "token unclipped")
        ],
    }
    write(path, ["polgrad", "torch"], record)


if __name__ == "__main__":
    main(sys.argv[1])
