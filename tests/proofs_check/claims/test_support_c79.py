"""C79: every road sees a bound that is too high, and the proof's step is the right one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import log

import pytest

from proofs_check.claims.support import c79_kl_leash as c79
from proofs_check.outcome import Outcome
from reweight import bounds, measures

ROADS = (c79.check_symbolic, c79.check_ball, c79.check_convex, c79.check_property)


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("factor", [Fraction(1001, 1000), Fraction(999, 1000)])
def test_a_factor_that_is_off_by_a_thousandth(road: Callable[[c79.Leash], Outcome], factor: Fraction) -> None:
    top, bottom = factor.numerator, factor.denominator
    off = c79.Leash(lambda p, start, ln: c79.binary_divergence(p, start, ln) * top / bottom)
    assert road(off).kind == "refuted"


@pytest.mark.parametrize("road", ROADS)
def test_a_bound_from_one_side_only(road: Callable[[c79.Leash], Outcome]) -> None:
    assert road(c79.Leash(lambda p, start, ln: -ln(1 - (p - start) ** 2))).kind == "refuted"


def test_one_merge_lowers_the_divergence_by_the_divergence_of_the_shares() -> None:
    fine, base = [0.2, 0.3, 0.5], [0.4, 0.1, 0.5]
    lost = measures.kl(fine, base) - measures.kl([0.5, 0.5], [0.5, 0.5])
    assert lost == pytest.approx(0.5 * (0.4 * log(0.4 / 0.8) + 0.6 * log(0.6 / 0.2)))


def test_the_leash_is_attained_by_the_policy_that_keeps_the_shares() -> None:
    base = [0.1, 0.3, 0.6]
    kept = [0.2, 0.6, 0.2]
    assert bounds.kl_leash(measures.kl(kept, base), 0.4) == pytest.approx(0.8, abs=1e-10)
