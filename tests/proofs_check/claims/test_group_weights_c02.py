"""C02: an error planted in any part of the statement is seen by every road that looks at it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from proofs_check.claims.group_weights import c02_binary_weights as c02
from proofs_check.outcome import Outcome
from reweight import Advantage

ROADS = (c02.check_symbolic, c02.check_rational, c02.check_property)
PLANTED = {
    "w(1) too large": c02.BinaryWeights(lambda p, q: q * (1 + q / 100), c02.correct_share, c02.biased_variance),
    "w(0) too small": c02.BinaryWeights(c02.wrong_share, lambda p, q: p * (1 - p / 100), c02.biased_variance),
    "spread of one member less": c02.BinaryWeights(
        c02.wrong_share, c02.correct_share, lambda k, n, _: k * (n - k) / (n * (n - 1))
    ),
    "spread wrong for ddof 1 only": c02.BinaryWeights(
        c02.wrong_share, c02.correct_share, lambda k, n, ddof: k * (n - k) / (n * n + ddof)
    ),
}


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("road", ROADS)
def test_planted_error(name: str, road: Callable[[c02.BinaryWeights], Outcome]) -> None:
    assert road(PLANTED[name]).kind == "refuted"


def test_the_gap_of_a_singular_divisor_is_its_definition() -> None:
    """G = 2: one mixed group, s = 1/2, so the gap with eps is (1/4)/(1/2 + eps) times 2 p q over p q."""
    rule = Advantage(eps=Fraction(1, 2))
    assert float(c02._expected_spread(c02.CLAIM.statement, Fraction(1, 3), 2, rule) / Fraction(2, 9)) == 0.5
