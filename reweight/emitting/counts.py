"""Counts of the policy at the start and at the end: what an evaluation before and after a run writes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from reweight.emitting.batches import Run, observe

__all__ = ["files", "sources"]

BASE, FINAL = "base.jsonl", "final.jsonl"
STREAM = 2
"""Of random numbers, beside those of the run itself: an evaluation does not change a run."""


def sources(run: Run) -> dict[str, int]:
    """Number of updates of the policy behind each file of rollouts."""
    return {BASE: 0, FINAL: len(run.policies) - 1}


def files(run: Run) -> Iterator[tuple[str, bytes]]:
    """Each file's path and content: id, n, c on each line. The rollouts are fresh ones, not those of the training."""
    rng = np.random.default_rng([run.spec.seed, STREAM])
    for path, updates in sources(run).items():
        accepted = observe(run.spec, run.policies[updates], run.samples, rng)
        rows = (
            {"id": name, "n": run.samples, "c": int(c)} for name, c in zip(run.names, accepted.sum(axis=1), strict=True)
        )
        yield path, "".join(json.dumps(row) + "\n" for row in rows).encode()
