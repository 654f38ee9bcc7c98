"""C48: each part of the statement is looked at by two roads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofs_check.claims.regularised import c48_tilted_optimum as c48

CLAIMED = c48.TiltedOptimum()
PLANTED = {
    "odds": replace(CLAIMED, factor=lambda u: u**2 * 101 / 100),
    "gain": replace(CLAIMED, gain=lambda q, x: CLAIMED.gain(q, x) * 999 / 1000),
    "largest gain": replace(CLAIMED, largest=lambda u: (u - 1) / (u + 2)),
    "argmax": replace(CLAIMED, argmax=lambda u: 1 / (2 + u)),
    "cost": replace(CLAIMED, cost=lambda p, exponent, log_z: p * exponent - log_z / 2),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_error(name: str) -> None:
    assert c48.check_symbolic(PLANTED[name]).kind == "refuted"
    assert c48.check_ball(PLANTED[name]).kind == "refuted"


def test_the_solver_sees_the_wrong_odds() -> None:
    assert c48.check_convex(PLANTED["odds"]).kind == "refuted"
