"""What the recorders share: the tensors of a batch, numbers as short as they can be, and the file."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

import numpy as np
import torch


def numbers(values: torch.Tensor) -> Any:
    """Nested lists of the shortest decimals that are read back as the same numbers of the same precision."""
    array = values.detach().numpy()
    return np.vectorize(lambda value: float(str(value)), otypes=[float])(array).tolist()


def tensors(batch: dict[str, Any]) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Tensors of a token batch in float64, with log-probabilities that are differentiated, and its mask."""
    found = {name: torch.tensor(batch[name], dtype=torch.float64) for name in ("now", "old", "reference", "advantages")}
    found["now"].requires_grad_()
    steps = torch.arange(found["now"].shape[1])
    return found, (steps < torch.tensor(batch["lengths"])[:, None]).long()


def differentiated(loss: torch.Tensor, leaf: torch.Tensor) -> dict[str, Any]:
    """A loss, and its gradient in what it was computed from."""
    (gradient,) = torch.autograd.grad(loss, leaf)
    return {"loss": float(loss.detach()), "gradient": numbers(gradient)}


def write(path: str, packages: list[str], record: dict[str, Any]) -> None:
    """Write the record with the versions of the packages."""
    versions = {name: version(name).split("+")[0] for name in packages}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"versions": versions, **record}, file, separators=(",", ":"))
        file.write("\n")
