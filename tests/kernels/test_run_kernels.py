"""Kernels of whole runs against their numpy twins, the package's own updates, and every path."""

from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.special import expit, logit

from reweight import Advantage, FlatPolicy, InputError, Objective, PolicyGradient, Problem, Tilt, gap, group_weights
from reweight.groups.binary import binary_advantages
from reweight.kernels.flow_map import flow_map
from reweight.kernels.lumped_tilt import lumped_tilt, lumped_tilt_twin
from reweight.kernels.sampled_law import sampled_law, sampled_law_twin
from reweight.kernels.softmax_step import LevelSoftmax, softmax_step_twin
from reweight.kernels.tree_step import TreeScratch, tree_step, tree_step_twin


def bernstein_coefficients(size, advantage):
    right, wrong = binary_advantages(size, advantage)
    return right[1:] - wrong[:-1]


@pytest.mark.parametrize("size", [2, 8, 32, 64, 256])
def test_lumped_tilts_are_the_update(size):
    advantage = Advantage(ddof=1, eps=1e-4)
    coefficients = bernstein_coefficients(size, advantage)
    coefficients = (coefficients + coefficients[::-1]) / 2
    start = np.linspace(-20, 20, 41)
    found = lumped_tilt(start, 50, 0.1, coefficients)
    np.testing.assert_allclose(found, lumped_tilt_twin(start, 50, 0.1, coefficients), atol=1e-12)
    policy, problem = FlatPolicy.from_probabilities([expit(start[5]), expit(-start[5])]), Problem([1, 0])
    for _ in range(50):
        policy = Tilt(0.1).apply(problem, policy, Objective(advantage, size))
    assert np.subtract(*policy.log_probs(problem).total) == pytest.approx(found[5], abs=1e-11)


@pytest.mark.parametrize(("size", "step"), [(8, 0.05), (64, 0.5), (1024, 0.05)])
def test_a_flow_map_keeps_its_bound(size, step):
    coefficients = bernstein_coefficients(size, Advantage())
    coefficients = (coefficients + coefficients[::-1]) / 2
    moved = flow_map(-8.0, 8.0, 300, step, coefficients)
    start = np.random.default_rng(0).uniform(-8, 8, 500)
    error = np.abs(moved(start) - lumped_tilt(start, 300, step, coefficients)).max()
    assert error <= max(moved.error_bound, 1e-12)
    assert moved.error_bound <= 1e-10
    with pytest.raises(InputError, match="outside"):
        moved(np.array([9.0]))


def test_level_softmax_follows_the_policy_gradient():
    rng = np.random.default_rng(1)
    levels = [rng.random(20_000) + 0.1, rng.random(3) + 0.1, rng.random(9000) + 0.1]
    rewards = np.repeat([1.0, 0.5, 0.0], [row.size for row in levels])
    policy = LevelSoftmax(levels)
    log_probs = np.log(np.concatenate(levels) / sum(row.sum() for row in levels))
    for step in (1.0, 5e3, 1.0):  # the second leaves the short series
        weights = group_weights([1.0, 0.5, 0.0], policy.masses, 8, Advantage())
        policy.policy_gradient(weights, step)
        log_probs = softmax_step_twin(log_probs, weights[((1 - rewards) * 2).astype(int)], step)
    np.testing.assert_allclose(np.concatenate(policy.probabilities()), np.exp(log_probs), rtol=1e-11)


def test_level_softmax_is_the_flat_policy():
    problem, flat = Problem([1, 1, 0]), FlatPolicy.from_probabilities([0.2, 0.1, 0.7])
    policy = LevelSoftmax([np.array([0.2, 0.1]), np.array([0.7])])
    objective = Objective(Advantage(), 4)
    for _ in range(5):
        p = float(policy.masses[0])
        delta = float(gap(p, 4, Advantage()))
        policy.policy_gradient([(1 - p) * delta, -p * delta], 0.7)
        policy.tilt([(1 - p) * delta, -p * delta], 0.0)
        flat = PolicyGradient(0.7).apply(problem, flat, objective)
    np.testing.assert_allclose(
        np.concatenate(policy.probabilities()), flat.log_probs(problem).probabilities, rtol=1e-12
    )
    policy.tilt([1.0, -1.0], 0.3)
    p = flat.log_probs(problem).probabilities[:2].sum()
    assert logit(policy.masses[0]) == pytest.approx(logit(p) + 0.6, abs=1e-12)
    with pytest.raises(InputError, match="positive"):
        LevelSoftmax([np.array([0.0])])


def test_level_softmax_stays_in_range():
    """Levels whose weights are hundreds of orders of magnitude apart, tilts of thousands of nats, weights that grow."""
    far = LevelSoftmax([[1e-290, 3e-290], [1e-290], [2e280]])
    np.testing.assert_allclose(np.concatenate(far.probabilities()), [0.0, 0.0, 0.0, 1.0], rtol=1e-12)
    for _ in range(20):
        far.tilt([100.0, 100.0, 0.0], 1.0)
    log_probs = np.array([*np.log([0.2, 0.6, 0.2]), np.log(2e280) - np.log(5e-290) - 2000])
    np.testing.assert_allclose(np.concatenate(far.probabilities()), np.exp(log_probs), rtol=1e-11)
    for _ in range(50):
        far.policy_gradient([200.0, 200.0, 0.0], 1.0)
        log_probs = softmax_step_twin(log_probs, np.array([200.0, 200.0, 0.0, 0.0]), 1.0)
    np.testing.assert_allclose(np.concatenate(far.probabilities()), np.exp(log_probs), rtol=1e-9, atol=1e-200)


