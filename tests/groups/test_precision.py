"""Balls hold the exact value, and float64 keeps its promise at the corners of its domain."""

from fractions import Fraction

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.groups.binary import binary_weights, gap
from reweight.groups.coefficients import expected_coefficients
from reweight.groups.weights import PROMISES, group_weights, weigh
from reweight.objectives import Advantage, Clip, Filter, KLPenalty, Objective, Ratio, RewardRule
from reweight.policies.flat import FlatPolicy
from reweight.problems import Problem, Verifier
from small_tree import SmallTree

ADVANTAGES = [
    Advantage(),
    Advantage(ddof=1, eps=1e-4),
    Advantage(ddof=1, eps=1e-6, eps_rule="inside_root"),
    Advantage("leave_one_out", ddof=1, eps=1e-9),
]
RATES = [1e-300, 1e-16, 1e-9, 0.01, 0.3, 0.5, 1 - 1e-3, 1 - 1e-16]


def off(found, ball):
    """|float - value| as a float, from a ball much narrower than the difference that matters."""
    from flint import arb

    return float(abs(arb(float(found)) - ball).mid())


@pytest.mark.parametrize("advantage", ADVANTAGES, ids=range(len(ADVANTAGES)))
def test_gap_at_the_corners(advantage, record_property):
    worst = (0.0, None)
    for size in (2, 3, 8, 64, 256, 1024):
        for p in RATES if size < 256 else RATES[size == 1024 :: 3]:
            ball = gap(p, size, advantage, precision="ball", radius=1e-25)
            error = off(gap(p, size, advantage), ball) / float(ball.mid())
            worst = max(worst, (error, (size, p)))
    record_property("worst", worst)
    assert worst[0] <= 1e-12


CORNERS = {
    "three levels": [0.0, 0.5, 1.0],
    "near tie below": [0.0, 1e-9, 1.0],
    "near tie above": [0.0, 1 - 1e-9, 1.0],
    "neighbouring floats": [0.0, 0.3, 0.3 + 6e-17, 1.0],
    "large offset": [1e6, 1e6 + 0.5, 1e6 + 1],
    "two of four": [0.1, 0.2, 0.4, 0.7],
}
MASSES = [
    lambda n: np.full(n, 1 / n),
    lambda n: np.array([1e-300, *np.full(n - 1, 1 / (n - 1))]),
    lambda n: np.array([*np.full(n - 1, 1e-12), 1 - (n - 1) * 1e-12]),
    lambda n: np.array([0.5, *np.full(n - 2, 1e-15), 0.5]),
]


@pytest.mark.parametrize("name", CORNERS)
def test_weights_at_the_corners(name, record_property):
    levels, worst = CORNERS[name], (0.0, None)
    for advantage in ADVANTAGES:
        for size in (2, 3, 8):
            for masses in (make(len(levels)) / make(len(levels)).sum() for make in MASSES):
                exact = group_weights(levels, masses, size, advantage, precision="ball", radius=1e-25)
                scale = np.array(given_sizes(levels, masses, size, advantage))
                for method in PROMISES:
                    try:
                        found = weigh(levels, masses, size, advantage, method=method).weights
                    except InputError:
                        continue
                    if method == "lattice":
                        continue  # a decimal level means the decimal there, not the float
                    errors = [off(w, ball) for w, ball in zip(found, exact, strict=True)] / np.maximum(scale, 1e-300)
                    worst = max(worst, (float(errors.max()), (method, size, masses.tolist())), key=lambda pair: pair[0])
    record_property("worst", worst)
    assert worst[0] <= 1e-12, worst


def given_sizes(levels, masses, size, advantage):
    from reweight.groups.moments import moments

    return moments(levels, masses, size, advantage).size


@pytest.mark.parametrize(
    "advantage", [*ADVANTAGES, Advantage("second_best", selection="best"), Advantage(scale="mean")]
)
def test_balls_hold_the_rational_value(advantage):
    rewards = [Fraction(1), Fraction(1, 2), Fraction(0)]
    masses = [Fraction(1, 5), Fraction(1, 3), Fraction(7, 15)]
    exact = group_weights(rewards, masses, 4, advantage, precision="rational")
    balls = group_weights(rewards, masses, 4, advantage, precision="ball", radius=1e-40)
    for value, ball in zip(exact, balls, strict=True):
        assert ball.overlaps(value.ball(400))
        assert ball.rad() <= 1e-39
    if advantage.selection == "all":
        p = Fraction(1, 7)
        assert gap(p, 5, advantage, precision="ball", radius=1e-40).overlaps(gap(p, 5, advantage).ball(400))


COEFFICIENTS = [
    Objective(Advantage(ddof=1, eps=1e-4), 4, clip=Clip(0.2, 0.28)),
    Objective(Advantage(), 3, clip=Clip(0.1, 0.1, dual=1.2), kl=KLPenalty("k3", 0.04)),
    Objective(Advantage(), 3, kl=KLPenalty("k1", 0.2, gradient="ratio_weighted"), aggregation="sequence_mean"),
    Objective(Advantage("length_weighted", "none"), 3, ratio=Ratio("sequence_mean"), clip=Clip(3e-4, 4e-4)),
    Objective(Advantage(), 3, ratio=Ratio("detached_weight"), clip=Clip(1.0, 0.05), aggregation="sequence_sum"),
    Objective(Advantage(), 3, ratio=Ratio("sequence_product"), kl=KLPenalty("k2", 0.3)),
]


