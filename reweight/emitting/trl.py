"""What TRL 1.16 writes with log_completions: a parquet of completions a step, and the trainer's log history."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweight.emitting.batches import Batch, Run
from reweight.errors import InputError
from reweight.objectives.kl import k3
from reweight.objectives.loss import token_weights
from reweight.updates import SampledPolicyGradient

__all__ = ["files", "log_row", "sources"]

Floats = NDArray[np.float64]
REWARD = "accuracy_reward"
"""The name of TRL's own verifier."""


def sources(run: Run) -> dict[str, int]:
    """Number of updates of the policy behind each file of rollouts."""
    return {_path(batch): batch.step - 1 for batch in run.batches}


def files(run: Run) -> Iterator[tuple[str, bytes]]:
    """Each file's path and content.

    Raises
    ------
    InputError
        If a group has one rollout, which TRL refuses.
    """
    if run.spec.objective.group_size < 2:
        raise InputError("TRL compares at least two completions of a prompt: take a group size of 2 or more")
    for batch in run.batches:
        yield _path(batch), _completions(run, batch)
    log = [log_row(run, batch) for batch in run.batches]
    # The trainer's summary repeats the last step and has no reward.
    summary = {"train_loss": float(np.mean([row["loss"] for row in log])), "epoch": log[-1]["epoch"]}
    yield "log_history.json", json.dumps([*log, {**summary, "step": log[-1]["step"]}], allow_nan=False).encode()


def log_row(run: Run, batch: Batch) -> dict[str, Any]:
    """One entry of the log history, with TRL's names and definitions; numbers are float32 as there.

    `reward_std` is over all completions with ddof 1, `frac_reward_zero_std` the share of completions whose group has
    equal rewards. What needs a tokenizer, a clock or a window of generation (num_tokens, step_time) is left out; every
    completion ends by itself.
    """
    rewards, lengths = batch.rewards, batch.lengths
    mean, spread = rewards.mean(), rewards.std(ddof=1)
    ends = {"mean": lengths.mean(), "min": lengths.min(), "max": lengths.max()}
    found = {
        "loss": _loss(run, batch),
        **_gradient_norm(run, batch),
        "learning_rate": run.update.step,
        **{f"completions/{name}_length": value for name, value in ends.items()},
        "completions/clipped_ratio": 0.0,
        **{f"completions/{name}_terminated_length": value for name, value in ends.items()},
        f"rewards/{REWARD}/mean": mean,
        f"rewards/{REWARD}/std": spread,
        "reward": mean,
        "reward_std": spread,
        "frac_reward_zero_std": (np.ptp(rewards, axis=-1) == 0).mean(),
        **_kl(run, batch),
        "entropy": batch.entropy,
        **{f"clip_ratio/{name}": 0.0 for name in ("low_mean", "high_mean", "region_mean", "low_min", "high_max")},
        "epoch": float(batch.step),  # each step sees every prompt once
    }
    exact = ("learning_rate", "epoch")
    row = {name: float(value) if name in exact else float(np.float32(value)) for name, value in found.items()}
    return {**row, "step": batch.step}


def _path(batch: Batch) -> str:
    return f"completions/completions_{batch.step:05d}.parquet"


def _completions(run: Run, batch: Batch) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    rows = batch.answers[0].size
    texts = [problem.answers[i] for problem, own in zip(run.problems, batch.answers, strict=True) for i in own.ravel()]
    columns = {
        "step": pa.array([batch.step] * len(texts), pa.int64()),
        "prompt": pa.array([name for name in run.names for _ in range(rows)], pa.large_string()),
        "completion": pa.array(texts, pa.large_string()),
        REWARD: pa.array(batch.rewards.ravel()),
        "advantage": pa.array(batch.advantages.astype(np.float32).astype(np.float64).ravel()),
    }
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def _loss(run: Run, batch: Batch) -> float:
    """The surrogate's value with every ratio at 1, and the KL penalty of the answers."""
    objective, lengths = run.spec.objective, batch.lengths.ravel()
    weights = token_weights(
        lengths,
        objective.aggregation,
        constant_length=objective.constant_length,
        group_size=objective.group_size,
    )
    loss = -float(weights @ (lengths * batch.advantages.ravel()))
    if objective.kl is None:
        return loss
    return loss + objective.kl.beta * float(weights @ objective.kl.value(_log_ratios(run, batch).ravel()))


def _kl(run: Run, batch: Batch) -> dict[str, float]:
    """TRL's k3, of answers but by token: the tokens of an answer of a table have no ratios of their own."""
    kl = run.spec.objective.kl
    return {} if kl is None else {"kl": float(k3(_log_ratios(run, batch)).sum() / batch.lengths.sum())}


def _log_ratios(run: Run, batch: Batch) -> Floats:
    """Log pi - log reference of each rollout, shape (P, groups, G); the reference is the start."""
    found = []
    for problem, answers in zip(run.problems, batch.answers, strict=True):
        now, start = (policy.log_probs(problem).total for policy in (batch.policy, run.spec.policy))
        found.append(now[answers] - start[answers])
    return np.array(found)


def _gradient_norm(run: Run, batch: Batch) -> dict[str, float]:
    """The norm of the gradient that moved the policy; there is none where the update is exact."""
    update = run.update
    if not isinstance(update, SampledPolicyGradient) or update.step == 0:
        return {}
    before, after = (run.policies[i].parameters for i in (batch.step - 1, batch.step))
    moved = np.subtract(after, before, out=np.zeros_like(before), where=np.isfinite(before))
    return {"grad_norm": float(np.linalg.norm(moved) / update.step)}
