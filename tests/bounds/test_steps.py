"""One-step and horizon bounds against exact updates of small softmax policies."""

import math
from itertools import chain, combinations, combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reweight.bounds import log_odds_step_bound, steps_lower_bound, tilt_steps_upper_bound, unsampled_step_bound
from reweight.errors import InputError

SETTINGS = [(0, "std", 0.0), (1, "std", 0.0), (0, "std", 0.1), (1, "std", 0.5), (0, "none", 0.0)]
UPDATES = ("sampled_policy_gradient", "policy_gradient", "tilt")
TINY = 1 + 1e-12


def group_advantages(rewards: NDArray[np.float64], ddof: int, scale: str, eps: float) -> NDArray[np.float64]:
    centred = rewards - rewards.mean()
    if np.ptp(rewards) == 0:
        return np.zeros_like(centred)
    return centred / (rewards.std(ddof=ddof) + eps) if scale == "std" else centred


def binary_gap(p: float, size: int, ddof: int, scale: str, eps: float) -> float:
    """Gap as E[sum of positive advantages / G] / (p q), over the number of successes."""
    terms = []
    for wins in range(1, size):
        group = np.array([1.0] * wins + [0.0] * (size - wins))
        positive = group_advantages(group, ddof, scale, eps)[:wins].sum() / size
        terms.append(math.comb(size, wins) * p ** (wins - 1) * (1 - p) ** (size - wins - 1) * positive)
    return math.fsum(terms)


def moved(policy: NDArray[np.float64], push: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = policy * np.exp(push)
    return weights / weights.sum()


def largest_log_odds_change(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    answers = range(len(before))
    sets = chain.from_iterable(combinations(answers, size) for size in range(1, len(before)))
    changes = []
    for members in map(list, sets):
        rest = [y for y in answers if y not in members]
        changes.append(math.log(after[members].sum() / after[rest].sum() * before[rest].sum() / before[members].sum()))
    return max(map(abs, changes))


@st.composite
def policies(draw: st.DrawFn, size: int = 4) -> NDArray[np.float64]:
    logits = np.array(draw(st.lists(st.floats(-12, 12), min_size=size, max_size=size)))
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


@pytest.mark.parametrize(("ddof", "scale", "eps"), SETTINGS)
@given(data=st.data(), policy=policies())
def test_sampled_update_obeys_every_bound(
    ddof: int, scale: str, eps: float, data: st.DataObject, policy: NDArray[np.float64]
) -> None:
    size, step = data.draw(st.integers(2, 7)), data.draw(st.sampled_from([0.01, 0.5, 3.0]))
    rewards = np.array(data.draw(st.sampled_from([(1, 1, 0, 0), (1, 0, 0, 0), (1, 0.5, 0.25, 0), (0.1, 0, 1, 0.9)])))
    averaged = data.draw(st.integers(1, 3))
    push = np.zeros(4)
    for _ in range(averaged):
        group = np.array(data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)))
        np.add.at(push, group, step / size / averaged * group_advantages(rewards[group], ddof, scale, eps))
    after = moved(policy, push)
    bound = float(log_odds_step_bound(step, size, ddof=ddof, scale=scale, eps=eps))
    assert largest_log_odds_change(policy, after) <= bound * TINY + 1e-12
    ratios = np.abs(np.log(after / policy))
    assert ratios.max() <= bound * TINY + 1e-12
    untouched = ratios[push == 0]
    assert (untouched <= float(unsampled_step_bound(step, size, ddof=ddof, scale=scale, eps=eps)) * TINY + 1e-12).all()


@pytest.mark.parametrize(("ddof", "scale", "eps"), SETTINGS)
@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 9])
def test_sampled_bounds_are_attained(ddof: int, scale: str, eps: float, size: int) -> None:
    policy = np.array([1e-12, 1 - 2e-12, 1e-12])  # correct, wrong, unsampled
    reached, unsampled = 0.0, 0.0
    for wins in range(size + 1):
        group = group_advantages(np.array([1.0] * wins + [0.0] * (size - wins)), ddof, scale, eps)
        after = moved(policy, np.array([group[:wins].sum(), group[wins:].sum(), 0.0]) / size)
        reached = max(reached, math.log(after[0] / after[1] * policy[1] / policy[0]))
        unsampled = max(unsampled, math.log(after[2] / policy[2]))
    assert reached == pytest.approx(float(log_odds_step_bound(1.0, size, ddof=ddof, scale=scale, eps=eps)), rel=1e-10)
    assert unsampled == pytest.approx(float(unsampled_step_bound(1.0, size, ddof=ddof, scale=scale, eps=eps)), rel=1e-9)


def test_two_level_groups_push_most() -> None:
    """No group of five levels, of any size to 6, pushes more than the bound, with eps and without."""
    levels = np.linspace(0, 1, 5)
    for size in range(2, 7):
        for ddof, scale, eps in SETTINGS:
            bound = float(unsampled_step_bound(1.0, size, ddof=ddof, scale=scale, eps=eps))
            for rewards in combinations_with_replacement(levels, size):
                advantages = group_advantages(np.array(rewards), ddof, scale, eps)
                assert np.maximum(advantages, 0).sum() / size <= bound * TINY