@pytest.mark.parametrize("objective", COEFFICIENTS, ids=range(len(COEFFICIENTS)))
@pytest.mark.parametrize("noisy", [False, True])
def test_coefficients_in_balls(objective, noisy):
    verifier = Verifier.binary([True, False, False], tpr=0.8, fpr=0.1) if noisy else None
    problem = Problem([1, 0, 0] if noisy else [1, 0, 0.5], lengths=[2, 5, 3], verifier=verifier)
    old, now, reference = (
        FlatPolicy.from_probabilities(row) for row in ([0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.25, 0.25, 0.5])
    )
    balls = expected_coefficients(problem, now, objective, old=old, reference=reference, precision="ball", radius=1e-25)
    floats = expected_coefficients(problem, now, objective, old=old, reference=reference)
    for found, ball in zip(floats, balls, strict=True):
        assert off(found, ball) <= 1e-14
        assert ball.rad() <= 1e-24


def test_coefficients_of_several_tokens_in_balls():
    old, now = SmallTree(np.array([0.3, -0.5, 0.4, 0.2, -0.6])), SmallTree(np.array([0.5, -0.2, 0.1, -0.3, 0.4]))
    problem = Problem([1.0, 0.0, 0.5, 1.0], correct=[True, False, False, True])
    objective = Objective(Advantage(ddof=1), 3, clip=Clip(0.05, 0.1))
    balls = expected_coefficients(problem, now, objective, old=old, precision="ball", radius=1e-25)
    floats = expected_coefficients(problem, now, objective, old=old)
    assert balls.shape == floats.shape
    assert max(off(x, y) for x, y in zip(floats.ravel(), balls.ravel(), strict=True)) <= 1e-14


def test_balls_of_coefficients_refuse_what_they_cannot_enclose():
    problem, policy = Problem([1, 0]), FlatPolicy.from_probabilities([0.5, 0.5])
    for objective, word in (
        (Objective(Advantage(), 2, filter=Filter()), "a filter"),
        (Objective(Advantage("none", "none"), 2, reward=RewardRule("pass_at_k", k=1)), "transformed"),
        (Objective(Advantage(), 2, kl=KLPenalty("k1", 0.1, "reward")), "outside the loss"),
    ):
        with pytest.raises(InputError, match=word):
            expected_coefficients(problem, policy, objective, reference=policy, precision="ball", radius=1e-20)
    with pytest.raises(InputError, match="give both or neither"):
        expected_coefficients(problem, policy, Objective(Advantage(), 2), precision="ball")


def test_an_exact_zero_has_a_ball():
    middle = group_weights([0.0, 0.5, 1.0], [0.25, 0.5, 0.25], 6, Advantage(), precision="ball", radius=1e-30)[1]
    assert middle.overlaps(0 * middle)
    assert middle.rad() < 1e-30


def test_balls_of_noisy_and_mixed_gaps():
    plain = gap(0.1, 8, Advantage(ddof=1), tpr=0.9, fpr=0.1, precision="ball", radius=1e-20)
    assert off(gap(0.1, 8, Advantage(ddof=1), tpr=0.9, fpr=0.1), plain) < 1e-15
    mixed = gap(0.01, 8, Advantage(), mixed_only=True, precision="ball", radius=1e-20)
    assert off(gap(0.01, 8, Advantage(), mixed_only=True), mixed) < 1e-12
    by_logit = gap(logit=[-30.0, 2.0], group_size=8, precision="ball", radius=1e-20)
    for odds, ball in zip((-30.0, 2.0), by_logit, strict=True):
        assert off(gap(logit=odds, group_size=8), ball) < 1e-13
    near = gap(1.0, 8, complement=1e-200, precision="ball", radius=1e-20)
    assert off(gap(1.0, 8, complement=1e-200), near) < 1e-13


def test_both_weights_of_a_binary_prompt():
    for p in RATES:
        right, wrong = binary_weights(p, 8, Advantage(ddof=1))
        balls = group_weights(
            [1.0, 0.0], [Fraction(p), 1 - Fraction(p)], 8, Advantage(ddof=1), precision="ball", radius=1e-320
        )
        for found, ball in zip((right, wrong), balls, strict=True):
            assert off(found, ball) <= 1e-12 * abs(float(ball.mid()))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gap(0.1, 8, precision="ball"), "give both or neither"),
        (lambda: gap(0.1, 8, radius=1e-20), "give both or neither"),
        (lambda: group_weights([1, 0], [0.5, 0.5], 4, Advantage(), precision="ball", radius=0.0), "radius"),
        (
            lambda: group_weights([1, 0], [0.5, 0.5], 4, Advantage(), precision="ball", radius=1e-9, method="pairs"),
            "for float64",
        ),
        (
            lambda: group_weights(np.arange(12), np.full(12, 1 / 12), 32, Advantage(), precision="ball", radius=1e-9),
            "terms",
        ),
        (lambda: gap(0.5, 8, Advantage("none", "none"), precision="exact"), "precision"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
