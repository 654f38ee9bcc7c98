"""The gap on binary prompts against enumeration, balls, and published cases."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from reweight import testing
from reweight.errors import InputError
from reweight.groups.binary import binary_weights, effective_objective, fill_probability, gap, usable_share
from reweight.groups.weights import group_weights
from reweight.objectives import Advantage, Objective


def ball_gap(p, q, group_size, ddof, eps):
    """R01: ((G-1)/G) E_{J ~ Bin(G-2, p)} 1 / (s_{J+1} + eps), in balls; p and q are exact rationals."""
    with ctx.workprec(600):
        p, q = (arb(fmpq(rate.numerator, rate.denominator)) for rate in (p, q))
        total = arb(0)
        for j in range(group_size - 1):
            correct = j + 1
            spread = fmpq(correct * (group_size - correct), group_size * (group_size - ddof))
            scale = arb(spread).sqrt() + arb(fmpq(eps.numerator, eps.denominator))
            total += comb(group_size - 2, j) * p**j * q ** (group_size - 2 - j) / scale
        factor = Fraction(group_size - 1, group_size)
        return total * arb(fmpq(factor.numerator, factor.denominator))


@pytest.mark.parametrize("group_size", [2, 3, 8, 64, 1024])
@pytest.mark.parametrize(("ddof", "eps"), [(0, 0.0), (1, 1e-4), (1, 1e-6)])
def test_relative_error_in_the_corners(group_size, ddof, eps):
    advantage = Advantage(ddof=ddof, eps=eps)
    rates = [1e-300, 1e-17, 1e-3, 0.3, 0.5, 0.999, 1 - 1e-16]
    values = gap(rates, group_size, advantage)
    for rate, value in zip(rates, values, strict=True):
        p = Fraction(rate)
        exact = ball_gap(p, 1 - p, group_size, ddof, advantage.exact_eps)
        with ctx.workprec(600):
            error = abs(arb(fmpq(*value.as_integer_ratio())) / exact - 1)
        assert error < 1e-12


def test_a_given_complement_keeps_precision_near_one():
    advantage = Advantage()
    far = float(gap(1.0, 64, advantage, complement=1e-30))
    assert far == pytest.approx(np.sqrt(63), rel=1e-12)
    assert float(gap(logit=-40.0, group_size=64, advantage=advantage)) == pytest.approx(
        float(gap(logit=40.0, group_size=64, advantage=advantage)), rel=1e-13
    )


@settings(max_examples=30)
@given(st.fractions(0, 1, max_denominator=20), st.integers(2, 7), testing.advantages())
def test_exact_gap_is_the_difference_of_exact_weights(p, group_size, advantage):
    whole = group_weights([1, 0], [p, 1 - p], group_size, advantage, precision="rational")
    assert gap(p, group_size, advantage) == whole[0] - whole[1]


@settings(max_examples=40)
@given(st.floats(0.001, 0.999), st.integers(2, 40), testing.advantages())
def test_gap_is_the_difference_of_float_weights(p, group_size, advantage):
    weights = group_weights([1.0, 0.0], [p, 1 - p], group_size, advantage)
    assert float(gap(p, group_size, advantage)) == pytest.approx(weights[0] - weights[1], rel=1e-11, abs=1e-12)
    pair = binary_weights(p, group_size, advantage)
    np.testing.assert_allclose(pair, weights, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("group_size", "expected"), [(4, 1.732), (8, 2.61)])
def test_rare_successes_are_not_amplified_without_bound(group_size, expected):
    assert float(gap(0.01, group_size, Advantage())) == pytest.approx(expected, abs=0.01)


@settings(max_examples=30)
@given(st.fractions(0, 1, max_denominator=12), st.integers(2, 6), testing.advantages())
def test_objective_is_the_integral_of_the_gap(p, group_size, advantage):
    """Newton-Cotes rules are exact for polynomials: the weights come from the moments at group_size + 1 points."""
    from sympy import Matrix, Rational

    nodes = [Fraction(k, group_size) for k in range(group_size + 1)]
    powers = Matrix([[Rational(str(node)) ** j for node in nodes] for j in range(group_size + 1)])
    rule = powers.solve(Matrix([Rational(1, j + 1) for j in range(group_size + 1)]))
    weights = [Fraction(int(value.p), int(value.q)) for value in rule]
    integral = sum((w * gap(p * node, group_size, advantage) for w, node in zip(weights, nodes, strict=True)), 0) * p
    assert effective_objective(p, group_size, advantage) == integral
    assert effective_objective(Fraction(0), group_size, advantage) == 0


@pytest.mark.parametrize("group_size", [2, 3, 4, 5, 8, 64])
def test_range_of_the_objective(group_size):
    total = sum(1 / np.sqrt(k * (group_size - k)) for k in range(1, group_size))
    assert float(effective_objective(1.0, group_size, Advantage())) == pytest.approx(total, rel=1e-13)
    p = np.array([1e-200, 0.1, 0.5, 1 - 1e-10])
    floats = effective_objective(p, group_size, Advantage())
    assert floats[0] == pytest.approx(1e-200 * np.sqrt(group_size - 1), rel=1e-12)
    if group_size < 9:
        whole = [float(effective_objective(Fraction(x), group_size, Advantage())) for x in p[1:]]
        np.testing.assert_allclose(floats[1:], whole, rtol=1e-12)


def test_noisy_verifier_fills_groups_and_empties_the_signal():
    advantage = Advantage(ddof=1)
    rows = [(1.0, 0.0, 2.17735373398241, 0.43046722), (0.9, 0.1, 1.60458242229168, 0.204415187861555)]
    rows += [(0.8, 0.2, 1.12929623393147, 0.0899403567268352), (0.5, 0.5, 0.0, 0.0078125)]
    for tpr, fpr, expected, dead in rows:
        assert float(gap(0.1, 8, advantage, tpr=tpr, fpr=fpr)) == pytest.approx(expected, abs=1e-13)
        assert 1 - float(usable_share(tpr * 0.1 + fpr * 0.9, 8)) == pytest.approx(dead, abs=1e-13)


def test_noise_by_enumeration_of_labels_and_verdicts():
    p, tpr, fpr, size = Fraction(1, 10), Fraction(4, 5), Fraction(1, 5), 5
    rewards = [1, 0, 1, 0]  # accepted correct, refused correct, accepted wrong, refused wrong
    masses = [p * tpr, p * (1 - tpr), (1 - p) * fpr, (1 - p) * (1 - fpr)]
    weights = group_weights(rewards, masses, size, Advantage(ddof=1), precision="rational")
    correct = weights[0] * tpr + weights[1] * (1 - tpr)
    wrong = weights[2] * fpr + weights[3] * (1 - fpr)
    assert correct - wrong == gap(p, size, Advantage(ddof=1), tpr=tpr, fpr=fpr)
    assert float(correct - wrong) == pytest.approx(0.959629315932889, abs=1e-14)
    pair = binary_weights(0.1, size, Advantage(ddof=1), tpr=0.8, fpr=0.2)
    np.testing.assert_allclose(pair, [float(correct), float(wrong)], rtol=1e-13)


@settings(max_examples=30)
@given(st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20), st.integers(2, 6))
def test_mixed_groups_divide_by_their_share(p, group_size):
    for advantage in (Advantage(), Advantage(baseline="none", scale="none")):
        mixed = gap(p, group_size, advantage, mixed_only=True)
        floats = gap(float(p), group_size, advantage, mixed_only=True)
        assert float(mixed) == pytest.approx(float(floats), rel=1e-11, abs=1e-12)
    plain = gap(p, group_size, Advantage())
    assert gap(p, group_size, Advantage(), mixed_only=True) == plain / usable_share(p, group_size)


def test_dynamic_sampling_that_never_fills():
    assert float(usable_share(0.002, 8)) == pytest.approx(0.0158884468817902, rel=1e-13)
    assert 1 / float(usable_share(0.002, 8)) == pytest.approx(62.9388138085481, rel=1e-13)
    assert fill_probability(0.002, 8, 128, 10) == pytest.approx(1.18996067624747e-59, rel=1e-9)
    assert fill_probability(0.02, 8, 128, 10) == pytest.approx(0.999999920861211, rel=1e-12)
    assert fill_probability(0.02, 8, 64, 7) == pytest.approx(0.667377067353444, rel=1e-12)
    assert fill_probability(0.02, 8, 64, 8) == pytest.approx(0.948051732202741, rel=1e-12)
    mixture = 0.9 * usable_share(0.002, 8) + 0.1 * usable_share(0.5, 8)
    assert float(mixture) == pytest.approx(0.113518352193611, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((1.2, 8), {}, "pass_rate .* got 1.2"),
        ((-0.1, 8), {}, "pass_rate .* got -0.1"),
        ((float("nan"), 8), {}, "pass_rate .* got nan"),
        ((Fraction(6, 5), 8), {}, "pass_rate .* got 1.2"),
        ((0.5, 1), {}, "group of one"),
        ((0.5, 8), {"tpr": 1.5}, "TPR .* got 1.5"),
        ((0.5, 8), {"fpr": -0.5}, "FPR .* got -0.5"),
        ((0.5, 8), {"logit": 0.0}, "not both"),
        ((None, 8), {}, "no pass rate"),
        ((0.5, 8), {"complement": 0.6}, "do not sum to 1"),
    ],
)
def test_what_is_refused(arguments, options, message):
    with pytest.raises(InputError, match=message):
        gap(*arguments, Advantage(), **options)


def test_a_share_is_never_above_one():
    p = np.linspace(0.3, 0.7, 4001)
    for group_size in (56, 64, 256, 1024):
        assert (usable_share(p, group_size) <= 1).all()
        assert fill_probability(0.5, group_size, 1, 1) <= 1


@pytest.mark.parametrize(("p", "group_size"), [(0.5, 56), (0.3, 100), (0.9, 256), (0.5, 64)])
def test_small_dead_shares_keep_their_digits(p, group_size):
    from reweight.groups.weight_table import binary_table

    exact = Fraction(p) ** group_size + (1 - Fraction(p)) ** group_size
    row = binary_table(Objective(Advantage(), group_size), [Fraction(p)])[0]
    assert row.dead_share == pytest.approx(float(exact), rel=1e-12, abs=0)


def test_the_leave_one_out_scale_at_the_largest_group():
    value = gap(0.3, 1024, Advantage("leave_one_out", "leave_one_out_std"))
    assert value == pytest.approx(1 / np.sqrt(0.21), rel=5e-3)
