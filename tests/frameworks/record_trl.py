"""Record what TRL's GRPOTrainer does with given rewards and given log-probabilities.

A trainer is built around a random model of six words. Its own `_generate_and_score_completions` samples from it, asks a
reward function that answers with the given rewards, and normalises them; its own `_compute_loss` is told given
log-probabilities in place of the model's. Run in tests/ with the interpreter of TRL's environment:
python -m frameworks.record_trl OUTPUT.json
"""

from __future__ import annotations

import logging
import sys
import tempfile
import warnings
from itertools import groupby
from typing import Any

import torch
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.utils.logging import disable_progress_bar
from trl import GRPOConfig, GRPOTrainer

from frameworks.groups import BANDITS, CONSTANT, SEED, all_groups, mixed_groups, token_batch
from frameworks.recording import differentiated, numbers, tensors, write

Rewards = list[list[float | None]]
WORDS = {"<pad>": 0, "<eos>": 1, "a": 2, "b": 3, "c": 4, "d": 5}
CHANNELS = [[[1.0, 0.2], [0.0, 0.7], [0.5, 0.2]], [[1.0, 0.0], [0.0, 0.3], [0.0, 0.3]]]
DEFAULTS = [
    "num_generations",
    "max_completion_length",
    "loss_type",
    "scale_rewards",
    "multi_objective_aggregation",
    "importance_sampling_level",
    "num_iterations",
    "epsilon",
    "epsilon_high",
    "delta",
    "beta",
    "use_bias_correction_kl",
]
MISSING: Rewards = [[1.0, None, 0.0, 0.5], [None, 2.0, None, None], [None, None, None, None], [1.0, None, 1.0, 1.0]]
LOSSES = [
    {"loss_type": kind, "importance_sampling_level": level, **clip}
    for kind in ("dapo", "bnpo", "grpo", "dr_grpo", "luspo")
    for level in ("token", "sequence")
    for clip in ({}, {"epsilon": 0.2, "epsilon_high": 0.28, "delta": 2.0})
] + [
    {"loss_type": "cispo"},
    {"loss_type": "cispo", "epsilon_high": 5.0},
    {"beta": 0.1},
    {"beta": 0.1, "use_bias_correction_kl": False},
]


def make_trainer(columns: list[list[float | None]], size: int, **options: Any) -> GRPOTrainer:
    """A trainer whose k-th reward function answers with the k-th column."""
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel(WORDS, unk_token="a")), pad_token="<pad>", eos_token="<eos>"
    )
    shape = LlamaConfig(
        vocab_size=len(WORDS), hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1
    )
    with tempfile.TemporaryDirectory() as folder:
        LlamaForCausalLM(shape).save_pretrained(folder)  # a trainer with a KL term loads its reference from there
        return GRPOTrainer(
            model=LlamaForCausalLM.from_pretrained(folder),
            reward_funcs=[lambda column=column, **_: column for column in columns],
            args=GRPOConfig(
                folder,
                use_cpu=True,
                bf16=False,
                report_to="none",
                gradient_accumulation_steps=1,
                per_device_train_batch_size=len(columns[0]),
                num_generations=size,
                **{"max_completion_length": 1, **options},
            ),
            train_dataset=Dataset.from_dict({"prompt": ["a"] * len(columns[0])}),
            processing_class=tokenizer,
        )


def advantages(columns: list[list[float | None]], size: int, **options: Any) -> list[list[float]]:
    """Advantages of one batch of groups of one size, one group a row."""
    trainer = make_trainer(columns, size, **options)
    trainer.model.train()
    found = trainer._generate_and_score_completions([{"prompt": "a"}] * len(columns[0]))["advantages"]
    return numbers(found.reshape(-1, size))


def group_advantages(groups: Rewards, **options: Any) -> list[list[float]]:
    """Advantages of groups of any sizes, those of one size in one batch."""
    found: list[list[float]] = [[]] * len(groups)
    places = sorted(range(len(groups)), key=lambda place: len(groups[place]))
    for size, chosen in groupby(places, key=lambda place: len(groups[place])):
        same = list(chosen)
        rows = advantages([[reward for place in same for reward in groups[place]]], size, **options)
        for place, row in zip(same, rows, strict=True):
            found[place] = row
    return found


def loss(options: dict[str, Any]) -> dict[str, Any]:
    """The trainer's loss of the token batch and its derivative in each log-probability."""
    batch, mask = tensors(token_batch())
    rows, width = mask.shape
    trainer = make_trainer([[0.0] * rows], 3, max_completion_length=width, **options)
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    trainer._get_per_token_logps_and_entropies = lambda *_, **__: (batch["now"], torch.zeros(rows, width), None)
    prompt = torch.ones(rows, 1, dtype=torch.long)
    found = trainer._compute_loss(
        trainer.model,
        {
            "prompt_ids": prompt,
            "prompt_mask": prompt,
            "completion_ids": mask,
            "completion_mask": mask,
            "advantages": batch["advantages"],
            "old_per_token_logps": batch["old"],
            "ref_per_token_logps": batch["reference"],
            "num_items_in_batch": mask.sum(),
        },
    )
    return {"options": options, **differentiated(found, batch["now"])}


def main(path: str) -> None:
    """Write the record."""
    warnings.simplefilter("ignore")
    logging.disable()
    disable_progress_bar()
    torch.manual_seed(SEED)
    mixed: Any = mixed_groups(1000)
    constant = [[value] * size for value, size in CONSTANT]
    flat = [[answer[k] for group in CHANNELS for answer in group] for k in range(2)]
    defaults = GRPOConfig("none", use_cpu=True, report_to="none")
    record = {
        "defaults": {name: getattr(defaults, name) for name in DEFAULTS},
        "mixed": mixed,
        "group": group_advantages(mixed),
        "none": group_advantages(mixed[:200], scale_rewards="none"),
        "batch": advantages([[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]], 3, scale_rewards="batch"),
        "channels": {
            "rewards": CHANNELS,
            "weights": [1.0, 0.5],
            **{
                order: advantages(flat, 3, multi_objective_aggregation=order, reward_weights=[1.0, 0.5])
                for order in ("sum_then_normalize", "normalize_then_sum")
            },
        },
        "missing": {"rewards": MISSING, "advantages": group_advantages(MISSING)},
        "bandits": [{"rewards": rewards, "group": group_advantages([*all_groups(rewards)])} for rewards in BANDITS],
        "constant": [
            {"reward": value, "size": size, "float32": max(map(abs, row))}
            for (value, size), row in zip(CONSTANT, group_advantages(constant), strict=True)
        ],
        "token_batch": token_batch(),
        "losses": [loss(options) for options in LOSSES],
    }
    write(path, ["trl", "transformers", "datasets", "accelerate", "torch"], record)


if __name__ == "__main__":
    main(sys.argv[1])
