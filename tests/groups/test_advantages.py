"""Advantages of given groups: the float twin against the exact one, and the rules that frameworks disagree on."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reweight import testing
from reweight.errors import InputError
from reweight.groups.advantages import advantages
from reweight.objectives import Advantage

BASELINES = ["mean", "leave_one_out", "batch_mean", "length_weighted", "second_best", "none"]
SCALES = ["std", "leave_one_out_std", "batch_std", "mean", "none"]
EPS = [(0, "added"), (1e-4, "added"), (1e-2, "inside_root"), (1e-2, "clamp")]


@pytest.mark.parametrize(("baseline", "scale"), list(product(BASELINES, SCALES)))
@pytest.mark.parametrize(("eps", "rule"), EPS)
def test_float_agrees_with_exact(baseline, scale, eps, rule):
    rng = np.random.default_rng([BASELINES.index(baseline), SCALES.index(scale), int(1e6 * eps)])
    for ddof, selection, singleton in product((0, 1), ("all", "best"), ("zero", "reward")):
        advantage = Advantage(baseline, scale, ddof, eps, rule, selection=selection, singleton=singleton)
        rewards = rng.integers(0, 4, (3, 5)) / 2.0
        rewards[0] = 1.0
        rewards[2, : rng.integers(1, 5)] = np.nan
        lengths = rng.integers(1, 9, (3, 5))
        whole = np.array([[Fraction(r) if r == r else None for r in row] for row in rewards.tolist()], dtype=object)
        expected = np.vectorize(float)(advantages(whole, advantage, lengths=lengths))
        scale_of_values = max(1.0, np.abs(expected).max())
        assert np.abs(advantages(rewards, advantage, lengths=lengths) - expected).max() <= 1e-14 * scale_of_values


@given(testing.groups(), testing.advantages(centred=True))
def test_centred_advantages_sum_to_zero_exactly(group, advantage):
    assert sum(advantages(np.array(group, dtype=object), advantage), 0) == 0


@given(testing.groups(), st.sampled_from([0, 1]), st.fractions(-3, 3, max_denominator=5), st.integers(1, 5))
def test_z_score_ignores_shift_and_positive_scale(group, ddof, shift, factor):
    z = Advantage(ddof=ddof)
    moved = np.array([factor * reward + shift for reward in group], dtype=object)
    assert (advantages(moved, z) == advantages(np.array(group, dtype=object), z)).all()


@given(st.floats(-1e6, 1e6), st.integers(2, 40), testing.advantages())
def test_a_constant_group_is_exactly_zero(reward, size, advantage):
    if advantage.baseline != "none" or advantage.scale in ("std", "leave_one_out_std"):
        assert (advantages(np.full(size, reward), advantage) == 0).all()


def test_a_large_common_offset_costs_no_digit():
    plain = advantages([1.0, 0.0, 0.0, 0.5], Advantage())
    shifted = advantages(np.array([1.0, 0.0, 0.0, 0.5]) + 2.0**40, Advantage())
    np.testing.assert_allclose(shifted, plain, rtol=1e-15)


def test_batch_scale_is_that_of_the_batch():
    values = advantages([[1.0, 0, 0], [1, 1, 1]], Advantage(scale="batch_std", ddof=1, eps=1e-4))
    expected = [[1.29074449713872, -0.645372248569362, -0.645372248569362], [0, 0, 0]]
    np.testing.assert_allclose(values, expected, atol=1e-14)


def test_ddof_zero_with_small_eps():
    values = advantages([1.0, 0, 0], Advantage(ddof=0, eps=1e-8))
    np.testing.assert_allclose(values, [1.41421353237310, -0.707106766186548, -0.707106766186548], atol=1e-14)


@pytest.mark.parametrize("common", [0.35, 0.3, 0.7, 0.1])
def test_leave_one_out_scale_keeps_the_lone_winner_undivided(common):
    nemo = Advantage("leave_one_out", "leave_one_out_std", ddof=1, eps=1e-6)
    values = advantages([common] * 7 + [common + 0.6], nemo)
    assert values[-1] == pytest.approx(0.6, abs=1e-15)
    np.testing.assert_allclose(values[:-1], -0.377962806349910, atol=1e-14)
    plain = advantages([common] * 7 + [common + 0.6], Advantage(ddof=1))
    np.testing.assert_allclose(plain, [-0.353553390593274] * 7 + [2.47487373415292], atol=1e-13)


def test_rules_for_missing_and_single_rewards():
    nan = float("nan")
    assert (advantages([1.0, nan, nan], Advantage()) == 0).all()
    assert advantages([1.0, nan], Advantage(ddof=1, eps=0.25, singleton="reward")).tolist() == [0.8, 0.0]
    np.testing.assert_allclose(advantages([1.0, nan], Advantage(missing="zero")), [1.0, -1.0])
    with pytest.raises(InputError, match="missing"):
        advantages([1.0, nan], Advantage(missing="error"))
    with pytest.raises(InputError, match="one valid reward"):
        advantages([1.0, nan], Advantage(singleton="error"))


def test_only_the_single_best_keeps_its_advantage():
    best = Advantage("second_best", "std", selection="best")
    assert advantages([1.0, 1.0, 0.0], best).tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(advantages([3.0, 1.0, 1.0], best), [2.0 / np.sqrt(8 / 9), 0, 0])


def test_leading_axes_are_independent_batches():
    rng = np.random.default_rng(5)
    rewards = rng.random((4, 3, 6))
    advantage = Advantage(scale="batch_std")
    together = advantages(rewards, advantage)
    apart = np.stack([advantages(batch, advantage) for batch in rewards])
    assert (together == apart).all()


@settings(max_examples=30)
@given(testing.groups(), testing.advantages())
def test_members_can_be_permuted(group, advantage):
    values = advantages(np.array(group, dtype=object), advantage)
    backwards = advantages(np.array(group[::-1], dtype=object), advantage)
    assert (backwards[::-1] == values).all()


@pytest.mark.parametrize(
    ("rewards", "options", "message"),
    [
        ([], {}, "no group"),
        (["a", "b"], {}, "not numbers"),
        ([1.0, np.inf], {}, "infinite"),
        ([1.0, 0.0], {"lengths": [1.0]}, "lengths have shape"),
        ([1.0, 0.0], {"lengths": [1.0, 0.0]}, "not a positive number"),
    ],
)
def test_what_is_refused(rewards, options, message):
    with pytest.raises(InputError, match=message):
        advantages(rewards, Advantage(), **options)


def test_length_weighting_needs_lengths():
    with pytest.raises(InputError, match="needs lengths"):
        advantages([1.0, 0.0], Advantage(baseline="length_weighted"))


@pytest.mark.parametrize(
    "fields",
    [
        {"baseline": "median"},
        {"scale": "iqr"},
        {"ddof": 2},
        {"ddof": True},
        {"eps": -1.0},
        {"eps": float("nan")},
        {"eps": "1"},
    ],
)
def test_an_advantage_knows_its_choices(fields):
    with pytest.raises(InputError):
        Advantage(**fields)


@pytest.mark.parametrize("value", [0.1, 0.3, 0.7, 1000000.1])
@pytest.mark.parametrize("size", [3, 5, 6, 7, 9])
@pytest.mark.parametrize("scale", ["batch_std", "none", "std"])
def test_a_constant_batch_is_exactly_zero(value, size, scale):
    for ddof in (0, 1):
        assert (advantages(np.full((1, size), value), Advantage("batch_mean", scale, ddof=ddof)) == 0).all()
    assert (advantages(np.full((2, size), value), Advantage("none", "batch_std")) == 0).all()


NEAR = 2.0**-40
HARD = [
    [1.0, 1 + NEAR, 0.0, 1.0],
    [-1.0, 1 + NEAR, 1 + NEAR, 1.0],
    [1.0, 1 + 2.0**-52, 0.0, 1.0, 1.0],
    [1e155, 0.0, 0.0, 1e155],
    [1e-161, 0.0, 3e-161],
    [5e-324, 0.0],
    [1e300, -1e300, 0.0],
    [0.3, 0.7, -1.0],
]


@pytest.mark.parametrize("group", HARD)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("baseline", ["mean", "leave_one_out", "batch_mean", "none"])
def test_hard_groups_against_exact_values(group, scale, baseline):
    """Rewards that nearly agree, that reach the ends of float64, or whose mean nearly cancels."""
    for ddof in (0, 1):
        advantage = Advantage(baseline, scale, ddof=ddof)
        exact = advantages(np.array([[Fraction(reward) for reward in group]], dtype=object), advantage)[0]
        expected = [float(value) for value in exact]
        found = advantages([group], advantage)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * max(map(abs, expected)))


def test_leave_one_out_std_of_a_large_binary_group_fits_in_memory():
    group = np.zeros((40, 1024))
    group[:, 0] = 1.0
    values = advantages(group, Advantage("leave_one_out", "leave_one_out_std"))
    assert values[0, 0] == 1.0
    assert values[0, 1] == pytest.approx(-1 / 1023 / np.sqrt(1 / 1023 - 1 / 1023**2), rel=1e-12)


SECOND = [
    Advantage("none", "none", second="batch_standardise", ddof=1),
    Advantage("mean", "none", second="batch_standardise", eps=0.25),
    Advantage("mean", "none", second="token_whiten", ddof=1, eps=1e-8, eps_rule="inside_root"),
    Advantage("none", "none", second="token_whiten"),
]


@pytest.mark.parametrize("advantage", SECOND, ids=range(len(SECOND)))
def test_second_normalisation_in_floats_and_exactly(advantage):
    rewards = np.array([[1, 0, 0.5], [1, 1, 0]])
    lengths = np.array([[2, 5, 3], [1, 4, 4]])
    exact = advantages(np.vectorize(Fraction, otypes=[object])(rewards), advantage, lengths=lengths)
    found = advantages(rewards, advantage, lengths=lengths)
    np.testing.assert_allclose(found, exact.astype(float), atol=1e-14)
    if advantage.eps == 0:
        weights = lengths if advantage.second == "token_whiten" else np.ones_like(lengths)
        assert (weights * found).sum() == pytest.approx(0, abs=1e-13)
        assert (weights * found**2).sum() == pytest.approx(weights.sum() - advantage.ddof, abs=1e-12)


def test_second_normalisation_of_equal_advantages_is_zero():
    for advantage in SECOND:
        assert not advantages(np.full((2, 7), 0.1), advantage, lengths=np.ones((2, 7))).any()


def test_second_normalisation_leaves_out_what_is_missing():
    found = advantages(np.array([[1, 0, np.nan], [1, 1, 0]]), SECOND[0])
    assert found[0, 2] == 0
    present = np.delete(found.ravel(), 2)
    assert present.sum() == pytest.approx(0, abs=1e-14)
    assert (present**2).sum() == pytest.approx(4, abs=1e-13)


def test_second_normalisation_of_irrational_advantages_is_refused_in_fractions():
    groups = np.array([[Fraction(1), Fraction(0), Fraction(0)], [Fraction(1), Fraction(3), Fraction(0)]])
    with pytest.raises(InputError, match="float64"):
        advantages(groups, Advantage(second="batch_standardise", eps=0.5))
