"""C49: a bound that is a little too low is refuted by all roads, and one that is too high upheld by none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from proofs_check.claims.regularised import c49_dead_zones as c49

CLAIMED = c49.DeadZones(c49.low_mass, c49.saturation)
TOO_LOW = {
    "low mass": replace(CLAIMED, low=lambda q, x: q * (x - 1) - q**2 * x * (x - 1)),
    "saturation": replace(CLAIMED, high=lambda q, x: (1 - q) * (1 - 1 / x) * 999 / 1000),
    "gain": replace(CLAIMED, gain=lambda q, x: q * (x - 1)),
}


@pytest.mark.parametrize("name", TOO_LOW)
def test_a_bound_that_is_too_low(name: str) -> None:
    assert c49.check_smt(TOO_LOW[name]).kind == "refuted"
    assert c49.check_ball(TOO_LOW[name]).kind == "refuted"


@pytest.mark.parametrize("part", ["low", "high"])
def test_a_bound_that_is_not_tight(part: str) -> None:
    loose = replace(CLAIMED, **{part: lambda q, x: getattr(CLAIMED, part)(q, x) * 1001 / 1000})
    assert c49.check_symbolic(loose).kind == "unknown"
    assert c49.check_smt(loose).kind == "unknown"
    looser = replace(CLAIMED, **{part: lambda q, x: getattr(CLAIMED, part)(q, x) * 101 / 100})
    outcome = c49.check_smt(looser)
    assert outcome.witness == {"bound": {"low": "low mass", "high": "saturation"}[part], "share": "999/1000"}


def test_the_saturation_bound_can_be_sharpened() -> None:
    """(1 - Q)(1 - e^{-1/beta}) holds too; it is the limit for Q to 1."""
    sharper = replace(CLAIMED, high=lambda q, x: (1 - q) * (1 - 1 / x))
    assert c49.check_smt(sharper).kind == "proved"
