"""A claim: a statement, the roads that check it, and the false siblings that the same roads must refute."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from proofs_check.backends import BACKENDS
from proofs_check.document import Document, parse
from proofs_check.outcome import KINDS, Kind, Outcome
from reweight.errors import InputError

__all__ = ["Claim", "Hypothesis", "Mutant", "Road", "changed_fields"]


@dataclass(frozen=True)
class Road:
    """One check of a statement by one back end.

    Attributes
    ----------
    name : str
        The back end: a key of `proofs_check.backends.BACKENDS`.
    check : callable
        ``check(statement) -> Outcome``. It gets the claim's statement, and that of each mutant.
    expected : str or None
        The declared outcome; None in a claim whose author does not know it yet.
    limit : float
        Seconds after which the road is stopped and its outcome is `unknown`.
    covers : tuple of str, optional
        The fields of the statement that the road reads; all of them if it is None. A road may uphold a false mutant
        only if the mutant differs from the claim in none of these.
    """

    name: str
    check: Callable[[Any], Outcome]
    expected: Kind | None = None
    limit: float = 60.0
    covers: tuple[str, ...] | None = None

    def is_blind_to(self, changed: frozenset[str] | None) -> bool:
        """Whether it reads none of the fields in which a mutant differs; None if they cannot be named."""
        return self.covers is not None and changed is not None and changed.isdisjoint(self.covers)


@dataclass(frozen=True)
class Mutant:
    """A near miss: false where the claim is true, true (the strongest repair) where the claim is refuted."""

    name: str
    statement: Any


@dataclass(frozen=True)
class Hypothesis:
    """What the claim assumes, and, where that is needed, the statement without it.

    Attributes
    ----------
    name : str
        One or two words; with `without` it becomes part of the id of a claim of its own, declared refuted.
    text : str
        The hypothesis in a sentence.
    without : object or None
        The statement with this hypothesis dropped, or None if the claim does not show that it is needed.
    refuted_by : tuple of str
        The roads that refute `without`.
    """

    name: str
    text: str
    without: Any = None
    refuted_by: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim, as its file declares it in the module variable ``CLAIM``.

    Attributes
    ----------
    id : str
        Letters, digits and hyphens, unique in the registry.
    document : str
        The docstring of the file (``__doc__``), in the form of `proofs_check.document`.
    statement : object
        What is claimed, as an object whose fields the roads read: the bound as a function, the exponent, the sense.
    roads, mutants, hypotheses : tuple
        At least one road (each back end at most once) and at least two mutants.
    vacuous : str
        Why the claim, though true, bounds nothing at practical values; empty if it does bound something.

    Raises
    ------
    InputError
        If the claim breaks one of these rules.
    """

    id: str
    document: str | None
    statement: Any
    roads: tuple[Road, ...]
    mutants: tuple[Mutant, ...]
    hypotheses: tuple[Hypothesis, ...] = ()
    vacuous: str = ""
    parent: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*", self.id):
            raise InputError(f"the claim id {self.id!r} must be letters, digits and hyphens, like C58 or my-bound")
        names = [road.name for road in self.roads]
        if not names or len(set(names)) < len(names) or not set(names) <= set(BACKENDS):
            raise InputError(
                f"claim {self.id} needs at least one road, each named once among {', '.join(BACKENDS)}; got {names}"
            )
        if len(self.mutants) < (1 if self.parent else 2):
            raise InputError(f"claim {self.id} needs at least two mutants, false siblings that its roads must refute")
        if any(road.expected not in (None, *KINDS) for road in self.roads):
            raise InputError(f"claim {self.id} expects an outcome that is not one of {', '.join(KINDS)}")
        for road in self.roads:
            absent = sorted(set(road.covers or ()) - _field_names(self.statement))
            if absent:
                raise InputError(
                    f"claim {self.id}: the {road.name} road covers {absent[0]!r}, which is no field of the statement"
                )
        for hypothesis in self.hypotheses:
            if hypothesis.without is not None and not set(hypothesis.refuted_by) & set(names):
                raise InputError(
                    f"claim {self.id} must name a road that refutes it without {hypothesis.name!r} (refuted_by)"
                )
        parse(self.document)

    @property
    def doc(self) -> Document:
        """The docstring, read."""
        return parse(self.document)

    @property
    def title(self) -> str:
        """The docstring's first line, without its full stop."""
        return self.doc.title.rstrip(".")

    @property
    def declared(self) -> Kind | None:
        """The declared verdict: the strongest outcome that a road is expected to have."""
        return max((road.expected for road in self.roads if road.expected), key=KINDS.index, default=None)

    def dropped(self) -> tuple[Claim, ...]:
        """One claim, declared refuted, for each hypothesis that comes with its counterexample.

        Its mutant is the claim with the hypothesis in place, which the same roads must not refute.
        """
        return tuple(self._without(hypothesis) for hypothesis in self.hypotheses if hypothesis.without is not None)

    def _without(self, hypothesis: Hypothesis) -> Claim:
        fields = self.doc.fields
        without = {
            "Statement": f"{fields['Statement']} Here WITHOUT the hypothesis: {hypothesis.text}",
            "Verdict and domain": f"REFUTED: the hypothesis {hypothesis.name!r} is needed, see the witness.",
        }
        return Claim(
            id=f"{self.id}-{hypothesis.name.replace(' ', '-')}",
            document=str(Document(f"{self.id} without its hypothesis: {hypothesis.name}", {**fields, **without})),
            statement=hypothesis.without,
            roads=tuple(replace(r, expected="refuted") for r in self.roads if r.name in hypothesis.refuted_by),
            mutants=(Mutant("the hypothesis in place", self.statement),),
            parent=self.id,
        )


def changed_fields(one: Any, other: Any) -> frozenset[str] | None:
    """The fields in which two statements differ, or None if they are not two dataclasses of one type.

    Examples
    --------
    >>> changed_fields(Mutant("a", 1), Mutant("a", 2)), changed_fields(1, 2)
    (frozenset({'statement'}), None)
    """
    if type(one) is not type(other) or not is_dataclass(one):
        return None
    return frozenset(name for name in _field_names(one) if getattr(one, name) != getattr(other, name))


def _field_names(statement: Any) -> set[str]:
    return {each.name for each in fields(statement)} if is_dataclass(statement) else set()
