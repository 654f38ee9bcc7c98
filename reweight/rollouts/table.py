"""The one canonical table that every reader fills: one row a group of samples, with how many were correct."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.terminal import line, quoted

__all__ = ["MOST_SAMPLES", "Answers", "Counts", "Group", "Groups", "LeftOut", "Rollouts"]

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
class Groups(Sequence[Group]):
    """Groups as columns: of a million of them each takes some bytes.

    Parameters
    ----------
    prompts : tuple of str
        P different prompt ids, in the order of the file.
    prompt : (M,) array of int
        Position in `prompts` of each group.
    n, c : (M,) arrays of int
        Samples, and correct samples.

    Examples
    --------
    >>> groups = Groups.of([Group("x", 8, 3), Group("y", 8, 0), Group("x", 4, 4)])
    >>> len(groups), groups[2], groups.prompt.tolist()
    (3, Group(prompt='x', n=4, c=4), [0, 1, 0])
    """

    prompts: tuple[str, ...]
    prompt: NDArray[np.int64]
    n: NDArray[np.int64]
    c: NDArray[np.int64]

    @classmethod
    def of(cls, groups: Iterable[Group]) -> Groups:
        """The columns of some groups."""
        rows = list(groups)
        index: dict[str, int] = {}
        place = [index.setdefault(group.prompt, len(index)) for group in rows]
        n, c = (_integers(name, [getattr(group, name) for group in rows]) for name in ("n", "c"))
        return cls(tuple(index), np.array(place, np.int64), n, c)

    def __len__(self) -> int:
        return self.n.size

    @overload
    def __getitem__(self, place: int) -> Group: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[Group, ...]: ...

    def __getitem__(self, place: int | slice) -> Group | tuple[Group, ...]:
        if isinstance(place, slice):
            return tuple(self[i] for i in range(*place.indices(len(self))))
        return Group(self.prompts[self.prompt[place]], int(self.n[place]), int(self.c[place]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[Group]:
        return map(self.__getitem__, range(len(self)))


@dataclass(frozen=True, eq=False)
class Answers:
    """How often each answer was given, where a file holds answers and not only verdicts.

    Parameters
    ----------
    prompt : (A,) array of int
        Position in the prompts of `Rollouts.counts`.
    text : tuple of str
        The answers; one that was judged both ways stands twice.
    correct : (A,) array of bool
    count : (A,) array of int
    """

    prompt: NDArray[np.int64]
    text: tuple[str, ...]
    correct: NDArray[np.bool_]
    count: NDArray[np.int64]

    def equal_pairs(self, prompts: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of samples with one and the same answer, by prompt (P,): both correct, both wrong.

        Divided by n (n - 1)/2 they estimate the sum of squared probabilities of correct, and of wrong answers.
        """
        pairs = self.count * (self.count - 1) // 2
        totals = [np.zeros(prompts, np.int64) for _ in range(2)]
        for total, chosen in zip(totals, (self.correct, ~self.correct), strict=True):
            np.add.at(total, self.prompt[chosen], pairs[chosen])
        return totals[0], totals[1]


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
        if self.n.max() > MOST_SAMPLES:
            raise InputError(f"n = {quoted(int(self.n.max()))} is more than 1e9; give the counts of one prompt")
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
    groups : Groups
        In the order of the file; a prompt may have several.
    understood : tuple of str
        What the reader took the fields for, one sentence each, for the user to contradict.
    left_out : tuple of LeftOut
        Rows that are in the file and not in `groups`.
    answers : Answers, optional
        How often each answer was given, where the file says so.
    """

    source: str
    format: str
    groups: Groups
    understood: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    answers: Answers | None = None

    def counts(self) -> Counts:
        """Pool the groups of each prompt.

        All samples of a prompt in one file are draws from one policy, so they estimate one pass rate; which of them
        were drawn as one group says nothing more about it.

        Examples
        --------
        >>> groups = Groups.of([Group("x", 8, 3), Group("y", 8, 0), Group("x", 8, 5)])
        >>> table = Rollouts("a.jsonl", "counts-jsonl", groups).counts()
        >>> table.prompts, table.n.tolist(), table.c.tolist()
        (('x', 'y'), [16, 8], [8, 0])
        """
        n, c = (np.zeros(len(self.groups.prompts), np.int64) for _ in range(2))
        np.add.at(n, self.groups.prompt, self.groups.n)
        np.add.at(c, self.groups.prompt, self.groups.c)
        return Counts(self.groups.prompts, n, c)

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
        samples = int(self.groups.n.sum())
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
