"""One run: the pass rate with the theory's ceilings, and how the distribution moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reweight.plots import style

if TYPE_CHECKING:
    import xarray
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["answers", "pass_rate", "spread"]

SHOWN_K = (1, 8, 64)
MOST_ANSWERS = 10
COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.RED, style.PURPLE)
LINES = ("-", "--")
BELOW: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0.0, -0.3), "ncols": 2, "borderaxespad": 0.0}


def pass_rate(axes: Axes, path: xarray.Dataset) -> list[Artist]:
    """Draw pass@k for k = 1, 8, 64, or the expected reward where there is no correct set, with the ceilings."""
    artists: list[Artist] = []
    step = path.step.values
    if "pass_at_k" in path:
        for k, colour in zip(SHOWN_K, style.shades(len(SHOWN_K))[::-1], strict=True):
            artists += axes.plot(step, path.pass_at_k.sel(k=k).values, color=colour, label=f"pass@{k}")
        axes.set_ylim(-0.02, 1.02)
        axes.set_ylabel("probability")
    else:
        artists += axes.plot(step, path.expected_reward.values, color=style.BLUE, label="expected reward")
        axes.set_ylabel("reward")
    for name, colour, label in (
        ("pass_rate_ceiling", style.RED, "ceiling by step size"),
        ("leash_ceiling", style.ORANGE, "ceiling by KL"),
    ):
        if name in path:
            artists += axes.plot(step, path[name].values, color=colour, linestyle=(0, (4, 2)), label=label)
    axes.set_xlabel("step")
    axes.legend(frameon=False, **BELOW)
    return artists


def spread(axes: Axes, path: xarray.Dataset) -> list[Artist]:
    """Draw the entropy and the KL from the reference, in nats."""
    artists: list[Artist] = []
    for name, colour, label in (("entropy", style.GREEN, "entropy"), ("kl", style.PURPLE, "KL from reference")):
        if name in path:
            artists += axes.plot(path.step.values, path[name].values, color=colour, label=label)
    axes.set_xlabel("step")
    axes.set_ylabel("nats")
    axes.legend(frameon=False, **BELOW)
    return artists


def answers(axes: Axes, path: xarray.Dataset) -> list[Artist]:
    """Draw the probability of each answer; of many, the ones that were largest at some step."""
    table = np.exp(path.log_probs.values)
    order = np.argsort(-table.max(axis=0), kind="stable")[:MOST_ANSWERS]
    artists: list[Artist] = []
    for position, index in enumerate(order):
        colour, line = COLOURS[position % len(COLOURS)], LINES[position // len(COLOURS)]
        name = str(path.answer.values[index])
        artists += axes.plot(path.step.values, table[:, index], label=name, color=colour, linestyle=line)
    axes.set_yscale("log")
    axes.set_ylim(max(table[table > 0].min(), 1e-12) / 2, 2)
    axes.set_xlabel("step")
    axes.set_ylabel("probability of answer")
    axes.legend(frameon=False, title="answer", **BELOW)
    return artists
