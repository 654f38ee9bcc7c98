"""The discovery ceiling over random sampled runs, and what happens when one of its hypotheses is dropped."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reweight.bounds import discovery_ceiling


def softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def push(policy: NDArray[np.float64], group: list[int], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over the group of coefficient times (indicator of the sample minus policy): the softmax gradient."""
    gradient = -policy * coefficients.sum()
    np.add.at(gradient, group, coefficients)
    return gradient / len(group)


@given(st.data())
def test_steps_momentum_divisors_and_averaging_are_free(data: st.DataObject) -> None:
    """Any positive divisor a group (so batch std), any steps, heavy-ball momentum, several groups an update."""
    masses = np.array(data.draw(st.lists(st.integers(1, 10**4), min_size=5, max_size=5)), dtype=float)
    base, correct = masses / masses.sum(), np.array([True, True, True, False, False])
    momentum = data.draw(st.sampled_from([0.0, 0.5, 0.9]))
    logits, velocity, seen = np.log(base), np.zeros(5), set[int]()
    for _ in range(data.draw(st.integers(1, 6))):
        gradient = np.zeros(5)
        for _ in range(data.draw(st.integers(1, 3))):
            group = data.draw(st.lists(st.integers(0, 4), min_size=4, max_size=4))
            centred = correct[group] - correct[group].mean()
            gradient += push(softmax(logits), group, centred / data.draw(st.sampled_from([0.2, 1.0, 7.0])))
            seen |= set(group)
        velocity = momentum * velocity + gradient
        logits = logits + data.draw(st.sampled_from([0.1, 1.0, 10.0])) * velocity
        policy = softmax(logits)
        wrong = sum(base[y] for y in seen if not correct[y])
        for y in set(range(5)) - seen:
            assert policy[y] <= float(discovery_ceiling(base[y], base[correct].sum(), wrong)) * (1 + 1e-9)


def highest(base: NDArray[np.float64], group: list[int], *, epochs: int) -> float:
    """Highest probability of answer 0 while one group comes again and again, clip range .2, step .1."""
    logits, reached = np.log(base), 0.0
    rewards = (np.array(group) != 3).astype(float)
    advantages = (rewards - rewards.mean()) / rewards.std()
    for _ in range(200):
        old = softmax(logits)
        for _ in range(epochs):
            policy = softmax(logits)
            ratio = policy[group] / old[group]
            clipped = np.where(advantages > 0, ratio > 1.2, ratio < 0.8)
            logits = logits + 0.1 * push(policy, group, np.where(clipped, 0.0, ratio * advantages))
        reached = max(reached, softmax(logits)[0])
    return reached


def test_a_second_inner_epoch_breaks_the_ceiling() -> None:
    """Unsampled logits then fall by amounts that grow with their probability, which favours the rarer answer."""
    base = np.array([0.1, 0.4, 1e-9, 0.5 - 1e-9])
    ceiling = float(discovery_ceiling(0.1, 0.5 + 1e-9))
    assert 0.999 * ceiling < highest(base, [2, 3], epochs=1) <= ceiling
    assert highest(base, [2, 3], epochs=2) > 1.3 * ceiling


def test_a_batch_mean_baseline_breaks_the_ceiling() -> None:
    """A group of wrong answers measured against a better batch pushes all unsampled logits up by their probability."""
    base = np.array([0.2, 0.1, 0.7])
    after = softmax(np.log(base) + 50 * push(base, [2, 2], np.array([-0.5, -0.5])))
    assert after[0] > 1.4 * float(discovery_ceiling(0.2, 0.3))