@pytest.mark.parametrize(("ddof", "scale", "eps"), SETTINGS)
@given(policy=policies(), size=st.integers(2, 9), step=st.sampled_from([0.1, 1.0, 5.0]), winners=st.integers(1, 3))
def test_expected_updates_obey_their_bounds(
    ddof: int, scale: str, eps: float, policy: NDArray[np.float64], size: int, step: float, winners: int
) -> None:
    correct = np.arange(4) < winners
    p = float(policy[correct].sum())
    gap = binary_gap(p, size, ddof, scale, eps)
    weights = np.where(correct, (1 - p) * gap, -p * gap)
    for update, push in (("policy_gradient", step * policy * weights), ("tilt", step * weights)):
        bound = float(log_odds_step_bound(step, size, update=update, ddof=ddof, scale=scale, eps=eps))
        assert largest_log_odds_change(policy, moved(policy, push)) <= bound * TINY + 1e-12


def test_published_values() -> None:
    sizes = np.array([2, 4, 8, 64])
    np.testing.assert_allclose(log_odds_step_bound(0.3, sizes), 0.3, rtol=1e-15)
    np.testing.assert_allclose(log_odds_step_bound(0.3, sizes, ddof=1), 0.3 * np.sqrt((sizes - 1) / sizes), rtol=1e-15)
    np.testing.assert_allclose(log_odds_step_bound(0.3, sizes, scale="none"), 0.15, rtol=1e-15)
    np.testing.assert_allclose(log_odds_step_bound(0.3, sizes, update="tilt"), 0.3 * np.sqrt(sizes - 1), rtol=1e-15)
    assert float(log_odds_step_bound(1.0, 5)) == pytest.approx(math.sqrt(24) / 5, rel=1e-15)


def test_policy_gradient_bound_is_sharp_as_groups_grow() -> None:
    for size, slack in ((8, 0.04), (64, 0.005), (512, 0.001)):
        reached = 2 * 0.25 * binary_gap_by_log(size)
        bound = float(log_odds_step_bound(1.0, size, update="policy_gradient"))
        assert bound * (1 - slack) <= reached <= bound


def binary_gap_by_log(size: int) -> float:
    """Gap at p = 1/2, ddof 0, with whole-number binomials: C(G, K) sqrt(K (G-K)) / G summed over K, over 2^G p q."""
    total = math.fsum(math.comb(size, k) / 2**size * math.sqrt(k * (size - k)) / size for k in range(1, size))
    return total / 0.25


def tilt_path(start: float, step: float, size: int, setting: tuple[int, str, float], updates: int) -> list[float]:
    logits = [math.log(start / (1 - start))]
    for _ in range(updates):
        p = 1 / (1 + math.exp(-logits[-1]))
        logits.append(logits[-1] + step * binary_gap(p, size, *setting))
    return logits


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_tilt_needs_a_number_of_steps_between_the_bounds(size: int, setting: tuple[int, str, float]) -> None:
    ddof, scale, eps = setting
    logits = tilt_path(1e-4, 0.3, size, setting, 150)
    rates = [1 / (1 + math.exp(-logit)) for logit in logits]
    for target in (0.001, 0.1, 0.5, 0.99):
        first = next(t for t, p in enumerate(rates) if p >= target)
        options = {"ddof": ddof, "scale": scale, "eps": eps}
        least = float(steps_lower_bound(rates[0], target, 0.3, size, update="tilt", **options))
        most = float(tilt_steps_upper_bound(rates[0], target, 0.3, size, **options))
        assert least <= first <= most
        if size <= 3 or scale == "none":
            assert first == most == math.ceil(least)


def test_sampled_run_attains_the_lower_bound() -> None:
    """One correct, one wrong answer, every group evenly split: logit grows by the step each time."""
    rate = 1 / (1 + math.exp(-5 * 0.4))
    assert float(steps_lower_bound(0.5, rate, 0.4, 8)) == pytest.approx(5, rel=1e-13)


def test_steps_at_the_edges() -> None:
    assert steps_lower_bound([0.0, 1.0, 0.3], [0.0, 1.0, 0.3], 0.0, 8).tolist() == [0.0, 0.0, 0.0]
    assert steps_lower_bound([0.0, 0.5, 0.5], [0.5, 1.0, 0.6], [1.0, 1.0, 0.0], 8).tolist() == [np.inf] * 3
    assert steps_lower_bound(0.2, 0.7, 0.1, 8) == steps_lower_bound(0.7, 0.2, 0.1, 8)
    assert tilt_steps_upper_bound([0.7, 0.0, 0.5, 1.0], [0.2, 0.5, 1.0, 1.0], 0.1, 8).tolist() == [0, np.inf, np.inf, 0]
    distance = float(steps_lower_bound(1e-300, 1 - 2**-53, 1.0, 8))
    assert distance == pytest.approx(300 * math.log(10) + 53 * math.log(2), rel=1e-14)
    assert float(steps_lower_bound(0.3, 0.3 + 2**-50, 1.0, 8)) == pytest.approx(2**-50 / 0.21, rel=1e-12)
    assert float(steps_lower_bound(5e-324, 1.0 - 2**-53, 1.0, 8)) == pytest.approx(744.44 + 36.74, abs=0.01)


@pytest.mark.parametrize("update", UPDATES)
def test_bad_steps_are_refused(update: str) -> None:
    with pytest.raises(InputError, match="step must be at least 0"):
        log_odds_step_bound(-0.1, 8, update=update)
    with pytest.raises(InputError, match="group_size"):
        log_odds_step_bound(0.1, 1, update=update)
    with pytest.raises(InputError, match="start"):
        steps_lower_bound(1.2, 0.5, 0.1, 8, update=update)
    with pytest.raises(InputError, match="end"):
        steps_lower_bound(0.2, float("nan"), 0.1, 8, update=update)


def test_unknown_update_is_refused() -> None:
    with pytest.raises(InputError, match="update must be one of 'sampled_policy_gradient'"):
        log_odds_step_bound(0.1, 8, update="adam")
