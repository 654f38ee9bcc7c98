"""Moments of the advantage and of the gradient against a walk through all groups in fractions or floats."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.groups.advantages import advantages
from reweight.groups.moments import advantage_distribution, dead_share, moments
from reweight.groups.signal import best_constant_baseline, gradient_signal
from reweight.objectives import Advantage

REWARDS, PI = np.array([1.0, 0.0, 0.5, 0.5]), np.array([0.1, 0.4, 0.3, 0.2])
ADVANTAGES = [Advantage(), Advantage(ddof=1, eps=1e-4), Advantage("leave_one_out", "none"), Advantage("none", "none")]


def walk(advantage, size, mixed_only=False):
    """(mass, answers, advantages) of every group, given a mixed one where only these count."""
    groups = []
    for group in product(range(4), repeat=size):
        answers = np.array(group)
        if mixed_only and np.ptp(REWARDS[answers]) == 0:
            continue
        groups.append((np.prod(PI[answers]), answers, advantages(REWARDS[answers], advantage)))
    total = sum(mass for mass, _, _ in groups)
    return [(mass / total, answers, values) for mass, answers, values in groups]


@pytest.mark.parametrize("advantage", ADVANTAGES, ids=range(len(ADVANTAGES)))
@pytest.mark.parametrize("mixed_only", [False, True])
def test_signal_and_noise_of_one_group(advantage, mixed_only):
    size, groups = 3, walk(advantage, 3, mixed_only)
    scores = np.eye(4) - PI
    draws = [(m, values @ scores[answers] / size) for m, answers, values in groups]
    mean = sum(m * g for m, g in draws)
    variance = sum(m * ((g - mean) ** 2).sum() for m, g in draws)
    found = gradient_signal(REWARDS, PI, size, advantage, mixed_only=mixed_only)
    assert found.norm == pytest.approx(np.linalg.norm(mean), rel=1e-12)
    assert found.variance == pytest.approx(variance, rel=1e-12)
    assert found.per_group == pytest.approx((mean**2).sum() / variance, rel=1e-11)
    kept = 1 - sum(PI[level == REWARDS].sum() ** size for level in (0, 0.5, 1))
    assert found.per_generated_rollout == pytest.approx(found.per_group / size * (kept if mixed_only else 1), rel=1e-12)
    assert found.per_kept_rollout == pytest.approx(found.per_group / size, rel=1e-12)
    truth = PI * (REWARDS - PI @ REWARDS)
    assert found.cosine == pytest.approx(mean @ truth / np.linalg.norm(mean) / np.linalg.norm(truth), rel=1e-12)
    assert found.scale == pytest.approx(np.linalg.norm(mean) / np.linalg.norm(truth), rel=1e-12)
    assert found.expected_advantage == pytest.approx(sum(m * np.abs(v).mean() for m, _, v in groups), rel=1e-12)
    assert found.dead_share == pytest.approx(1 - kept, rel=1e-12)


@pytest.mark.parametrize("advantage", ADVANTAGES, ids=range(len(ADVANTAGES)))
def test_moments_by_level(advantage):
    groups, found = walk(advantage, 3), moments(REWARDS, PI, 3, advantage)
    assert found.levels.tolist() == [0, 0.5, 1]
    for a, first in enumerate(found.levels):
        given = [(m, v) for m, y, v in groups if REWARDS[y[0]] == first]
        total = sum(m for m, _ in given)
        assert found.mean[a] == pytest.approx(sum(m * v[0] for m, v in given) / total, abs=1e-13)
        assert found.size[a] == pytest.approx(sum(m * abs(v[0]) for m, v in given) / total, abs=1e-13)
        assert found.square[a] == pytest.approx(sum(m * v[0] ** 2 for m, v in given) / total, abs=1e-13)
        for b, second in enumerate(found.levels):
            both = [(m, v) for m, y, v in groups if REWARDS[y[0]] == first and REWARDS[y[1]] == second]
            total = sum(m for m, _ in both)
            assert found.product[a, b] == pytest.approx(sum(m * v[0] * v[1] for m, v in both) / total, abs=1e-13)
    assert found.to_dict()["expected_size"] == found.expected_size


def test_dead_groups_of_any_rewards():
    for size in (1, 2, 8):
        exact = sum(Fraction(part, 10) ** size for part in (1, 4, 5))
        assert dead_share(REWARDS, PI, size) == pytest.approx(float(exact), rel=1e-13)
    assert dead_share([1, 1], [0.3, 0.7], 8) == 1.0


def test_distribution_of_an_advantage():
    for reward in (0.0, 0.5, 1.0):
        found = advantage_distribution(REWARDS, PI, 3, Advantage(), reward)
        given = [(m, v[0]) for m, y, v in walk(Advantage(), 3) if REWARDS[y[0]] == reward]
        total = sum(m for m, _ in given)
        assert found.masses.sum() == pytest.approx(1, abs=1e-14)
        assert (np.diff(found.values) > 0).all()
        for value, mass in zip(found.values, found.masses, strict=True):
            assert mass == pytest.approx(sum(m for m, v in given if abs(v - value) < 1e-12) / total, abs=1e-13)
        assert found.to_dict()["mean"] == pytest.approx(sum(m * v for m, v in given) / total, abs=1e-13)


def test_no_constant_baseline_is_better_than_the_best():
    best = best_constant_baseline(REWARDS, PI)

    def noise(b):
        scores = np.eye(4) - PI
        draws = (REWARDS - b)[:, None] * scores
        mean = PI @ draws
        return PI @ ((draws - mean) ** 2).sum(axis=1)

    assert noise(best) < min(noise(best - 1e-3), noise(best + 1e-3), noise(PI @ REWARDS))


@pytest.mark.parametrize("rare", [Fraction(1, 2**10), Fraction(1, 2**40), Fraction(1, 2**52)])
def test_where_a_policy_is_nearly_certain(rare):
    """Norm and variance over all groups in fractions: they keep their digits where groups are nearly all alike."""
    pi, rewards, size = [1 - rare, rare / 2, rare / 2], [Fraction(1), Fraction(0), Fraction(1, 2)], 3
    groups = []
    for group in product(range(3), repeat=size):
        mean = sum(rewards[answer] for answer in group) / size
        gradient = [
            sum((rewards[answer] - mean) * ((answer == other) - pi[other]) for answer in group) / size
            for other in range(3)
        ]
        groups.append((pi[group[0]] * pi[group[1]] * pi[group[2]], gradient))
    center = [sum(mass * gradient[k] for mass, gradient in groups) for k in range(3)]
    norm2 = sum(each**2 for each in center)
    variance = sum(mass * sum((g - c) ** 2 for g, c in zip(gradient, center, strict=True)) for mass, gradient in groups)
    found = gradient_signal([1.0, 0.0, 0.5], [float(mass) for mass in pi], size, Advantage(scale="none"))
    assert found.norm**2 == pytest.approx(float(norm2), rel=1e-12)
    assert found.variance == pytest.approx(float(variance), rel=1e-12)
    assert found.per_group == pytest.approx(float(norm2 / variance), rel=1e-12)


def test_the_best_baseline_where_a_policy_is_nearly_certain():
    rare = Fraction(1, 2**45)
    pi, rewards = [1 - rare, rare / 4, 3 * rare / 4], [1, 0, Fraction(1, 2)]
    weight = [p * ((1 - p) ** 2 + sum(other**2 for other in pi) - p**2) for p in pi]
    exact = sum(w * r for w, r in zip(weight, rewards, strict=True)) / sum(weight)
    found = best_constant_baseline([1.0, 0.0, 0.5], [float(p) for p in pi])
    assert found == pytest.approx(float(exact), rel=1e-13)


def test_without_noise_or_signal():
    certain = gradient_signal([1, 1], [0.5, 0.5], 4, Advantage())
    assert (certain.norm, certain.variance, certain.per_group, certain.cosine) == (0.0, 0.0, 0.0, None)
    assert "cosine                  -" in str(certain)
    always = gradient_signal([1, 0], [0.5, 0.5], 2, Advantage(), mixed_only=True)
    assert always.to_dict()["per_group"] is None  # every mixed pair has the same gradient


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gradient_signal([1, 1], [0.5, 0.5], 4, Advantage(), mixed_only=True), "no group is mixed"),
        (lambda: moments([1, 0], [1.0], 4, Advantage()), "rewards of shape"),
        (lambda: advantage_distribution([1, 0], [0.5, 0.5], 4, Advantage(), 0.3), "choose one of 0, 1"),
        (lambda: best_constant_baseline([1, 0], [1.0, 0.0]), "one answer has all"),
        (lambda: moments([1, 0], [0.5, 0.5], 1, Advantage()), "group of one"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
