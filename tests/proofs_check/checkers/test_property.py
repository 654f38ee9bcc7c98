from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from proofs_check.checkers.property import search

CASES = st.fixed_dictionaries({"N": st.integers(2, 9), "x": st.integers(0, 1000)})
SETTINGS = {"domain": "x <= 1000", "method": "m", "examples": 200}


def test_what_is_not_refuted_is_only_tested() -> None:
    outcome = search(CASES, lambda **_: None, **SETTINGS)
    assert (outcome.kind, outcome.domain) == ("tested", "x <= 1000")


def test_the_counterexample_is_shrunk_and_the_same_each_time() -> None:
    def violation(N: int, x: int) -> dict[str, Any] | None:
        return {"excess": x - 100} if x > 100 and N > 2 else None

    found = [search(CASES, violation, **SETTINGS).witness for _ in range(2)]
    assert found[0] == found[1] == {"N": 3, "x": 101, "excess": 1}
