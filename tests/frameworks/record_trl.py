"""Record the advantages of TRL's GRPOTrainer, by running the statements of its own method on given rewards.

The statements are cut out of the installed source by their syntax (the `if` on multi_objective_aggregation in
`_generate_and_score_completions`), so nothing is retyped. Run with the interpreter of TRL's environment:
python record_trl.py OUTPUT.json
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
import textwrap
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

import torch
from trl.trainer import grpo_trainer

from groups import CONSTANT, mixed_groups


def advantage_code() -> Any:
    """The block of the method that turns rewards_per_func into advantages, compiled."""
    source = textwrap.dedent(inspect.getsource(grpo_trainer.GRPOTrainer._generate_and_score_completions))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.If) and "multi_objective_aggregation" in ast.unparse(node.test):
            return compile(ast.Module([node], []), "grpo_trainer.py", "exec")
    raise SystemExit("the block on multi_objective_aggregation is not where it was")


CODE = advantage_code()


def advantages(rewards: list[float], size: int, **options: Any) -> list[float]:
    """Advantages of a batch of groups of one size, in float32 as in the trainer."""
    table = torch.tensor(rewards, dtype=torch.float32).reshape(len(rewards), -1)
    trainer = SimpleNamespace(
        multi_objective_aggregation=options.get("aggregation", "sum_then_normalize"),
        scale_rewards=options.get("scale", "group"),
        reward_weights=torch.tensor(options.get("weights", [1.0] * table.shape[1])),
        reward_funcs=[None] * table.shape[1],
    )
    scope = {
        **vars(grpo_trainer),
        "self": trainer,
        "rewards_per_func": table,
        "num_generations": size,
        "device": "cpu",
        "unscorable_mask": torch.isnan(table).all(dim=1),
    }
    exec(CODE, scope)
    return [float(value) for value in torch.nan_to_num(scope["advantages"], nan=0.0)]


def main(path: str) -> None:
    """Write the record."""
    batch = [[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    channels = [[1.0, 0.2], [0.0, 0.7], [0.5, 0.2], [1.0, 0.0], [0.0, 0.3], [0.0, 0.3]]
    record = {
        "versions": {"trl": version("trl"), "torch": torch.__version__},
        "group": [advantages(group, len(group)) for group in mixed_groups(1000)],
        "none": [advantages(group, len(group), scale="none") for group in mixed_groups(100, seed=1)],
        "batch": advantages([r for row in batch for r in row], 3, scale="batch"),
        "normalize_then_sum": advantages(channels, 3, aggregation="normalize_then_sum", weights=[1.0, 0.5]),
        "missing": advantages([1.0, float("nan"), 0.0, 0.5], 4),
        "constant": [advantages(group, len(group)) for group in CONSTANT],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(record, file, separators=(",", ":"))


if __name__ == "__main__":
    main(sys.argv[1])
