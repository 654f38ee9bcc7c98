"""The law of sums of independent vectors of whole numbers, against all tuples in fractions."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.groups import sum_law
from reweight.groups.sum_law import SumLaw

STATES = [(0, 0), (1, 1), (3, 9), (-2, 4)]
MASSES = [Fraction(1, 2), Fraction(1, 4), Fraction(3, 16), Fraction(1, 16)]


def enumerated(states: list[tuple[int, ...]], count: int) -> dict[tuple[int, ...], Fraction]:
    law: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for draws in product(range(len(states)), repeat=count):
        total = tuple(sum(column) for column in zip(*(states[draw] for draw in draws), strict=True))
        law[total] += prod(MASSES[draw] for draw in draws)
    return dict(law)


@pytest.mark.parametrize("stretch", [1, 10**6, 2**40], ids=["in a box", "sparse", "wider than one word"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_powers_are_those_of_all_tuples(count: int, stretch: int) -> None:
    states = [(first, stretch * second) for first, second in STATES]
    law = SumLaw.of(np.array(states), np.array([float(mass) for mass in MASSES])).power(count)
    exact = enumerated(states, count)
    found = dict(zip(map(tuple, law.states.tolist()), law.masses.tolist(), strict=True))
    assert found.keys() == exact.keys()
    assert found == {total: float(mass) for total, mass in exact.items()}  # dyadic masses: sums do not round


def test_sums_of_different_laws_and_equal_states() -> None:
    first = SumLaw.of(np.array([[2], [0], [2]]), np.array([0.25, 0.5, 0.25]))
    assert first.states.tolist() == [[0], [2]]
    assert first.masses.tolist() == [0.5, 0.5]
    total = first.plus(SumLaw.of(np.array([[1], [3]]), np.array([0.75, 0.25])))
    assert total.states.tolist() == [[1], [3], [5]]
    assert total.masses.tolist() == [0.375, 0.5, 0.125]
    assert first.power(0).states.tolist() == [[0]]


@pytest.mark.parametrize(
    ("limit", "most", "message"), [("MOST_CELLS", 15, "products"), ("MOST_STATES", 5, "distinct states")]
)
def test_laws_that_are_too_large_are_refused(
    limit: str, most: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sum_law, limit, most)
    far = SumLaw.of(np.array(STATES) * 10**6, np.array([float(mass) for mass in MASSES]))
    with pytest.raises(InputError, match=message):
        far.plus(far)
