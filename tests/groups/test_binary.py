"""The gap on binary prompts against enumeration, balls, and published cases."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from reweight import testing
from reweight.errors import InputError
from reweight.groups.advantages import advantages
from reweight.groups.bernstein_form import COMPILED_FROM
from reweight.groups.binary import (
    binary_advantages,
    binary_weights,
    effective_objective,
    fill_probability,
    gap,
    usable_share,
)
from reweight.groups.weights import group_weights
from reweight.objectives import Advantage, Objective

CORNERS = [1e-300, 1e-17, 1e-16, 1e-9, 1e-3, 0.01, 0.3, 0.5, 0.999, 1 - 1e-9, 1 - 1e-16]


def ball_gaps(rates, group_size, advantage):
    """R01: ((G-1)/G) E_{J ~ Bin(G-2, p)} 1 / (s_{J+1} + eps), in balls; the rates are exact rationals."""
    eps = arb(fmpq(advantage.exact_eps.numerator, advantage.exact_eps.denominator))
    coefficients = []
    for correct in range(1, group_size):
        variance = arb(fmpq(correct * (group_size - correct), group_size * (group_size - advantage.ddof)))
        coefficients.append(fmpq(group_size - 1, group_size) / regularised_ball(variance, eps, advantage.eps_rule))
    totals = []
    for rate in rates:
        p, q = (arb(fmpq(share.numerator, share.denominator)) for share in (rate, 1 - rate))
        term, total = q ** (group_size - 2), arb(0)
        for j, coefficient in enumerate(coefficients):
            total += term * coefficient
            term *= p / q * (group_size - 2 - j) / (j + 1)
        totals.append(total)
    return totals


def regularised_ball(variance, eps, rule):
    if rule == "added":
        return variance.sqrt() + eps
    return (variance + eps).sqrt() if rule == "inside_root" else variance.max(eps).sqrt()


def worst_error(values, exact):
    return max(float(abs(arb(float(value)) / ball - 1).upper()) for value, ball in zip(values, exact, strict=True))


@pytest.mark.parametrize("group_size", [2, 3, 8, 31, 32, 64, 256, 1024, 4096])
@pytest.mark.parametrize(
    "advantage",
    [
        Advantage(),
        Advantage(ddof=1, eps=1e-4),
        Advantage(eps=0.05, eps_rule="inside_root"),
        Advantage(eps=0.1, eps_rule="clamp"),
    ],
    ids=lambda advantage: advantage.eps_rule + str(advantage.ddof),
)
def test_relative_error_in_the_corners(group_size, advantage):
    """Alone and among many, where a polynomial or a table takes over."""
    many = np.concatenate([CORNERS, np.full(COMPILED_FROM, 0.2)])
    with ctx.workprec(500):
        exact = ball_gaps([Fraction(rate) for rate in CORNERS], group_size, advantage)
        assert worst_error(gap(CORNERS, group_size, advantage), exact) < 5e-15
        assert worst_error(gap(many, group_size, advantage)[: len(CORNERS)], exact) < 2e-14
        right, wrong = binary_weights(CORNERS, group_size, advantage)
        rates = [arb(fmpq(*rate.as_integer_ratio())) for rate in CORNERS]
        assert worst_error(right, [(1 - p) * ball for p, ball in zip(rates, exact, strict=True)]) < 5e-15
        assert worst_error(-wrong, [p * ball for p, ball in zip(rates, exact, strict=True)]) < 5e-15


def test_groups_of_ten_thousand():
    rates = [1e-300, 1e-5, 0.03, 0.5, 1 - 1e-7]
    advantage = Advantage(ddof=1, eps=1e-6)
    with ctx.workprec(500):
        exact = ball_gaps([Fraction(rate) for rate in rates], 10_000, advantage)
        assert worst_error(gap(rates, 10_000, advantage), exact) < 5e-15
        many = gap(np.resize(rates, 50_000), 10_000, advantage)
        assert worst_error(many[:5], exact) < 2e-14


@pytest.mark.slow
def test_groups_of_ten_thousand_without_a_closed_form():
    assert gap(0.3, 10_000, Advantage("leave_one_out", "leave_one_out_std")) == pytest.approx(0.21**-0.5, rel=1e-3)


@pytest.mark.parametrize("baseline", ["mean", "leave_one_out"])
@pytest.mark.parametrize("scale", ["std", "none"])
@pytest.mark.parametrize("eps_rule", ["added", "inside_root", "clamp"])
def test_closed_form_of_centred_advantages(baseline, scale, eps_rule):
    for size, ddof, eps in ((2, 0, 0.0), (5, 1, 0.0), (9, 0, 0.2), (16, 1, 1e-4)):
        advantage = Advantage(baseline, scale, ddof, eps, eps_rule)
        right, wrong = binary_advantages(size, advantage)
        for count in range(size + 1):
            group = advantages([1.0] * count + [0.0] * (size - count), advantage)
            if count:
                assert right[count] == pytest.approx(group[0], rel=1e-14)
            if count < size:
                assert wrong[count] == pytest.approx(group[-1], rel=1e-14)


@settings(max_examples=60)
@given(st.integers(2, 70), testing.advantages(), st.booleans(), st.integers(0, 2**32 - 1))
def test_many_pass_rates_give_what_few_give(group_size, advantage, mixed_only, seed):
    rng = np.random.default_rng(seed)
    p = np.concatenate([[1e-300, 1e-16, 1 - 2.0**-53], 10.0 ** -rng.uniform(0, 20, 7), rng.random(COMPILED_FROM // 2)])
    few = p[:20]
    size = np.abs(binary_weights(few, group_size, advantage)).max(axis=0) + 1
    for function in (partial(gap, mixed_only=mixed_only), effective_objective)[: 1 + (not mixed_only)]:
        many = function(p, group_size, advantage)[: len(few)]
        assert (np.abs(many - function(few, group_size, advantage)) <= 1e-12 * np.maximum(np.abs(many), size)).all()


@settings(max_examples=40)
@given(st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_gap_is_symmetric_convex_and_grows_with_the_group(group_size, seed):
    """R02, on the compiled paths."""
    start = np.random.default_rng(seed).random() * 1e-4
    p = np.linspace(start, 1 - start, 20_001)
    values = gap(p, group_size, Advantage())
    np.testing.assert_allclose(values, gap(p[::-1], group_size, Advantage(), complement=p), rtol=1e-13)
    assert (np.diff(values[:10_000]) <= 4e-15 * values[:9999]).all()
    assert (gap(p, group_size + 1, Advantage()) >= values * (1 - 4e-15)).all()
    assert (values <= np.sqrt(group_size - 1) * (1 + 4e-15)).all()
    assert (values >= 2 * (group_size - 1) / group_size * (1 - 4e-15)).all()


def test_a_complement_that_is_slightly_off_is_renormalised_everywhere():
    p, q = np.full(COMPILED_FROM, 0.4), np.full(COMPILED_FROM, 0.6 * (1 + 1e-9))
    for size in (8, 64):
        many = gap(p, size, Advantage(), complement=q)[0]
        assert many == pytest.approx(float(gap(0.4, size, Advantage(), complement=q[0])), rel=1e-14)


def test_a_million_prompts_condition_on_mixed_groups_of_1024():
    p = np.linspace(1e-9, 1 - 1e-9, 1_000_000)
    values = gap(p, 1024, Advantage(), mixed_only=True)
    for index in (0, 1, 1000, 500_000, 999_999):
        share = 1 - Fraction(p[index]) ** 1024 - (1 - Fraction(p[index])) ** 1024
        assert values[index] == pytest.approx(float(gap(p[index], 1024, Advantage())) / float(share), rel=1e-12)


def test_what_was_computed_before_hides_no_bad_input():
    assert float(gap(0.5, 2, Advantage())) == 1.0
    for wrong in (2.0, True, [2]):
        with pytest.raises(InputError, match="group_size"):
            gap(0.5, wrong, Advantage())


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
    from reweight.groups.binary_table import binary_table

    exact = Fraction(p) ** group_size + (1 - Fraction(p)) ** group_size
    row = binary_table(Objective(Advantage(), group_size), [Fraction(p)])[0]
    assert row.dead_share == pytest.approx(float(exact), rel=1e-12, abs=0)


def test_the_leave_one_out_scale_at_the_largest_group():
    value = gap(0.3, 1024, Advantage("leave_one_out", "leave_one_out_std"))
    assert value == pytest.approx(1 / np.sqrt(0.21), rel=5e-3)
