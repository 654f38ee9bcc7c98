"""Every way to compute expected weights against all groups in rationals, and against each other in large groups."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import enumerated_weights
from reweight import testing
from reweight.errors import InputError
from reweight.groups.lattice import lattice_levels, sums_suffice
from reweight.groups.weights import PROMISES, weigh
from reweight.objectives import Advantage

CENTRED = [
    Advantage(),
    Advantage(ddof=1, eps=1e-4),
    Advantage("leave_one_out", ddof=1, eps=1e-8),
    Advantage(eps=0.5),
    Advantage(ddof=1, eps=1e-3, eps_rule="inside_root"),
]
UNUSUAL = [
    Advantage(scale="none"),
    Advantage("leave_one_out", "none"),
    Advantage("none", "none"),
    Advantage("none", "std", eps=0.1),
    Advantage("leave_one_out", "leave_one_out_std", ddof=1, eps=1e-6),
    Advantage("mean", "leave_one_out_std"),
    Advantage("mean", "mean", eps=0.01),
    Advantage(eps=0.2, eps_rule="clamp"),
]


def able(levels, masses, size, advantage):
    """The results of all methods that can serve, by name; the lattice in small groups alone, for time."""
    found = {}
    for method in PROMISES:
        if method == "lattice" and size > 64:
            continue
        try:
            found[method] = weigh(levels, masses, size, advantage, method=method)
        except InputError:
            continue
    return found


@settings(max_examples=60)
@given(st.data())
def test_every_method_gives_the_sum_over_all_groups(data):
    size = data.draw(st.integers(2, 3))
    rewards = data.draw(testing.reward_tables(size))
    masses = data.draw(testing.distributions(size, positive=False))
    group = data.draw(st.integers(2, 5))
    advantage = data.draw(st.sampled_from(CENTRED + UNUSUAL))
    if advantage.scale == "mean" and min(rewards) < 0:
        rewards = [reward + 3 for reward in rewards]
    exact, sizes = enumerated_weights([Fraction(float(r)) for r in rewards], masses, group, advantage)
    wanted, scale = np.array([float(w) for w in exact]), np.array([float(s) for s in sizes])
    found = able([float(r) for r in rewards], [float(m) for m in masses], group, advantage)
    assert "composition" in found
    for name, result in found.items():
        assert (np.abs(result.weights - wanted) <= 1e-12 * scale + 1e-15 * (scale == 0)).all(), (name, advantage)


@pytest.mark.parametrize("advantage", CENTRED, ids=range(len(CENTRED)))
@pytest.mark.parametrize(
    ("levels", "size"),
    [
        ([0, 0.5, 1], 64),
        ([0, 1], 1024),
        (list(np.arange(5) / 4), 16),
        ([0, 1e-9, 1], 16),
        ([-3.0, 0.3, 0.3 + 6e-17, 1.0], 8),
        ([0.0, 1e-200, 1.0], 8),
        ([1e200, 2e200, 5e200], 8),
    ],
)
def test_methods_agree_in_large_groups(advantage, levels, size):
    rng = np.random.default_rng(size)
    for masses in (rng.dirichlet(np.ones(len(levels))), np.array([1e-300, *rng.dirichlet(np.ones(len(levels) - 1))])):
        found = able(levels, masses, size, advantage)
        assert {"composition", "quadrature"} <= set(found)
        best = found["quadrature"].weights
        for name, result in found.items():
            np.testing.assert_allclose(result.weights, best, atol=2e-13 * np.abs(best).max(), rtol=0, err_msg=name)


def test_twelve_levels_in_groups_of_64():
    levels, masses = np.arange(12.0), np.full(12, 1 / 12)
    chosen = weigh(levels, masses, 64, Advantage(ddof=1, eps=1e-4))
    assert (chosen.method, chosen.levels) == ("quadrature", 12)
    lattice = weigh(levels, masses, 64, Advantage(ddof=1, eps=1e-4), method="lattice")
    np.testing.assert_allclose(chosen.weights, lattice.weights, atol=2e-13)
    assert abs(chosen.weights.sum()) < 1e-12


def test_a_batch_of_policies_is_one_call():
    rng = np.random.default_rng(3)
    table = rng.dirichlet(np.ones(4), (2, 600))
    together = weigh([0, 0.2, 0.2, 1], table, 8, Advantage())
    assert together.weights.shape == table.shape
    one = weigh([0, 0.2, 0.2, 1], table[1, 550], 8, Advantage())
    np.testing.assert_allclose(together.weights[1, 550], one.weights, atol=1e-15)


def test_a_million_answers():
    rng = np.random.default_rng(0)
    rewards, masses = rng.integers(0, 3, 10**6) / 2, rng.dirichlet(np.ones(10**6))
    found = weigh(rewards, masses, 8, Advantage())
    by_level = [masses[rewards == level].sum() for level in (0, 0.5, 1)]
    wanted = weigh([0, 0.5, 1], by_level, 8, Advantage()).weights
    np.testing.assert_allclose(found.weights, wanted[(rewards * 2).astype(int)], atol=1e-13)


def test_the_result_says_how_it_was_found():
    result = weigh([1, 0], [0.5, 0.5], 4, Advantage(scale="none"))
    assert "linear" in str(result)
    assert result.to_dict()["error_bound"] == PROMISES["linear"]
    assert weigh([1, 1], [0.5, 0.5], 4, Advantage()).weights.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("levels", "size", "advantage", "method", "message"),
    [
        ([0, 1], 4, Advantage(), "linear", "divided by a group statistic"),
        ([0, 1], 4, Advantage(scale="none"), "pairs", "it needs the mean"),
        ([0, 1], 4, Advantage(eps=0.1, eps_rule="clamp"), "quadrature", "not smooth"),
        (np.arange(12), 64, Advantage(), "pairs", "use quadrature"),
        (np.arange(12), 64, Advantage(), "composition", "smaller group"),
        ([0, 0.1, np.pi], 4, Advantage(), "lattice", "not multiples"),
        ([0, 1], 4, Advantage("second_best", selection="best"), "lattice", "not multiples"),
        ([0, 1], 4, Advantage(), "sampling", "method"),
        ([0, 1e-300, 1], 4, Advantage(), "auto", "make them equal"),
    ],
)
def test_a_method_that_cannot_serve_says_why(levels, size, advantage, method, message):
    with pytest.raises(InputError, match=message):
        weigh(levels, np.full(len(levels), 1 / len(levels)), size, advantage, method=method)


def test_decimals_are_evenly_spaced():
    whole, unit = lattice_levels(np.array([0.1, 0.2, 0.3, 0.7]))
    assert whole.tolist() == [0, 1, 2, 6]
    assert unit == 0.1
    assert lattice_levels(np.array([0.0, np.pi])) is not None
    assert lattice_levels(np.array([0.0, 1.0, np.pi])) is None
    assert not sums_suffice(Advantage("second_best"))
