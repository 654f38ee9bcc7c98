"""What one check found: proved, verified, tested, refuted, unknown, or not run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from proofs_check.witness import plain, size

__all__ = [
    "KINDS",
    "Kind",
    "Outcome",
    "conjunction",
    "lemma",
    "not_run",
    "proved",
    "refuted",
    "tested",
    "unknown",
    "verified",
]

Kind = Literal["not run", "unknown", "tested", "verified", "proved", "refuted"]

KINDS: tuple[Kind, ...] = ("not run", "unknown", "tested", "verified", "proved", "refuted")
"""Weakest first. A counterexample ends the matter, so `refuted` outranks everything."""


@dataclass(frozen=True)
class Outcome:
    """One back end's answer to one statement.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    domain : str
        The quantifiers, separated by commas: ``"all G, all real rewards"`` or ``"N <= 3, G <= 4"``.
        Infinite ranges begin with the word "all"; finite ones are written as ranges.
    certificate : str
        In words, what makes the outcome true: which identity, which unsatisfiable formula, how many cases.
    witness : dict or None
        For `refuted`: the counterexample, exact, as JSON can hold it.
    size : tuple of int
        The witness's place in the order of counterexamples (answers, group size, steps, largest denominator).
    """

    kind: Kind
    domain: str = ""
    certificate: str = ""
    witness: dict[str, Any] | None = None
    size: tuple[int, ...] = ()

    @property
    def strength(self) -> tuple[int, int]:
        """Order among outcomes: kind first, then the number of infinite quantifiers."""
        return KINDS.index(self.kind), sum(_is_infinite(part) for part in self.domain.split(","))

    def to_dict(self) -> dict[str, Any]:
        """The outcome as JSON can hold it."""
        return {
            "kind": self.kind,
            "domain": self.domain,
            "certificate": self.certificate,
            "witness": self.witness,
            "size": list(self.size),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Outcome:
        """The inverse of `to_dict`."""
        return cls(**{**stored, "size": tuple(stored["size"])})


def proved(domain: str, certificate: str) -> Outcome:
    """True for every value of the domain, which has at least one infinite quantifier.

    Raises
    ------
    ValueError
        If no quantifier of the domain begins with "all": a finite table is verified, not proved.

    Examples
    --------
    >>> proved("all G, all real rewards", "Cauchy-Schwarz").kind
    'proved'
    """
    if not any(_is_infinite(part) for part in domain.split(",")):
        raise ValueError(f"a proof needs an infinite quantifier beginning with 'all', got {domain!r}: use verified")
    return Outcome("proved", domain, certificate)


def verified(domain: str, certificate: str) -> Outcome:
    """True, exactly, for every case of a finite domain that was gone through completely."""
    return Outcome("verified", domain, certificate)


def tested(domain: str, certificate: str) -> Outcome:
    """No counterexample among the cases that were sampled from the domain."""
    return Outcome("tested", domain, certificate)


def refuted(witness: Mapping[str, Any], certificate: str, domain: str = "") -> Outcome:
    """False, because of this counterexample.

    Raises
    ------
    ValueError
        If the counterexample is empty: nobody can check it again.
    """
    if not witness:
        raise ValueError("a refutation needs a witness")
    return Outcome("refuted", domain, certificate, plain(witness), size(witness))


def unknown(reason: str) -> Outcome:
    """The check ended without an answer."""
    return Outcome("unknown", certificate=reason)


def not_run(reason: str) -> Outcome:
    """The check's back end is absent."""
    return Outcome("not run", certificate=reason)


def conjunction(outcomes: Iterable[Outcome], domain: str) -> Outcome:
    """The outcome of a statement in several parts: refuted by one part, otherwise as weak as the weakest.

    Parts are evaluated lazily and the first counterexample ends the evaluation.

    Parameters
    ----------
    outcomes : iterable of Outcome
        One for each part; a generator is stopped at the first that is refuted.
    domain : str
        The quantifiers of the whole, used if every part holds.

    Examples
    --------
    >>> conjunction([proved("all G", "one"), verified("G <= 3", "two")], "G <= 3")
    Outcome(kind='verified', domain='G <= 3', certificate='one; two', witness=None, size=())
    """
    parts = []
    for outcome in outcomes:
        if outcome.kind == "refuted":
            return outcome
        parts.append(outcome)
    if not parts:
        return unknown("the statement has no parts")
    weakest = min(parts, key=lambda part: KINDS.index(part.kind))
    if weakest.kind in ("unknown", "not run"):
        return weakest
    words = "; ".join(dict.fromkeys(part.certificate for part in parts))
    return {"proved": proved, "verified": verified, "tested": tested}[weakest.kind](domain, words)


def lemma(outcome: Outcome) -> Outcome:
    """A step of a proof: if the step is false the proof fails, which does not make the statement false.

    >>> lemma(refuted({"x": 1}, "two sides")).kind
    'unknown'
    """
    if outcome.kind != "refuted":
        return outcome
    return unknown(f"a step of the proof does not hold ({outcome.certificate}, at {outcome.witness})")


def _is_infinite(part: str) -> bool:
    return part.strip().startswith("all ")
