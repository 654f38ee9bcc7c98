"""From what the roads found to what is said of the claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from proofs_check.claim import Claim
from proofs_check.outcome import Kind, Outcome, not_run

__all__ = ["ClaimResult", "MutantResult", "RoadResult", "headline", "strongest"]

HOLDS = ("proved", "verified", "tested")


@dataclass(frozen=True)
class RoadResult:
    """What one road found, beside what its author expected; `seconds` is its own time."""

    name: str
    outcome: Outcome
    expected: Kind | None
    seconds: float

    @property
    def ran(self) -> bool:
        """Whether the back end was there."""
        return self.outcome.kind != "not run"


@dataclass(frozen=True)
class MutantResult:
    """What the same roads found about a mutant.

    Attributes
    ----------
    name : str
        What was changed.
    killed_by : tuple of str
        The roads that told it from the claim: that refuted it or, for the true sibling of a refuted claim, upheld it
        while none refuted it.
    decided : bool
        False if it was not killed but a road could not run.
    witness : dict or None
        The smallest counterexample.
    """

    name: str
    killed_by: tuple[str, ...]
    decided: bool
    witness: dict[str, Any] | None
    seconds: float

    @classmethod
    def judge(cls, name: str, roads: Sequence[RoadResult], *, true_sibling: bool) -> MutantResult:
        """Whether the roads distinguish the mutant from the claim."""
        refuting = tuple(road.name for road in roads if road.outcome.kind == "refuted")
        upholding = tuple(road.name for road in roads if road.outcome.kind in HOLDS)
        killed_by = (() if refuting else upholding) if true_sibling else refuting
        decided = bool(killed_by) or bool(true_sibling and refuting) or all(road.ran for road in roads)
        return cls(name, killed_by, decided, strongest(r.outcome for r in roads).witness, sum(r.seconds for r in roads))

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON can hold it."""
        return {"name": self.name, "killed_by": list(self.killed_by), "decided": self.decided, "witness": self.witness}


@dataclass(frozen=True)
class ClaimResult:
    """The roads and mutants of one claim, and what follows."""

    claim: Claim
    topic: str
    roads: tuple[RoadResult, ...]
    mutants: tuple[MutantResult, ...]

    @property
    def outcome(self) -> Outcome:
        """The strongest outcome among the roads that ran."""
        return strongest(road.outcome for road in self.roads)

    @property
    def verdict(self) -> str:
        """The headline, with quantifiers."""
        return headline(self.outcome)

    @property
    def killed(self) -> int:
        """How many mutants the roads distinguished from the claim."""
        return sum(bool(mutant.killed_by) for mutant in self.mutants)

    @property
    def seconds(self) -> float:
        """Time of all roads and mutants."""
        return sum(road.seconds for road in self.roads) + sum(mutant.seconds for mutant in self.mutants)

    def problems(self, require: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """Everything for which the exit code must be 1, one sentence each.

        Parameters
        ----------
        require : frozenset of str
            Roads that must run (names of back ends); elsewhere an absent back end is no problem.
        """
        found = [
            f"{self.claim.id}: the {road.name} road found {road.outcome.kind}, declared is {road.expected}"
            f"{_reason(road.outcome)}"
            for road in self.roads
            if road.ran and road.expected not in (None, road.outcome.kind)
        ]
        found += [
            f"{self.claim.id}: the {road.name} road refutes it, and no verdict is declared"
            for road in self.roads
            if road.expected is None and road.outcome.kind == "refuted"
        ]
        found += [
            f"{self.claim.id}: the {road.name} road is required and did not run{_reason(road.outcome)}"
            for road in self.roads
            if not road.ran and road.name in require
        ]
        found += [
            f"{self.claim.id}: the mutant {m.name!r} survives" for m in self.mutants if m.decided and not m.killed_by
        ]
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """The entry of `reweight verify --json`."""
        return {
            "id": self.claim.id,
            "title": self.claim.title,
            "verdict": self.outcome.kind,
            "vacuous": bool(self.claim.vacuous),
            "declared": self.claim.declared,
            "domain": self.outcome.domain,
            "roads": [
                {"name": r.name, "outcome": r.outcome.kind, "expected": r.expected, "seconds": round(r.seconds, 3)}
                for r in self.roads
            ],
            "mutants": {"planted": len(self.mutants), "killed": self.killed},
            "witness": self.outcome.witness,
            "seconds": round(self.seconds, 3),
        }


def strongest(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome that outranks the others; among counterexamples the smallest, otherwise the first of equals.

    Examples
    --------
    >>> from proofs_check.outcome import proved, verified
    >>> strongest([verified("G <= 4", "table"), proved("all G", "algebra")]).domain
    'all G'
    """
    outcomes = list(outcomes)
    counterexamples = [outcome for outcome in outcomes if outcome.kind == "refuted"]
    if counterexamples:
        return min(counterexamples, key=lambda outcome: outcome.size)
    return max(outcomes, key=lambda outcome: outcome.strength, default=not_run("no road"))


def headline(outcome: Outcome) -> str:
    """The verdict as it is printed: the kind, with its quantifiers.

    Examples
    --------
    >>> from proofs_check.outcome import proved, refuted
    >>> headline(proved("all G", "algebra")), headline(refuted({"G": 4}, "table"))
    ('PROVED (all G)', 'REFUTED')
    """
    return outcome.kind.upper() + (f" ({outcome.domain})" if outcome.domain else "")


def _reason(outcome: Outcome) -> str:
    if outcome.kind == "refuted":
        return f" (witness {outcome.witness})"
    return f" ({outcome.certificate})" if outcome.kind in ("unknown", "not run") else ""
