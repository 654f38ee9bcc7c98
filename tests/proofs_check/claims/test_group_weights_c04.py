"""C04: both roads see a constant that is off, and the first group size at which the gap is not constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from proofs_check.claims.group_weights import c04_constant_gaps as c04
from proofs_check.outcome import Outcome

ROADS = (c04.check_symbolic, c04.check_rational)


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("ddof", [0, 1])
def test_each_constant_matters(road: Callable[[c04.ConstantGaps], Outcome], size: int, ddof: int) -> None:
    def off(G: int, d: int) -> Fraction:
        return c04.known_squares(G, d) * (Fraction(1001, 1000) if (G, d) == (size, ddof) else 1)

    outcome = road(c04.ConstantGaps(off))
    assert outcome.kind == "refuted"
    assert outcome.witness is not None
    assert (outcome.witness["G"], outcome.witness["ddof"]) == (size, ddof)


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("size", [4, 5])
def test_larger_groups_have_no_constant_gap(road: Callable[[c04.ConstantGaps], Outcome], size: int) -> None:
    for square in (Fraction(size - 1), Fraction(4 * (size - 1) ** 2, size**2)):
        assert road(c04.ConstantGaps(lambda _G, _d, s=square: s, sizes=(size,))).kind == "refuted"  # type: ignore[misc]


def test_a_tiny_eps_is_seen() -> None:
    tiny = replace(c04.CLAIM.statement, eps=Fraction(1, 10**9))
    assert [road(tiny).kind for road in ROADS] == ["refuted", "refuted"]
