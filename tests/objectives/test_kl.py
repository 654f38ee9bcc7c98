"""KL estimators: values and the gradients that their rules have in expectation."""

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.objectives import KLPenalty, kl_expected, kl_gradient

PI, REF = (0.6, 0.3, 0.1), (0.2, 0.3, 0.5)
REVERSE = (0.360233224026392, -0.149467074587237, -0.210766149439156)
FORWARD = (0.4, 0.0, -0.4)


@pytest.mark.parametrize(
    ("estimator", "expected"), [("k1", 0.498223581957456), ("k2", 0.491599207942786), ("k3", 0.498223581957456)]
)
def test_expected_values(estimator, expected):
    assert kl_expected(PI, REF, estimator) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("estimator", "rule", "expected"),
    [
        ("k1", "autograd", (0, 0, 0)),
        ("k2", "autograd", REVERSE),
        ("k3", "autograd", FORWARD),
        ("k3", "ratio_weighted", REVERSE),
        ("k1", "straight_through", REVERSE),
    ],
)
def test_expected_gradients(estimator, rule, expected):
    np.testing.assert_allclose(kl_gradient(PI, REF, estimator, gradient=rule), expected, atol=1e-15)


@pytest.mark.parametrize("forward", [False, True])
def test_the_named_gradients_are_those_of_the_divergences(forward):
    logits, step = np.log(PI), 1e-6

    def divergence(values):
        pi = np.exp(values) / np.exp(values).sum()
        ratio = np.log(pi / REF)
        return -(REF @ ratio) if forward else pi @ ratio

    numeric = [(divergence(logits + step * unit) - divergence(logits - step * unit)) / (2 * step) for unit in np.eye(3)]
    np.testing.assert_allclose(numeric, FORWARD if forward else REVERSE, atol=1e-9)


def test_answers_of_probability_zero_are_allowed_where_the_policy_has_none():
    assert kl_expected([1.0, 0.0], [0.5, 0.5], "k1") == pytest.approx(np.log(2))
    with pytest.raises(InputError, match="infinite"):
        kl_expected([0.5, 0.5], [1.0, 0.0], "k1")
    with pytest.raises(InputError, match="equal length"):
        kl_expected([0.5, 0.5], [0.2, 0.3, 0.5], "k1")


@pytest.mark.parametrize(
    "fields",
    [("k4", 0.1), ("k1", -0.1), ("k1", float("nan")), ("k1", 0.1, "lose"), ("k1", "much")],
)
def test_a_penalty_knows_its_choices(fields):
    with pytest.raises(InputError):
        KLPenalty(*fields)
    with pytest.raises(InputError):
        KLPenalty("k1", 0.1, gradient="detached")


@pytest.mark.parametrize("distance", [1e-3, 1e-6, 1e-9, 1e-12])
def test_small_divergences_keep_their_digits(distance):
    """Second order in the distance, checked in exact fractions times a logarithm in balls."""
    from fractions import Fraction

    from flint import arb, ctx, fmpq

    ref = [Fraction(1, 4), Fraction(3, 4)]
    step = Fraction(2.0 ** round(np.log2(distance)))
    pi = [ref[0] + step, ref[1] - step]
    with ctx.workprec(300):
        masses = [arb(fmpq(*p.as_integer_ratio())) for p in pi]
        ratios = [arb(fmpq(*(p / r).as_integer_ratio())) for p, r in zip(pi, ref, strict=True)]
        exact = float(sum(mass * ratio.log() for mass, ratio in zip(masses, ratios, strict=True)))
    values = [float(p) for p in pi], [float(r) for r in ref]
    assert kl_expected(*values, "k1") == pytest.approx(exact, rel=1e-12, abs=0)
    assert kl_expected(*values, "k3") == pytest.approx(exact, rel=1e-12, abs=0)


def test_extreme_ratios_are_finite_where_the_value_is():
    pi, ref = [1.0, 1e-320], [0.5, 0.5]
    assert kl_expected(pi, ref, "k3") == pytest.approx(np.log(2), rel=1e-12)
    np.testing.assert_allclose(kl_gradient(pi, ref, "k3"), [0.5, -0.5], rtol=1e-12)
    assert np.isfinite(kl_gradient(pi, ref, "k3", gradient="ratio_weighted")).all()


def test_mass_of_the_reference_outside_the_support():
    assert kl_expected([1.0, 0.0], [0.25, 0.75], "k1") == pytest.approx(np.log(4))
    assert kl_expected([1.0, 0.0], [0.25, 0.75], "k3") == pytest.approx(0.25 - 1 + np.log(4))
