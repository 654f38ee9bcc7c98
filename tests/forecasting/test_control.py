"""The two halves of a file, as a negative control."""

from __future__ import annotations

import numpy as np
import pytest

from reweight.forecasting.control import control, halves
from reweight.forecasting.functional import dead_share, pass_at
from reweight.forecasting.quantity import Estimator, Quantity
from reweight.rollouts import Counts


def analyse(counts: Counts) -> dict[str, Quantity]:
    estimator = Estimator(counts, 0.95)
    return {"pass rate": estimator.mean(pass_at(1)), "dead": estimator.mean(dead_share(8))}


def test_halves_hold_each_prompt_once_whatever_the_order() -> None:
    counts = Counts.of([8] * 31, list(range(8)) * 3 + [8] * 7)
    first, second = halves(counts)
    assert abs(len(first.prompts) - len(second.prompts)) == 1
    assert sorted(first.prompts + second.prompts) == sorted(counts.prompts)
    assert int(first.c.sum() + second.c.sum()) == int(counts.c.sum())
    back = Counts(counts.prompts[::-1], counts.n[::-1].copy(), counts.c[::-1].copy())
    assert set(halves(back)[0].prompts) == set(first.prompts)


def test_one_prompt_has_no_halves() -> None:
    assert control(Counts.of([8], [3]), analyse, 0.95) is None


def test_the_difference_covers_zero_in_a_world_without_one(acceptable) -> None:
    """400 files of 120 prompts from Beta(.2, .2)."""
    rng = np.random.default_rng(5)
    hits = {"pass rate": 0, "dead": 0}
    for _ in range(400):
        rates = rng.beta(0.2, 0.2, 120)
        found = control(Counts.of([8] * 120, rng.binomial(8, rates).tolist()), analyse, 0.95)
        for name in hits:
            hits[name] += found.numbers[name].agree
    for number in hits.values():
        assert acceptable(number, 400, 0.95)


def test_halves_that_differ_are_named() -> None:
    first, _ = halves(Counts.of([8] * 40, [0] * 40))
    c = [8 if str(i) in first.prompts else 0 for i in range(40)]
    found = control(Counts.of([8] * 40, c), analyse, 0.95)
    assert not found.numbers["pass rate"].agree
    assert "differ beyond chance in 1 of 2 numbers (pass rate)" in found.notes[0]
    assert found.tables()[0].rows[0][-1] == "NO"
    assert found.to_dict()["numbers"]["pass rate"]["difference"]["estimate"] == pytest.approx(1.0)


def test_bounds_agree_where_they_overlap() -> None:
    found = control(Counts.of([4] * 40, [0, 4] * 20), analyse, 0.95)
    assert found.numbers["dead"].difference is None
    assert found.numbers["dead"].agree
