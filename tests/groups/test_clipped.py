"""The expected clipped surrogate by a walk through all groups, its optimum by a linear program."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from reweight import testing
from reweight.errors import InputError
from reweight.groups.advantages import advantages
from reweight.groups.binary import gap
from reweight.groups.clipped import clipped_optimum, clipped_surrogate
from reweight.objectives import Advantage, Clip


def walked(rewards, old, new, size, advantage, clip):
    total = 0.0
    for group in product(range(len(rewards)), repeat=size):
        values = advantages([rewards[y] for y in group], advantage)
        ratios = np.array([new[y] / old[y] for y in group])
        terms = ratios * values
        if clip is not None:
            terms = np.minimum(terms, np.clip(ratios, 1 - clip.low, 1 + clip.high) * values)
            if clip.dual is not None:
                terms = np.where(values < 0, np.maximum(terms, clip.dual * values), terms)
        total += np.prod([old[y] for y in group]) * terms.mean()
    return total


@pytest.mark.parametrize("clip", [None, Clip(0.2, 0.28), Clip(0.1, 0.1, dual=1.5)])
def test_the_surrogate_is_the_mean_over_all_groups(clip):
    rewards, old, new = [1.0, 0.0, 0.5], [0.2, 0.5, 0.3], [0.6, 0.1, 0.3]
    found = clipped_surrogate(rewards, old, new, 4, Advantage(ddof=1), clip)
    assert found == pytest.approx(walked(rewards, old, new, 4, Advantage(ddof=1), clip), abs=1e-13)


@settings(max_examples=40)
@given(st.data())
def test_the_optimum_is_that_of_the_linear_program(data):
    """Maximise sum of u over new >= 0, with u below each of the four lines of an answer's surrogate."""
    size = data.draw(st.integers(2, 4))
    rewards = [float(r) for r in data.draw(testing.reward_tables(size))]
    old = np.array([float(m) for m in data.draw(testing.distributions(size))])
    group = data.draw(st.integers(2, 5))
    advantage = data.draw(testing.advantages(centred=True))
    clip = Clip(data.draw(st.sampled_from([0.1, 0.2, 1.0])), data.draw(st.sampled_from([0.1, 0.28])))
    found = clipped_optimum(rewards, old, group, advantage, clip)
    assert found.policy.sum() == pytest.approx(1, abs=1e-12)

    positive, negative = parts(rewards, old, group, advantage)
    below, above = 1 - clip.low, 1 + clip.high
    # variables: new (size), u (size), v (size): maximise sum of u + v, u <= w+ min(new, above old), v <= -w- max(...)
    rows, limits = [], []
    for y in range(size):
        for slope, offset, column in (
            (positive[y], 0.0, size),
            (0.0, positive[y] * above * old[y], size),
            (-negative[y], 0.0, 2 * size),
            (0.0, -negative[y] * below * old[y], 2 * size),
        ):
            row = np.zeros(3 * size)
            row[column + y], row[y] = 1.0, -slope
            rows.append(row)
            limits.append(offset)
    program = linprog(
        np.concatenate([np.zeros(size), -np.ones(2 * size)]),
        A_ub=np.array(rows),
        b_ub=np.array(limits),
        A_eq=[np.concatenate([np.ones(size), np.zeros(2 * size)])],
        b_eq=[1.0],
        bounds=[(0, None)] * size + [(None, None)] * (2 * size),
    )
    assert program.status == 0
    assert found.value == pytest.approx(-program.fun, abs=1e-9)


def parts(rewards, old, size, advantage):
    """w+ and w- by a walk through all groups."""
    positive, negative = np.zeros(len(old)), np.zeros(len(old))
    for group in product(range(len(rewards)), repeat=size):
        first = advantages([rewards[y] for y in group], advantage)[0]
        mass = np.prod([old[y] for y in group[1:]])
        positive[group[0]] += mass * max(first, 0)
        negative[group[0]] += mass * max(-first, 0)
    return positive, negative


@pytest.mark.parametrize("p", [0.01, 0.3, 0.8])
def test_binary_optimum_in_closed_form(p):
    best = clipped_optimum([1, 0], [p, 1 - p], 8, Advantage(), Clip(0.2, 0.28))
    delta, q = gap(p, 8, Advantage()), 1 - p
    if 1.28 * p <= 1:
        assert best.value == pytest.approx(p * q * delta * (1.28 - 0.8), rel=1e-12)
        assert best.least_pass_rate == pytest.approx(max(1.28 * p, 1 - 0.8 * q), rel=1e-12)
        assert best.greatest_pass_rate == 1.0


def test_clipping_removes_the_incentive_and_does_not_constrain():
    best = clipped_optimum([1, 0, 0], [0.01, 0.5, 0.49], 8, Advantage(), Clip(0.2, 0.2))
    assert best.least_pass_rate == pytest.approx(0.208, abs=1e-12)
    assert best.greatest_pass_rate == 1.0
    assert "0.208 to 1" in str(best)
    assert best.to_dict()["value"] == best.value


def test_three_levels_have_no_pass_rate_unless_told():
    unknown = clipped_optimum([1, 0.5, 0], [0.2, 0.3, 0.5], 4, Advantage(), Clip(0.2, 0.2))
    assert unknown.least_pass_rate is None
    assert "pass rates" not in str(unknown)
    known = clipped_optimum([1, 0.5, 0], [0.2, 0.3, 0.5], 4, Advantage(), Clip(0.2, 0.2), correct=[True, False, False])
    assert known.policy[0] == pytest.approx(known.least_pass_rate)


@pytest.mark.parametrize(
    "call",
    [
        lambda: clipped_optimum([1, 0], [0.5, 0.5], 4, Advantage(), Clip(0.2, 0.2, dual=3)),
        lambda: clipped_surrogate([1, 0], [0.5, 0.5], [1.0], 4, Advantage(), None),
        lambda: clipped_surrogate([1, 0], [0.5, 0.4], [0.5, 0.5], 4, Advantage(), None),
        lambda: clipped_surrogate([1, 0], [0.5, 0.5], [0.5, 0.5], 4, Advantage("length_weighted"), None),
    ],
)
def test_what_is_refused(call):
    with pytest.raises(InputError):
        call()
