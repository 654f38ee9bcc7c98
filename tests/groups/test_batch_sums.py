"""Prompts that share a batch, against a walk through every batch."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from reweight import (
    Advantage,
    Batch,
    FlatPolicy,
    InputError,
    KLPenalty,
    Objective,
    Problem,
    ProblemSet,
    RewardRule,
    Verifier,
)
from reweight.groups.advantages import advantages
from reweight.groups.coefficients import conditional_coefficients, expected_coefficients, sampled_coefficients
from reweight.objectives import Clip, Filter
from reweight.updates import PolicyGradient, SampledPolicyGradient

TWO = ProblemSet([Problem([1, 0, 0.5], lengths=[2, 5, 3]), Problem([1, 0], lengths=[4, 1])])
OLD = FlatPolicy(np.log(np.array([0.2, 0.5, 0.3, 0.6, 0.4])), (3, 2))
NOW = FlatPolicy(np.log(np.array([0.3, 0.3, 0.4, 0.5, 0.5])), (3, 2))
Z = Advantage(ddof=1, eps=1e-4)


def masses(policy, problems):
    return [policy.log_probs(problem).probabilities for problem in problems]


def over_all_batches(problems, policy, objective, *, old, reference=None):
    """Mean of the sampled coefficients over every batch of one group a prompt."""
    pi, size = masses(old, problems), objective.group_size
    total = [0.0] * len(problems)
    for batch in product(*(product(range(len(row)), repeat=size) for row in pi)):
        mass = np.prod([np.prod(row[list(group)]) for row, group in zip(pi, batch, strict=True)])
        draws = {p: np.array([group]) for p, group in enumerate(batch)}
        found = sampled_coefficients(problems, policy, objective, draws, old=old, reference=reference)
        total = [have + mass * new for have, new in zip(total, found, strict=True)]
    return total


BATCHED = {
    "trl scale_rewards=batch": Objective(Advantage("mean", "batch_std", ddof=1, eps=1e-4), 3, batch=Batch()),
    "batch mean and std": Objective(
        Advantage("batch_mean", "batch_std"), 3, batch=Batch(), aggregation="sequence_mean"
    ),
    "batch mean alone": Objective(Advantage("batch_mean", "none"), 3, batch=Batch(), aggregation="prompt_token_mean"),
    "token mean": Objective(Z, 3, batch=Batch(), clip=Clip(0.1, 0.2)),
    "token mean, no scale": Objective(Advantage(scale="none"), 3, batch=Batch(), kl=KLPenalty("k3", 0.2)),
    "constant": Objective(
        Advantage("batch_mean", "std"), 3, batch=Batch(), aggregation="constant", constant_length=8.0
    ),
    "second": Objective(
        Advantage(ddof=1, eps=1e-4, second="batch_standardise"), 3, batch=Batch(), aggregation="sequence_sum"
    ),
    "REINFORCE++": Objective(
        Advantage("none", "none", ddof=1, eps=1e-8, eps_rule="inside_root", second="token_whiten"), 2, batch=Batch()
    ),
    "REINFORCE++ baseline": Objective(
        Advantage("mean", "none", ddof=1, eps=1e-8, eps_rule="inside_root", second="token_whiten"), 3, batch=Batch()
    ),
    "KL in the advantage": Objective(
        Advantage("batch_mean", "batch_std", ddof=1),
        2,
        batch=Batch(),
        kl=KLPenalty("k1", 0.3, "advantage"),
        clip=Clip(0.05, 0.05),
    ),
    "KL in the reward": Objective(
        Advantage("batch_mean", "batch_std"), 2, batch=Batch(), kl=KLPenalty("k2", 0.3, "reward")
    ),
}


@pytest.mark.parametrize("name", BATCHED)
def test_coefficients_are_the_mean_over_all_batches(name):
    objective = BATCHED[name]
    found = expected_coefficients(TWO, NOW, objective, old=OLD, reference=OLD if objective.kl is None else NOW)
    walked = over_all_batches(TWO, NOW, objective, old=OLD, reference=NOW)
    for mine, theirs in zip(found, walked, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)


@pytest.mark.parametrize("name", ["trl scale_rewards=batch", "second", "token mean"])
def test_groups_of_four(name):
    from dataclasses import replace

    objective = replace(BATCHED[name], group_size=4)
    found = expected_coefficients(TWO, NOW, objective, old=OLD)
    walked = over_all_batches(TWO, NOW, objective, old=OLD)
    for mine, theirs in zip(found, walked, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)


@pytest.mark.parametrize(
    "advantage",
    [
        Advantage("mean", "batch_std", ddof=1, eps=1e-4),
        Advantage("batch_mean", "batch_std"),
        Advantage("none", "none", second="batch_standardise"),
        Advantage("mean", "none", second="batch_standardise", ddof=1),
    ],
)
def test_batch_scale_in_exact_arithmetic(advantage):
    """Every batch of two prompts in Fractions: E[A_1 | y_1 = y] of the first prompt."""
    rewards = [[Fraction(1), Fraction(0), Fraction(1, 2)], [Fraction(1), Fraction(0)]]
    chances = [[Fraction(1, 5), Fraction(1, 2), Fraction(3, 10)], [Fraction(3, 5), Fraction(2, 5)]]
    problems = ProblemSet([Problem([float(r) for r in row]) for row in rewards])
    old = FlatPolicy(np.log(np.array([float(c) for row in chances for c in row])), (3, 2))
    wanted = np.zeros(3)
    for first in product(range(3), repeat=2):
        for second in product(range(2), repeat=2):
            table = np.array([[rewards[0][y] for y in first], [rewards[1][y] for y in second]], dtype=object)
            mass = chances[0][first[1]] * np.prod([chances[1][y] for y in second])
            wanted[first[0]] += float(mass) * float(advantages(table, advantage)[0, 0])
    objective = Objective(advantage, 2, batch=Batch(), aggregation="sequence_sum")
    found = conditional_coefficients(problems, old, objective)[0]
    np.testing.assert_allclose(found, wanted, atol=1e-14)


@pytest.mark.parametrize("name", ["trl scale_rewards=batch", "token mean", "second"])
def test_prompts_drawn_by_weight(name):
    """Two draws of a prompt: the four ordered pairs, each a batch of every prompt of its own set."""
    from dataclasses import replace

    weights = [0.7, 0.3]
    problems = ProblemSet(TWO.problems, weights)
    objective = replace(BATCHED[name], group_size=2)
    found = expected_coefficients(problems, NOW, replace(objective, batch=Batch("drawn", prompts=2)), old=OLD)
    logits = [np.log([0.2, 0.5, 0.3]), np.log([0.6, 0.4])]
    later = [np.log([0.3, 0.3, 0.4]), np.log([0.5, 0.5])]
    for own in range(2):
        wanted = 0.0
        for other in range(2):
            pair = ProblemSet([TWO.problems[own], TWO.problems[other]])
            shape = (len(logits[own]), len(logits[other]))
            old = FlatPolicy(np.concatenate([logits[own], logits[other]]), shape)
            now = FlatPolicy(np.concatenate([later[own], later[other]]), shape)
            wanted = wanted + weights[other] * over_all_batches(pair, now, objective, old=old)[0]
        np.testing.assert_allclose(found[own], wanted, atol=1e-12)


def test_the_weight_of_one_prompt_depends_on_the_pass_rate_of_another():
    objective = Objective(Advantage("batch_mean", "batch_std", ddof=1), 4, batch=Batch())
    problems = ProblemSet([Problem([1, 0]), Problem([1, 0])])

    def first(other):
        policy = FlatPolicy(np.log(np.array([0.5, 0.5, other, 1 - other])), (2, 2))
        return conditional_coefficients(problems, policy, objective)[0]

    assert abs(first(0.01)[0] - first(0.5)[0]) > 0.1
    alone = conditional_coefficients(problems, FlatPolicy(np.zeros(4), (2, 2)), Objective(Advantage(ddof=1), 4))[0]
    assert abs(first(0.01)[0] - alone[0]) > 0.1


def test_a_reported_batch():
    groups = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    found = advantages(groups, Advantage("mean", "batch_std", ddof=1, eps=1e-4))
    right = [[1.29074449713872, -0.645372248569362, -0.645372248569362], [0, 0, 0]]
    np.testing.assert_allclose(found, right, atol=1e-14)


def test_filter_and_noise_in_a_batch():
    noisy = Problem([1, 0], verifier=Verifier.binary([True, False], tpr=0.8, fpr=0.3))
    problems, pi = ProblemSet([noisy, Problem([1, 0])]), [0.4, 0.7]
    policy = FlatPolicy(np.log(np.array([0.4, 0.6, 0.7, 0.3])), (2, 2))
    objective = Objective(Advantage("mean", "batch_std"), 3, batch=Batch(), filter=Filter())
    total, share = np.zeros(2), 0.0
    seen = [[(0.4 * 0.2, 0, 0), (0.4 * 0.8, 0, 1), (0.6 * 0.7, 1, 0), (0.6 * 0.3, 1, 1)], [(0.7, 0, 1), (0.3, 1, 0)]]
    for first in product(seen[0], repeat=3):
        for second in product(seen[1], repeat=3):
            rewards = np.array([[r for _, _, r in first], [r for _, _, r in second]], dtype=float)
            if (rewards.max(axis=1) == rewards.min(axis=1)).any():
                continue
            mass = np.prod([m for m, _, _ in first]) * np.prod([m for m, _, _ in second])
            share += mass
            for (_, answer, _), value in zip(first, advantages(rewards, objective.advantage)[0], strict=True):
                total[answer] += mass * value / 3
    assert pi[0] == 0.4
    found = expected_coefficients(problems, policy, objective)[0]
    np.testing.assert_allclose(found, total / share, atol=1e-14)


def test_channels_normalised_apart_and_standardised_over_the_batch():
    rule = RewardRule(channel_weights=(1.0, 0.5), order="normalise_then_sum")
    objective = Objective(
        Advantage(ddof=1, eps=1e-4, second="batch_standardise"),
        2,
        reward=rule,
        batch=Batch(),
        aggregation="sequence_sum",
    )
    problems = ProblemSet([Problem([[1, 0.2], [0, 0.7], [0.5, 0.2]]), Problem([[1.0, 0.0], [0.0, 0.3]])])
    found = expected_coefficients(problems, NOW, objective, old=OLD)
    for mine, theirs in zip(found, over_all_batches(problems, NOW, objective, old=OLD), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-12)


def test_one_prompt_alone_is_a_batch_of_one():
    problem, policy = Problem([1, 0, 0.5], lengths=[2, 5, 3]), FlatPolicy.from_probabilities([0.2, 0.5, 0.3])
    batched = Objective(Advantage("batch_mean", "batch_std", ddof=1), 4, batch=Batch())
    np.testing.assert_allclose(
        expected_coefficients(problem, policy, batched),
        expected_coefficients(problem, policy, Objective(Advantage(ddof=1), 4)),
        atol=1e-14,
    )


def test_many_prompts_with_binary_rewards():
    """The law of the sums stays small: 32 prompts of pass rates from 0.02 to 0.9, groups of 8."""
    rates = np.linspace(0.02, 0.9, 32)
    problems = ProblemSet([Problem([1, 0])] * 32)
    policy = FlatPolicy(np.log(np.stack([rates, 1 - rates], axis=1)).ravel(), (2,) * 32)
    objective = Objective(Advantage("mean", "batch_std", ddof=1, eps=1e-4), 8, batch=Batch())
    found = expected_coefficients(problems, policy, objective)
    spread = np.sqrt(rates.mean() * (1 - rates.mean()))
    for p, coefficient in zip(rates, found, strict=True):
        assert coefficient.sum() == pytest.approx(0, abs=1e-12)
        assert coefficient[0] == pytest.approx(7 / 8 * p * (1 - p) / spread, rel=0.02)


TELLING = {
    "batch mean and std": Objective(Advantage("batch_mean", "batch_std"), 3, batch=Batch()),
    "std of the batch, ddof 1": Objective(Advantage("mean", "batch_std", ddof=1), 3, batch=Batch()),
    "second": Objective(Advantage(second="batch_standardise"), 3, batch=Batch()),
    "whitened": Objective(Advantage("none", "none", second="token_whiten"), 3, batch=Batch()),
}


@pytest.mark.parametrize(
    ("factor", "offset"), [(1.0, 2.0**30), (2.0**-40, 1.0), (2.0**500, 0.0)], ids=["offset", "near ties", "large"]
)
@pytest.mark.parametrize("name", TELLING)
def test_without_a_stabiliser_offset_and_unit_of_the_rewards_are_as_if_absent(name, factor, offset):
    """All of these are multiples of powers of two, so the rewards themselves do not round."""
    plain = expected_coefficients(TWO, OLD, TELLING[name])
    moved = [Problem(offset + factor * problem.float_rewards, lengths=problem.lengths) for problem in TWO]
    for found, expected in zip(expected_coefficients(ProblemSet(moved), OLD, TELLING[name]), plain, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("name", TELLING)
def test_long_answers_weigh_as_short_ones(name):
    plain = expected_coefficients(TWO, OLD, TELLING[name])
    long = ProblemSet([Problem(problem.rewards, lengths=problem.lengths * 10_000_000) for problem in TWO])
    for found, expected in zip(expected_coefficients(long, OLD, TELLING[name]), plain, strict=True):
        np.testing.assert_allclose(found * 10_000_000, expected, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("name", TELLING)
def test_a_constant_batch_pushes_nothing(name):
    """In floats the mean of rewards of 0.1 is not 0.1, and eps = 0 would make any residue a large advantage."""
    same = ProblemSet([Problem([0.1, 0.1, 0.1], lengths=[2, 5, 3]), Problem([0.1, 0.1], lengths=[4, 1])])
    for found in expected_coefficients(same, OLD, TELLING[name]):
        assert not found.any()


def test_updates_run_on_coupled_prompts():
    objective = Objective(Advantage("batch_mean", "batch_std", ddof=1), 4, batch=Batch())
    moved = PolicyGradient(0.5).apply(TWO, OLD, objective)
    assert not np.array_equal(moved.parameters, OLD.parameters)
    drawn = SampledPolicyGradient(0.5).apply(TWO, OLD, objective, rng=np.random.default_rng(0))
    assert np.isfinite(drawn.parameters).all()


@pytest.mark.parametrize(
    ("objective", "problems", "message"),
    [
        (Objective(Z, 2, batch=Batch()), ProblemSet(TWO.problems, [2, 1]), "same share"),
        (Objective(Z, 2, batch=Batch(), filter=Filter(max_rounds=3)), TWO, "max_rounds"),
        (Objective(Advantage("batch_mean", second="token_whiten"), 2, batch=Batch()), TWO, "choose one"),
        (Objective(Advantage("batch_mean"), 2, batch=Batch(), reward=RewardRule("rank")), TWO, "no transform"),
    ],
)
def test_what_is_refused(objective, problems, message):
    with pytest.raises(InputError, match=message):
        expected_coefficients(problems, OLD, objective)


def test_drawn_prompts_are_not_sampled():
    objective = Objective(Z, 2, batch=Batch("drawn", prompts=2))
    with pytest.raises(InputError, match="every_prompt"):
        SampledPolicyGradient(0.5).apply(TWO, OLD, objective, rng=np.random.default_rng(0))
