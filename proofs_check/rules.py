"""Advantage rules under short names, so that a counterexample says which rule it is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from reweight import Advantage

__all__ = ["named"]


def named(rules: Iterable[Advantage]) -> dict[str, Advantage]:
    """Each rule under what sets it apart from the plain z-score of the group.

    >>> list(named([Advantage(), Advantage(scale="none"), Advantage(ddof=1, eps=0.5)]))
    ['z-score', 'scale none', 'ddof 1, eps 0.5']
    """
    plain = Advantage()
    return {
        ", ".join(
            f"{field.name} {getattr(rule, field.name)}"
            for field in fields(rule)
            if getattr(rule, field.name) != getattr(plain, field.name)
        )
        or "z-score": rule
        for rule in rules
    }
