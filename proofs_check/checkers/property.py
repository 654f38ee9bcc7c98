"""Property search: hypothesis draws cases, and shrinks the first counterexample that it finds."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from proofs_check.outcome import Outcome, refuted, tested

__all__ = ["search"]

SHRINKS = 200
"""Cases that may be tried after the first counterexample, to make it smaller."""


def search(
    strategy: Any, violation: Callable[..., Mapping[str, Any] | None], *, domain: str, method: str, examples: int = 300
) -> Outcome:
    """Look for a counterexample among drawn cases.

    The search is derandomised: the same strategy and violation give the same outcome.

    Parameters
    ----------
    strategy : hypothesis strategy of dict
        Draws cases.
    violation : callable
        ``violation(**case)`` gives None where the statement holds, otherwise what was seen (added to the witness).
    domain, method : str
        What the strategy draws from, and in words what was compared with what.
    examples : int
        The number of cases drawn.

    Returns
    -------
    Outcome
        `refuted` by the shrunk case, or `tested`.

    Examples
    --------
    >>> from hypothesis import strategies as st
    >>> cases = st.fixed_dictionaries({"x": st.integers(0, 99)})
    >>> search(cases, lambda x: None if x < 50 else {"excess": x - 50}, domain="x in 0..99", method="x < 50").witness
    {'x': 50, 'excess': 0}
    """
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis.errors import NoSuchExample

    profile = settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=True,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    try:
        case = find(strategy, _patient(violation), settings=profile, random=random.Random(0))
    except NoSuchExample:
        return tested(domain, f"{method}: {examples} cases drawn by hypothesis, none fails")
    return refuted({**case, **(violation(**case) or {})}, "drawn and shrunk by hypothesis")


def _patient(violation: Callable[..., Mapping[str, Any] | None]) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a case violates; once shrinking has had its number of tries, only cases seen before can."""
    seen: dict[str, bool] = {}
    shrinks: list[str] = []

    def fails(case: Mapping[str, Any]) -> bool:
        key = repr(case)
        if key not in seen and len(shrinks) <= SHRINKS:
            seen[key] = violation(**case) is not None
            if shrinks or seen[key]:
                shrinks.append(key)
        return seen.get(key, False)

    return fails
