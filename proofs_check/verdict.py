"""From what the roads found to what is said of the claim."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from proofs_check.claim import Claim
from proofs_check.outcome import Kind, Outcome, not_run

__all__ = ["ClaimResult", "MutantResult", "RoadResult", "headline", "strongest"]

HOLDS: tuple[Kind, ...] = ("proved", "verified", "tested")
SAYS: dict[Kind, str] = {
    "refuted": "refuted by",
    "proved": "upheld by",
    "verified": "upheld by",
    "tested": "no counterexample drawn by",
    "unknown": "not upheld by",
    "not run": "not run",
}
ORDER = ("refuted by", "upheld by", "not covered by", "not upheld by", "no counterexample drawn by", "not run")


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
    roads : tuple of RoadResult
        What each road of the claim found.
    blind : frozenset of str
        The roads that declare to read none of what was changed.
    true_sibling : bool
        Whether it is the true repair of a refuted claim, not a false sibling of a true one.
    """

    name: str
    roads: tuple[RoadResult, ...]
    blind: frozenset[str] = frozenset()
    true_sibling: bool = False

    @property
    def killed_by(self) -> tuple[str, ...]:
        """The roads that told it from the claim.

        They refuted it or, for the true sibling of a refuted claim, upheld it while none refuted it.
        """
        refuting = self._found("refuted")
        if not self.true_sibling:
            return refuting
        return () if refuting else self._found(*HOLDS)

    @property
    def decided(self) -> bool:
        """False if it was not killed but a road could not run."""
        return bool(self.killed_by or self._found("refuted")) or all(road.ran for road in self.roads)

    @property
    def upheld_by(self) -> tuple[str, ...]:
        """The roads that proved or verified what another one refutes, though they read what was changed."""
        shown = self._found("proved", "verified") if self._found("refuted") else ()
        return tuple(name for name in shown if name not in self.blind)

    @property
    def witness(self) -> dict[str, Any] | None:
        """The smallest counterexample."""
        return strongest(road.outcome for road in self.roads).witness

    @property
    def seconds(self) -> float:
        """Time of all roads."""
        return sum(road.seconds for road in self.roads)

    def __str__(self) -> str:
        """What each road says of it: ``refuted by: smt; not covered by: convex; not upheld by: symbolic``."""
        by_words: dict[str, list[str]] = {}
        for road in self.roads:
            by_words.setdefault(self._says(road), []).append(road.name)
        told = sorted(by_words.items(), key=lambda pair: ORDER.index(pair[0]))
        return "; ".join(f"{words}: {', '.join(names)}" for words, names in told)

    def _says(self, road: RoadResult) -> str:
        kind = road.outcome.kind
        if kind in HOLDS and road.name in self.blind:
            return "not covered by"
        return SAYS[kind]

    def _found(self, *kinds: Kind) -> tuple[str, ...]:
        return tuple(road.name for road in self.roads if road.outcome.kind in kinds)


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
        found += [
            f"{self.claim.id}: the {road} road upholds the mutant {mutant.name!r}, which is refuted by"
            f" {', '.join(mutant.killed_by)}, and does not declare that it covers less than the statement"
            for mutant in self.mutants
            if not mutant.true_sibling
            for road in mutant.upheld_by
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
