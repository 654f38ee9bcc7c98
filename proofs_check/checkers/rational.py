"""Tables of cases in exact arithmetic: a whole finite domain; the smallest counterexample is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any

from proofs_check.outcome import Outcome, refuted, unknown, verified
from proofs_check.witness import size

__all__ = ["Undecided", "check_all", "groups", "policies"]

Case = Mapping[str, Any]
Violation = Callable[..., "Mapping[str, Any] | None"]


class Undecided(Exception):
    """Raised by a violation that cannot tell, for example because two balls overlap."""


def check_all(
    cases: Iterable[Case], violation: Violation, *, domain: str, method: str, arithmetic: str = "exact arithmetic"
) -> Outcome:
    """Go through every case of a finite domain, smallest first.

    Parameters
    ----------
    cases : iterable of dict
        The complete domain. The keys ``N``, ``G`` and ``steps``, where present, order the cases.
    violation : callable
        ``violation(**case)`` gives None where the statement holds for certain, what was seen (added to the witness)
        where it certainly fails, and raises `Undecided` elsewhere.
    domain : str
        The finite ranges, for example ``"N <= 3, G <= 4, pi in multiples of 1/6"``.
    method : str
        In words, what was compared with what.
    arithmetic : str
        In what arithmetic.

    Returns
    -------
    Outcome
        `verified`, or `refuted` by the first case that fails; `unknown` if there are no cases, or one is undecided.

    Examples
    --------
    >>> square = lambda x: None if x * x >= x else {"square": x * x}
    >>> check_all(({"x": Fraction(k, 2)} for k in range(4)), square, domain="x in 0..3/2", method="x^2 >= x").witness
    {'x': '1/2', 'square': '1/4'}
    """
    ordered = sorted(cases, key=size)
    undecided = []
    for case in ordered:
        try:
            seen = violation(**case)
        except Undecided as reason:
            undecided.append(f"{dict(case)}: {reason}")
            continue
        if seen is not None:
            return refuted({**case, **seen}, "the smallest case of the table that fails for certain")
    if undecided or not ordered:
        return unknown(f"undecided, {undecided[0]}" if undecided else "the table of cases is empty")
    return verified(domain, f"{method}: all {len(ordered)} cases, in {arithmetic}")


def policies(answers: int, denominator: int) -> Iterator[tuple[Fraction, ...]]:
    """All strictly positive probability vectors whose entries are multiples of 1/denominator.

    >>> [[str(x) for x in p] for p in policies(2, 3)]
    [['1/3', '2/3'], ['2/3', '1/3']]
    """
    for cuts in combinations(range(1, denominator), answers - 1):
        marks = (0, *cuts, denominator)
        yield tuple(Fraction(b - a, denominator) for a, b in pairwise(marks))


def groups(answers: int, group_size: int) -> Iterator[tuple[int, ...]]:
    """All ordered groups: every tuple of `group_size` answers, N^G of them.

    >>> len(list(groups(3, 2)))
    9
    """
    return product(range(answers), repeat=group_size)