def test_the_number_of_threads_changes_no_bit():
    from numba import get_num_threads, set_num_threads

    found, threads = [], get_num_threads()
    for count in (1, threads):
        set_num_threads(count)
        try:
            rng = np.random.default_rng(0)
            policy = LevelSoftmax([rng.random(300_000), rng.random(200_000)])
            logits = [rng.normal(size=(4, 4**depth)) for depth in range(9)]
            pass_rate = tree_step(logits, rng.random(4**9) < 0.1, 0.1, lambda _: 1.0)
            policy.policy_gradient([1.0, -1.0], 1e4)
            found.append((pass_rate, *(row.tobytes() for row in [*policy.levels, policy.masses, *logits])))
        finally:
            set_num_threads(threads)
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LevelSoftmax([]), "no reward level"),
        (lambda: LevelSoftmax([[1.0], []]), "level 1 must be a list of at least one"),
        (lambda: LevelSoftmax([[1.0, np.inf]]), "level 0 must be positive and finite"),
        (lambda: LevelSoftmax([[0.5], [0.5]]).policy_gradient([1.0], 1.0), "for 2 levels"),
        (lambda: LevelSoftmax([[0.5], [0.5]]).policy_gradient([1.0, np.nan], 1.0), "level_weights"),
        (lambda: LevelSoftmax([[0.5], [0.5]]).policy_gradient([1.0, 0.0], 1e3), "moves a logit by 500 nats"),
        (lambda: LevelSoftmax([[0.5], [0.5]]).tilt([1e300, 0.0], 1e300), "not finite"),
    ],
)
def test_what_a_level_softmax_refuses(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize(("size", "steps"), [(2, 5), (3, 5), (4, 4), (5, 3)])
def test_the_law_of_a_sampled_run_is_that_of_all_paths(size, steps):
    right, wrong = binary_advantages(size, Advantage())
    k = np.arange(1, size // 2 + 1)
    increments = 0.8 / size * (k * right[k] - (size - k) * wrong[k])
    law = sampled_law(-1.0, steps, increments, size)
    assert len(law.masses) == comb(steps + size // 2, size // 2)
    assert law.masses.sum() == pytest.approx(1, abs=1e-13)
    mean = 0.0
    for path in product(range(size + 1), repeat=steps):
        theta, mass = -1.0, 1.0
        for correct in path:
            p = expit(theta)
            mass *= comb(size, correct) * p**correct * (1 - p) ** (size - correct)
            theta += 0.8 / size * (correct * right[correct] - (size - correct) * wrong[correct])
        mean += mass * expit(theta)
    assert law.mean_pass_rate == pytest.approx(mean, abs=1e-12)
    twin = sampled_law_twin(-1.0, steps, increments, size)
    assert twin.mean_pass_rate == pytest.approx(mean, abs=1e-12)
    with pytest.raises(InputError, match="numbers"):
        sampled_law(0.0, 3, np.ones(7), size)


@pytest.mark.parametrize(("children", "depth"), [(4, 7), (3, 9), (300, 2)], ids=["even", "odd", "wide"])
def test_trees_of_several_blocks(children, depth):
    rng = np.random.default_rng(depth)
    logits = [rng.normal(size=(children, children**level)) for level in range(depth)]
    correct, scratch = rng.random(children**depth) < 0.2, TreeScratch(logits)
    for _ in range(2):  # the second step finds the scratch of the first
        expected, pass_rate = tree_step_twin(logits, correct, 3.0, lambda p: 1 - p)
        assert tree_step(logits, correct, 3.0, lambda p: 1 - p, scratch=scratch) == pytest.approx(pass_rate, rel=1e-12)
        for found, twin in zip(logits, expected, strict=True):
            np.testing.assert_allclose(found, twin, rtol=0, atol=1e-12)
    with pytest.raises(InputError, match="a tree of another shape"):
        tree_step(logits[:1], np.zeros(children), 1.0, lambda _: 1.0, scratch=scratch)


@pytest.mark.parametrize(("children", "depth"), [(2, 1), (2, 4), (3, 3)])
def test_a_step_on_a_tree(children, depth):
    rng = np.random.default_rng(children * depth)
    logits = [rng.normal(size=(children, children**d)) for d in range(depth)]
    correct = (rng.random(children**depth) < 0.4).astype(float)
    correct[0] = 1.0
    moved, before = tree_step_twin(logits, correct, 0.7, lambda p: float(gap(p, 4, Advantage())))
    mine = [z.copy() for z in logits]
    assert tree_step(mine, correct, 0.7, lambda p: float(gap(p, 4, Advantage()))) == pytest.approx(before, abs=1e-15)
    for left, right in zip(mine, moved, strict=True):
        np.testing.assert_allclose(left, right, atol=1e-15)

    def leaves(tables):
        mass = np.ones(1)
        for z in tables:
            mass = (np.exp(z - z.max(axis=0)) / np.exp(z - z.max(axis=0)).sum(axis=0) * mass).ravel()
        return mass

    pi = leaves(logits)
    p = pi @ correct
    delta = float(gap(p, 4, Advantage()))
    weights = np.where(correct > 0, (1 - p) * delta, -p * delta)
    for index in range(depth):  # d/dz of sum over leaves of pi_old(y) w(y) log pi(y), by differences
        for place in np.ndindex(logits[index].shape):
            up, down = ([z.copy() for z in logits] for _ in range(2))
            up[index][place] += 1e-6
            down[index][place] -= 1e-6
            slope = (pi * weights) @ (np.log(leaves(up)) - np.log(leaves(down))) / 2e-6
            assert moved[index][place] - logits[index][place] == pytest.approx(0.7 * slope, abs=1e-8)
    with pytest.raises(InputError, match="leaves"):
        tree_step(logits, correct[:-1], 1.0, lambda p: 1.0)
