"""The one canonical table that every reader fills: one row a group of samples, with how many were correct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.terminal import line, quoted

__all__ = ["MOST_SAMPLES", "Counts", "Group", "LeftOut", "Rollouts"]

MOST_SAMPLES = 10**9
"""Samples of one prompt; what is beyond is a mistake in the file, and sums stay far from the end of int64."""


@dataclass(frozen=True)
class LeftOut:
    """Rows of a file that were read and not used, with the reason."""

    reason: str
    rows: int


@dataclass(frozen=True)
class Group:
    """Samples of one prompt that belong together: `n` of them, `c` correct."""

    prompt: str
    n: int
    c: int


@dataclass(frozen=True, eq=False)
class Counts:
    """Samples and correct samples by prompt.

    Parameters
    ----------
    prompts : tuple of str
        P different prompt ids.
    n, c : (P,) arrays of int
        Samples and correct samples of each prompt, 0 <= c <= n and n >= 1.

    Raises
    ------
    InputError
        If the arrays differ in length, are empty, or hold an impossible count or one beyond 10^9.

    Examples
    --------
    >>> counts = Counts.of([8, 8, 8], [3, 0, 8])
    >>> counts.samples
    24
    """

    prompts: tuple[str, ...]
    n: NDArray[np.int64]
    c: NDArray[np.int64]

    def __post_init__(self) -> None:
        if not len(self.prompts) == self.n.size == self.c.size:
            raise InputError("prompts, n and c differ in length; give one n and one c for each prompt")
        if self.n.size == 0:
            raise InputError("there is no prompt with a sample; give at least one")
        bad = np.flatnonzero((self.n < 1) | (self.c < 0) | (self.c > self.n))
        if bad.size:
            i = bad[0]
            found = f"prompt {quoted(self.prompts[i])} has c = {self.c[i]} correct of n = {self.n[i]} samples"
            raise InputError(f"{found}; give 0 <= c <= n and n >= 1")
        self.n.flags.writeable = False
        self.c.flags.writeable = False

    @classmethod
    def of(cls, n: Sequence[int], c: Sequence[int]) -> Counts:
        """Counts of prompts that are named by their position."""
        return cls(tuple(str(i) for i in range(len(n))), _integers("n", n), _integers("c", c))

    @property
    def samples(self) -> int:
        """Number of samples of all prompts."""
        return int(self.n.sum())


@dataclass(frozen=True)
class Rollouts:
    """What a reader made of a file.

    Parameters
    ----------
    source : str
        The file's path as it was given.
    format : str
        Name of the reader.
    groups : tuple of Group
        In the order of the file; a prompt may have several.
    understood : tuple of str
        What the reader took the fields for, one sentence each, for the user to contradict.
    left_out : tuple of LeftOut
        Rows that are in the file and not in `groups`.
    """

    source: str
    format: str
    groups: tuple[Group, ...]
    understood: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def counts(self) -> Counts:
        """Pool the groups of each prompt.

        All samples of a prompt in one file are draws from one policy, so they estimate one pass rate; which of them
        were drawn as one group says nothing more about it.

        Examples
        --------
        >>> rollouts = Rollouts("a.jsonl", "counts-jsonl", (Group("x", 8, 3), Group("y", 8, 0), Group("x", 8, 5)))
        >>> table = rollouts.counts()
        >>> table.prompts, table.n.tolist(), table.c.tolist()
        (('x', 'y'), [16, 8], [8, 0])
        """
        n: dict[str, int] = {}
        c: dict[str, int] = {}
        for group in self.groups:
            n[group.prompt] = n.get(group.prompt, 0) + group.n
            c[group.prompt] = c.get(group.prompt, 0) + group.c
        return Counts(tuple(n), _integers("n", list(n.values())), _integers("c", list(c.values())))

    def to_dict(self) -> dict[str, Any]:
        """Source, format, groups, what was understood and what was left out, as plain JSON values."""
        return {
            "source": self.source,
            "format": self.format,
            "groups": [{"prompt": g.prompt, "n": g.n, "c": g.c} for g in self.groups],
            "understood": list(self.understood),
            "left_out": [{"reason": item.reason, "rows": item.rows} for item in self.left_out],
        }

    def __str__(self) -> str:
        samples = sum(group.n for group in self.groups)
        lines = [f"{line(self.source)}: {self.format}, {len(self.groups)} groups, {samples} samples", *self.understood]
        return "\n".join(lines + [f"left out: {item.rows} {item.reason}" for item in self.left_out])


def _integers(name: str, values: Sequence[int]) -> NDArray[np.int64]:
    """Counts (P,) as int64, refused where they are no integers or more than a prompt can have."""
    numbers = np.array(values)
    integers = numbers.dtype.kind in "iu" or all(isinstance(value, int) for value in values)
    if numbers.ndim != 1 or not integers or numbers.dtype.kind == "b":
        raise InputError(f"{name} is not a flat sequence of integers; give one integer for each prompt")
    if numbers.size and (largest := numbers.max()) > MOST_SAMPLES:
        raise InputError(f"{name} = {quoted(int(largest))} is more than 1e9; give the counts of one prompt")
    return numbers.astype(np.int64)
