"""The group size of a TRL completions file, which does not state it: the one that reproduces its advantage column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweight.groups.advantages import LARGEST_REWARD, advantages
from reweight.objectives.advantage import Advantage
from reweight.terminal import listed

__all__ = ["find_blocks"]

# TRL's advantage column is float32 widened; its stabiliser is 1e-4.
TOLERANCE = 2e-5
# In a constant group float32 leaves a residue of the mean, which TRL divides by residue + 1e-4: up to 6e-4 was seen.
CONSTANT_GROUP_TOLERANCE = 1e-3
MOST_COLUMNS = 6
RECIPES = {
    "(reward - group mean) / (group std + 1e-4)": Advantage(ddof=1, eps=1e-4),
    "reward - group mean": Advantage(scale="none"),
    "(reward - group mean) / (batch std + 1e-4)": Advantage(scale="batch_std", ddof=1, eps=1e-4),
}


def find_blocks(
    prompts: Sequence[str], rewards: Mapping[str, Sequence[Any]], advantage: Sequence[Any]
) -> tuple[int | None, str]:
    """Group size and a sentence on how it was found; None where no size, or several, reproduce the advantages.

    A size fits if every block of that many consecutive rows has one prompt and its advantages follow from the
    unweighted sum of some of the reward columns.
    """
    target = _floats(advantage)
    if not np.isfinite(target).all():
        return None, "group size not known: the advantage column has gaps or infinite values"
    columns = {name: _floats(values) for name, values in rewards.items()}
    found: dict[int, str] = {}
    for size in _sizes(prompts):
        for names in _column_sets(tuple(columns)):
            recipe = _fits(_total([columns[name] for name in names]), target, size)
            if recipe is not None:
                found[size] = f"group size {size}: advantage = {recipe} with reward = {listed(names, joint=' + ')}"
                break
    if len(found) == 1:
        return next(iter(found.items()))
    if found:
        return None, f"group size not known: the sizes {listed(found)} reproduce the advantage column equally well"
    return None, "group size not known: no size reproduces the advantage column from unweighted rewards"


def _floats(values: Sequence[Any]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else float(value) for value in values])


def _sizes(prompts: Sequence[str]) -> list[int]:
    rows = len(prompts)
    return [
        size
        for size in range(2, rows + 1)
        if rows % size == 0 and all(len(set(prompts[i : i + size])) == 1 for i in range(0, rows, size))
    ]


def _column_sets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """All columns first; then, as a column may hold something else than a reward, each smaller set."""
    smallest = 1 if len(names) <= MOST_COLUMNS else len(names)
    for count in range(len(names), smallest - 1, -1):
        yield from combinations(names, count)


def _total(columns: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    stacked = np.array(columns)
    missing = np.isnan(stacked)
    return np.where(missing.all(0), np.nan, np.where(missing, 0.0, stacked).sum(0))


def _fits(total: NDArray[np.float64], target: NDArray[np.float64], size: int) -> str | None:
    groups = total.reshape(-1, size)
    present = ~np.isnan(groups)
    if (np.abs(groups[present]) > LARGEST_REWARD).any():
        return None
    low = np.where(present, groups, np.inf).min(1)
    high = np.where(present, groups, -np.inf).max(1)
    allowed = np.where(high > low, TOLERANCE, CONSTANT_GROUP_TOLERANCE)[:, None] * max(1.0, float(np.abs(target).max()))
    for name, recipe in RECIPES.items():
        if (np.abs(advantages(groups, recipe) - target.reshape(-1, size)) <= allowed).all():
            return name
    return None
