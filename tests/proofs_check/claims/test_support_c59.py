"""C59: the algebra refutes what the first group can show, and upholds none of the false siblings."""

from __future__ import annotations

from fractions import Fraction

import pytest

from proofs_check.claims.support import c59_discovery_probability as c59


@pytest.mark.parametrize("changed", [{"late": 1}, {"draws": Fraction(99, 100)}])
def test_the_first_group_refutes(changed: dict[str, Fraction]) -> None:
    outcome = c59.check_symbolic(c59.DiscoveryBounds(**changed))  # type: ignore[arg-type]
    assert outcome.kind == "refuted"
    y, correct, wrong = (Fraction(outcome.witness[name]) for name in "ykw")  # type: ignore[index]
    base, rate = y / (y + correct + wrong), (y + correct) / (y + correct + wrong)
    found = 1 - (1 - base) ** 2
    ceiling = 1 - (1 - base / rate) ** (0 if "late" in changed else 2)
    assert min(ceiling, 2 * base * changed.get("draws", 1)) < found


@pytest.mark.parametrize("changed", [{"by_pass_rate": False}, {"rate": Fraction(0)}, {"rate": Fraction(49, 100)}])
def test_where_only_later_groups_could_refute_a_step_fails(changed: dict[str, Fraction]) -> None:
    outcome = c59.check_symbolic(c59.DiscoveryBounds(**changed))  # type: ignore[arg-type]
    assert outcome.kind == "unknown"
    assert "a step of the proof does not hold" in outcome.certificate
