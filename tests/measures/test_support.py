"""Support counts, their published rates, and the threshold that a number of samples can see."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reweight.errors import InputError
from reweight.measures import SupportCounts, eps_for_confidence, pass_at_k, support_counts


def test_published_rates() -> None:
    counts = SupportCounts(preserved=2388, expanded=48, shrunk=175, out=0)
    rates = [float(getattr(counts, name)) for name in ("srr", "ndr", "sds", "nscr")]
    assert [round(rate, 2) for rate in rates] == [0.93, 0.02, 0.04, -0.05]


@given(st.data())
def test_counts_by_plain_loops(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 6))
    levels = st.sampled_from([0.0, 0.01, 0.05, 0.2, 1.0])
    base, trained = (data.draw(st.lists(levels, min_size=size, max_size=size)) for _ in range(2))
    correct = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    names = {(True, True): "preserved", (False, True): "expanded", (True, False): "shrunk", (False, False): "out"}
    tally = dict.fromkeys(names.values(), 0)
    for before, after, solved in zip(base, trained, correct, strict=True):
        if solved:
            tally[names[before > 0.05, after > 0.05]] += 1
    counts = support_counts(base, trained, correct, 0.05)
    assert {name: getattr(counts, name) for name in tally} == tally
    assert sum(tally.values()) == sum(correct)


def test_prompts_are_counted_each_and_added() -> None:
    base = np.array([[0.5, 0.5], [1.0, 0.0]])
    trained = np.array([[1.0, 0.0], [0.5, 0.5]])
    counts = support_counts(base, trained, np.ones(2, dtype=bool))
    assert np.asarray(counts.shrunk).tolist() == [1, 0]
    assert np.asarray(counts.expanded).tolist() == [0, 1]
    assert counts.total() == SupportCounts(2, 1, 1, 0, eps=0.0)
    assert str(counts) == str(counts.total())


def test_rates_without_support_are_not_numbers_and_json_has_none() -> None:
    empty = SupportCounts(0, 0, 0, 3)
    assert np.isnan(empty.srr)
    assert np.isnan(empty.nscr)
    assert json.loads(json.dumps(empty.to_dict(), allow_nan=False))["srr"] is None
    assert SupportCounts(0, 0, 2, 0).srr == 0.0
    assert SupportCounts(0, 1, 1, 0).ndr == 1.0


def test_threshold_of_the_published_budget() -> None:
    assert float(eps_for_confidence(8192, 0.95)) == pytest.approx(3.66e-4, rel=2e-3)


@given(st.integers(1, 10**6), st.floats(0.001, 0.999))
def test_threshold_is_seen_with_that_confidence(k: int, confidence: float) -> None:
    assert float(pass_at_k(eps_for_confidence(k, confidence), k)) == pytest.approx(confidence, rel=1e-12)


def test_edges_are_refused() -> None:
    assert eps_for_confidence(10, 0.0) == 0.0
    with pytest.raises(InputError, match="below 1"):
        eps_for_confidence(10, 1.0)
    with pytest.raises(InputError, match="k must"):
        eps_for_confidence(0)
    with pytest.raises(InputError, match="eps"):
        support_counts([0.5], [0.5], [True], 1.5)
    with pytest.raises(InputError, match="eps must be one number"):
        support_counts([0.5], [0.5], [True], [0.1, 0.2])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="last axis"):
        support_counts(0.5, 0.5, True)
    with pytest.raises(InputError, match="trained"):
        support_counts([0.5, 0.5], [0.5, float("nan")], [True, True])
