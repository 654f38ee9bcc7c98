"""What verl 0.9.1 writes: a dump of rollouts a step, and the metrics of its file logger."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweight.emitting.batches import Batch, Run
from reweight.errors import InputError

__all__ = ["files", "metrics", "sources"]

Floats = NDArray[np.float64]
WRONG_AND_RIGHT = (-1.0, 1.0)


def sources(run: Run) -> dict[str, int]:
    """Number of updates of the policy behind each file of rollouts."""
    return {_path(batch): batch.step - 1 for batch in run.batches}


def files(run: Run, scores: tuple[float, float] = WRONG_AND_RIGHT) -> Iterator[tuple[str, bytes]]:
    """Each file's path and content.

    Parameters
    ----------
    scores : (float, float)
        What the files call wrong and right: -1 and 1, or 0 and 1. Advantages are of rewards 0 and 1 all the same.

    Raises
    ------
    InputError
        If the scores are neither.
    """
    if scores not in ((-1.0, 1.0), (0.0, 1.0)):
        raise InputError(f"the scores {scores} are neither (-1, 1) nor (0, 1): give one of them")
    for batch in run.batches:
        yield _path(batch), _dump(run, batch, scores)
    rows = ({"step": batch.step, "data": metrics(batch, scores)} for batch in run.batches)
    yield "metrics.jsonl", "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows).encode()


def metrics(batch: Batch, scores: tuple[float, float] = WRONG_AND_RIGHT) -> dict[str, Any]:
    """What the file logger has of a step, with verl's names and definitions.

    Statistics of advantages are over tokens, those of scores over samples. What needs a tokenizer, a clock or a window
    of generation is left out.
    """
    score = np.where(batch.accepted, scores[1], scores[0])
    lengths, found = batch.lengths, batch.advantages
    token_mean = float((found * lengths).sum() / lengths.sum())
    worth = {"mean": token_mean, "max": float(found.max()), "min": float(found.min())}
    return {
        **{f"critic/{name}/{kind}": value for name in ("score", "rewards") for kind, value in _spread(score).items()},
        **{f"critic/{name}/{kind}": value for name in ("advantages", "returns") for kind, value in worth.items()},
        **{f"response_length/{kind}": value for kind, value in _spread(lengths).items()},
        "response/aborted_ratio": 0.0,
        "actor/entropy": batch.entropy,
        "training/global_step": batch.step,
        "training/epoch": batch.step - 1,  # counted from 0; each step sees every prompt once
    }


def _path(batch: Batch) -> str:
    return f"rollouts/{batch.step}.jsonl"


def _dump(run: Run, batch: Batch, scores: tuple[float, float]) -> bytes:
    lines = []
    for i, problem in enumerate(run.problems):
        truth = problem.answers[int(problem.correct.argmax())] if problem.correct.any() else ""
        for answer, accepted in zip(batch.answers[i].ravel(), batch.accepted[i].ravel().tolist(), strict=True):
            entry = {
                "input": f"user\n{run.names[i]}\nassistant\n",
                "output": problem.answers[answer],
                "gts": truth,
                "score": scores[accepted],
                "step": batch.step,
                "acc": accepted,
                "pred": problem.answers[answer],
            }
            lines.append(json.dumps(entry, ensure_ascii=False) + "\n")
    return "".join(lines).encode()


def _spread(values: Floats) -> dict[str, float]:
    return {"mean": float(values.mean()), "max": float(values.max()), "min": float(values.min())}
