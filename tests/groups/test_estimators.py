"""Every option of the seam against a walk through all groups, written down without the package's engine."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reweight.errors import InputError
from reweight.groups.advantages import advantages
from reweight.groups.binary import gap
from reweight.groups.coefficients import expected_coefficients, sampled_coefficients
from reweight.groups.drawing import draw_groups
from reweight.groups.filtering import filter_cost
from reweight.groups.prompt import Prompt
from reweight.groups.transforms import transformed
from reweight.objectives import Advantage, Batch, Clip, Filter, KLPenalty, LengthPenalty, Objective, Ratio, RewardRule
from reweight.policies.flat import FlatPolicy
from reweight.problems import Problem, Verifier

OLD = FlatPolicy.from_probabilities([0.2, 0.5, 0.3])
NOW = FlatPolicy.from_probabilities([0.3, 0.3, 0.4])
REFERENCE = FlatPolicy.from_probabilities([0.25, 0.25, 0.5])
RAW = Advantage("none", "none")


def probabilities(policy):
    return policy.log_probs(Problem([0, 0, 0])).probabilities


def coefficient_of(groups, observed, signed, lengths=None):
    """Sum over groups (mass, answers, rewards) of mass/G * signed advantage, by answer; on-policy."""
    result = np.zeros(3)
    for mass, answers, rewards in groups:
        for answer, value in zip(answers, signed(np.array(rewards)), strict=True):
            result[answer] += mass * value / len(answers)
    return result


def all_groups(size, chances=OLD, shown=None):
    """Every ordered group of answers with every verdict: (mass, answers, observed rewards)."""
    outcomes = shown or [[(1.0, reward)] for reward in (1.0, 0.0, 0.5)]
    single = [
        (p * chance, answer, reward)
        for answer, p in enumerate(probabilities(chances))
        for chance, reward in outcomes[answer]
    ]
    for group in product(single, repeat=size):
        yield np.prod([m for m, _, _ in group]), [a for _, a, _ in group], [r for _, _, r in group]


@pytest.mark.parametrize("advantage", [Advantage(ddof=1, eps=1e-4), RAW, Advantage("leave_one_out", "none")])
def test_verdicts_that_err_one_rate_an_answer(advantage):
    problem = Problem([1, 0, 0], verifier=Verifier.binary([True, False, False], tpr=0.9, fpr=[0, 0.3, 0.05]))
    shown = [[(0.1, 0.0), (0.9, 1.0)], [(0.7, 0.0), (0.3, 1.0)], [(0.95, 0.0), (0.05, 1.0)]]
    wanted = coefficient_of(all_groups(3, shown=shown), None, lambda r: advantages(r, advantage))
    found = expected_coefficients(problem, OLD, Objective(advantage, 3))
    np.testing.assert_allclose(found, wanted, atol=1e-14)


def test_a_binary_verifier_is_the_noisy_gap():
    policy = FlatPolicy.from_probabilities([0.1, 0.9])
    problem = Problem([1, 0], verifier=Verifier.binary([True, False], tpr=0.8, fpr=0.2))
    right, wrong = expected_coefficients(problem, policy, Objective(Advantage(ddof=1), 5)) / [0.1, 0.9]
    assert right - wrong == pytest.approx(0.959629315932889, abs=1e-13)
    assert right - wrong == pytest.approx(gap(0.1, 5, Advantage(ddof=1), tpr=0.8, fpr=0.2), abs=1e-14)


def shares_by_subsets(rewards, k):
    """G times the mean over all subsets of k of max, counted for its members (PKPO), in Fractions."""
    size = len(rewards)
    subsets = list(combinations(range(size), k))
    return [
        Fraction(size, len(subsets)) * sum((max(rewards[j] for j in s) for s in subsets if i in s), Fraction(0))
        for i in range(size)
    ]


@settings(max_examples=40)
@given(st.lists(st.fractions(-2, 2, max_denominator=4), min_size=2, max_size=6), st.data())
def test_pass_at_k_transforms_are_those_of_all_subsets(rewards, data):
    size = len(rewards)
    k = data.draw(st.integers(1, size))
    floats = np.array(rewards, dtype=np.float64)
    wanted = np.array(shares_by_subsets(rewards, k), dtype=np.float64)
    np.testing.assert_allclose(transformed(floats, RewardRule("pass_at_k", k=k)), wanted, atol=1e-13)
    if k < size:

        def best(values):
            subsets = list(combinations(values, k))
            return sum((max(s) for s in subsets), Fraction(0)) / len(subsets)

        left_out = [size * (best(rewards) - best(rewards[:i] + rewards[i + 1 :])) for i in range(size)]
        found = transformed(floats, RewardRule("leave_one_out_pass_at_k", k=k))
        np.testing.assert_allclose(found, np.array(left_out, dtype=np.float64), atol=1e-13)


def test_equal_rewards_stay_equal_after_a_transform():
    for rewards in ([0.1] * 7, [0.3, 0.1, 0.3, 0.1, 0.7]):
        for rule in (RewardRule("pass_at_k", k=3), RewardRule("leave_one_out_pass_at_k", k=3), RewardRule("rank")):
            values = transformed(np.array(rewards), rule)
            for reward in set(rewards):
                assert len(set(values[np.array(rewards) == reward].tolist())) == 1


@pytest.mark.parametrize("transform", ["pass_at_k", "leave_one_out_pass_at_k"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_pass_at_k_climbs_the_gradient_of_max_at_k(transform, k):
    """d/d theta of E[max of k draws] = sum_y pi_y k E[max(r_y, k - 1 others)] grad log pi_y."""
    pi, rewards = probabilities(OLD), np.array([1.0, 0.0, 0.5])
    best = np.array(
        [
            k * sum(np.prod(pi[list(rest)]) * max(rewards[[y, *rest]]) for rest in product(range(3), repeat=k - 1))
            for y in range(3)
        ]
    )
    problem = Problem(rewards)
    objective = Objective(RAW, 4, reward=RewardRule(transform, k=k))
    found = OLD.pull_back(problem, expected_coefficients(problem, OLD, objective))
    np.testing.assert_allclose(found, OLD.pull_back(problem, pi * best), atol=1e-14)


def test_the_gap_of_pass_at_k_is_k_times_the_miss_rate():
    for k, p in ((1, 0.3), (3, 0.3), (8, 0.01)):
        policy, problem = FlatPolicy.from_probabilities([p, 1 - p]), Problem([1, 0])
        c = expected_coefficients(problem, policy, Objective(RAW, 8, reward=RewardRule("pass_at_k", k=k)))
        assert c[0] / p - c[1] / (1 - p) == pytest.approx(k * (1 - p) ** (k - 1), rel=1e-12)


@pytest.mark.parametrize(("baseline", "draws"), [("none", 4), ("mean", 3)])
def test_maximum_likelihood_weights_up_to_the_group_size(baseline, draws):
    for p in (0.01, 0.3, 0.9):
        wanted = (1 - (1 - p) ** draws) / p
        assert gap(p, 4, Advantage(baseline, "mean")) == pytest.approx(wanted, rel=1e-12)


def test_ranks():
    objective = Objective(Advantage(ddof=1), 3, reward=RewardRule("rank"))
    wanted = coefficient_of(
        all_groups(3),
        None,
        lambda r: advantages([((r < x).sum() + ((r == x).sum() - 1) / 2) / 2 for x in r], Advantage(ddof=1)),
    )
    np.testing.assert_allclose(expected_coefficients(Problem([1, 0, 0.5]), OLD, objective), wanted, atol=1e-14)


CHANNELS = np.array([[1.0, 0.2], [0.0, 0.7], [0.5, 0.2]])


@pytest.mark.parametrize("order", ["sum_then_normalise", "normalise_then_sum"])
def test_channels_are_added_before_or_after_normalising(order):
    weights, advantage = (1.0, 0.5), Advantage(ddof=1, eps=1e-4)
    objective = Objective(advantage, 3, reward=RewardRule(channel_weights=weights, order=order))

    def signed(answers):
        rows = CHANNELS[answers.astype(int)]
        if order == "sum_then_normalise":
            return advantages(rows @ weights, advantage)
        return sum(w * advantages(rows[:, k], advantage) for k, w in enumerate(weights))

    shown = [[(1.0, answer)] for answer in range(3)]
    wanted = coefficient_of(all_groups(3, shown=shown), None, signed)
    found = expected_coefficients(Problem(CHANNELS), OLD, objective)
    np.testing.assert_allclose(found, wanted, atol=1e-14)


def test_bonus_and_length_penalty_enter_the_reward():
    problem = Problem([1, 0, 1], counts=[0, 3, 1], lengths=[2, 10, 4])
    rule = RewardRule(bonus=0.1, length_penalty=LengthPenalty(0.25, free=2, most=1))
    objective = Objective(Advantage(), 3, reward=rule, aggregation="sequence_sum")
    plain = Problem([1.0, 0.3 - 1.0, 1.1 - 0.5])
    np.testing.assert_allclose(
        expected_coefficients(problem, OLD, objective),
        expected_coefficients(plain, OLD, Objective(Advantage(), 3, aggregation="sequence_sum")),
        atol=1e-15,
    )
    with pytest.raises(InputError, match="counts"):
        expected_coefficients(Problem([1, 0, 1], lengths=[2, 10, 4]), OLD, objective)


def is_kept(rewards, keep):
    return max(rewards) > min(rewards) if keep == "mixed" else 1.0 in rewards


@pytest.mark.parametrize("keep", ["mixed", "solved"])
@pytest.mark.parametrize("max_rounds", [None, 1, 3])
@pytest.mark.parametrize("advantage", [Advantage(ddof=1), RAW])
def test_redrawing_conditions_on_kept_groups(keep, max_rounds, advantage):
    groups = [(m, a, r) for m, a, r in all_groups(3) if is_kept(r, keep)]
    share = sum(m for m, _, _ in groups)
    filled = 1 if max_rounds is None else 1 - (1 - share) ** max_rounds
    wanted = coefficient_of(groups, None, lambda r: advantages(r, advantage)) * filled / share
    objective = Objective(advantage, 3, filter=Filter(keep, max_rounds=max_rounds))
    np.testing.assert_allclose(expected_coefficients(Problem([1, 0, 0.5]), OLD, objective), wanted, atol=1e-14)
    cost = filter_cost(probabilities(OLD), np.array([1, 0, 0.5]), 3, objective.filter)
    assert cost.share == pytest.approx(share, abs=1e-15)
    assert cost.filled == pytest.approx(filled, abs=1e-15)
    rounds = 1 / share if max_rounds is None else sum((1 - share) ** k for k in range(max_rounds))
    assert cost.expected_draws == pytest.approx(3 * rounds, rel=1e-14)


@pytest.mark.parametrize("keep", ["mixed", "solved"])
@pytest.mark.parametrize("max_rounds", [1, 2, 3])
def test_pooled_rounds_stop_at_the_first_group_that_is_kept(keep, max_rounds):
    """The oracle follows every sequence of draws, two a round."""
    advantage = Advantage(ddof=1)
    pi, rewards = probabilities(OLD), np.array([1.0, 0.0, 0.5])
    wanted, draws, filled = np.zeros(3), 0.0, 0.0
    for sequence in product(range(3), repeat=2 * max_rounds):
        mass = np.prod(pi[list(sequence)])
        for used in range(1, max_rounds + 1):
            group = list(sequence[: 2 * used])
            if is_kept(rewards[group], keep):
                filled += mass
                for answer, value in zip(group, advantages(rewards[group], advantage), strict=True):
                    wanted[answer] += mass * value / len(group)
                break
        draws += mass * 2 * used
    objective = Objective(advantage, 2, filter=Filter(keep, "pool", max_rounds=max_rounds))
    np.testing.assert_allclose(expected_coefficients(Problem(rewards), OLD, objective), wanted, atol=1e-14)
    cost = filter_cost(pi, rewards, 2, objective.filter)
    assert (cost.filled, cost.expected_draws) == (pytest.approx(filled), pytest.approx(draws))


def test_a_prompt_without_a_kept_group_gets_nothing():
    problem = Problem([1, 1, 1], correct=[True, True, True])
    assert not expected_coefficients(problem, OLD, Objective(Advantage(), 3, filter=Filter())).any()
    cost = filter_cost(np.ones(1), np.ones(1), 8, Filter())
    assert (cost.share, cost.filled, cost.expected_draws) == (0.0, 0.0, float("inf"))


def test_shares_of_kept_groups_near_certainty():
    """1 - m^G for m = 1 - 1e-15 is about G * 1e-15, which a difference would lose."""
    tiny = 1e-15
    share = filter_cost(np.array([tiny, 1 - tiny]), np.array([1.0, 0.0]), 8, Filter()).share
    assert share == pytest.approx(8 * tiny, rel=1e-12)


@pytest.mark.parametrize("estimator", ["k1", "k2", "k3"])
def test_kl_in_the_reward_is_a_reward(estimator):
    log_ratio = np.log(probabilities(OLD) / probabilities(REFERENCE))
    value = {"k1": log_ratio, "k2": log_ratio**2 / 2, "k3": np.exp(-log_ratio) - 1 + log_ratio}[estimator]
    rewards = np.array([1, 0, 0.5])
    objective = Objective(Advantage(ddof=1), 3, kl=KLPenalty(estimator, 0.2, "reward"), clip=Clip(0.1, 0.1))
    plain = Objective(Advantage(ddof=1), 3, clip=Clip(0.1, 0.1))
    np.testing.assert_allclose(
        expected_coefficients(Problem(rewards), NOW, objective, old=OLD, reference=REFERENCE),
        expected_coefficients(Problem(rewards - 0.2 * value), NOW, plain, old=OLD),
        atol=1e-13,
    )


def test_kl_in_the_advantage_shifts_each_sample_before_clipping():
    clip, beta, advantage = Clip(0.1, 0.1), 0.7, Advantage(ddof=1)
    old, now = probabilities(OLD), probabilities(NOW)
    shift = beta * np.log(old / probabilities(REFERENCE))
    wanted = np.zeros(3)
    for mass, answers, rewards in all_groups(3):
        for answer, value in zip(answers, advantages(rewards, advantage), strict=True):
            a, rho = value - shift[answer], now[answer] / old[answer]
            moves = rho <= 1.1 if a > 0 else rho >= 0.9
            wanted[answer] += mass / 3 * a * rho * moves
    objective = Objective(advantage, 3, kl=KLPenalty("k1", beta, "advantage"), clip=clip)
    found = expected_coefficients(Problem([1, 0, 0.5]), NOW, objective, old=OLD, reference=REFERENCE)
    np.testing.assert_allclose(found, wanted, atol=1e-14)


EVERYTHING = [
    Objective(Advantage(ddof=1), 3, clip=Clip(0.1, 0.2), filter=Filter(max_rounds=2)),
    Objective(Advantage(), 3, kl=KLPenalty("k1", 0.4, "advantage"), clip=Clip(0.05, 0.05), aggregation="sequence_mean"),
    Objective(Advantage(), 3, kl=KLPenalty("k3", 0.4, "reward"), ratio=Ratio("sequence_mean"), clip=Clip(0.01, 0.02)),
    Objective(Advantage(), 3, ratio=Ratio("detached_weight"), clip=Clip(1.0, 0.2), reward=RewardRule("rank")),
    Objective(RAW, 3, reward=RewardRule("pass_at_k", k=2), aggregation="prompt_token_mean"),
]


@pytest.mark.parametrize("objective", EVERYTHING, ids=range(len(EVERYTHING)))
@pytest.mark.parametrize("noisy", [False, True])
def test_expectation_is_the_mean_of_what_is_sampled(objective, noisy):
    verifier = Verifier.binary([True, False, False], tpr=0.8, fpr=0.1) if noisy else None
    problem = Problem([1, 0, 0], lengths=[2, 5, 3], verifier=verifier)
    pi = probabilities(OLD)
    chances = verifier.probabilities if noisy else np.ones((3, 1))
    total, dropped = np.zeros(3), 0.0
    for group in product(product(range(3), range(chances.shape[1])), repeat=3):
        draws = np.array([[answer for answer, _ in group]])
        verdicts = np.array([[verdict for _, verdict in group]])
        mass = np.prod([pi[answer] * chances[answer, verdict] for answer, verdict in group])
        rewards = verdicts[0] if noisy else np.array([1, 0, 0])[draws[0]]
        dropped += mass * (objective.filter is not None and not is_kept(rewards, "mixed"))
        total += (
            mass
            * sampled_coefficients(
                problem,
                NOW,
                objective,
                {0: draws},
                verdicts={0: verdicts} if noisy else None,
                old=OLD,
                reference=REFERENCE,
            )[0]
        )
    # two rounds: a group that is not kept is drawn once more
    total *= 1 + dropped
    found = expected_coefficients(problem, NOW, objective, old=OLD, reference=REFERENCE)
    np.testing.assert_allclose(found, total, atol=1e-14)


def test_drawn_groups_follow_verifier_and_filter():
    rng = np.random.default_rng(1)
    verifier = Verifier.binary([True, False, False], tpr=0.8, fpr=0.1)
    problem = Problem([1, 0, 0], verifier=verifier)
    (prompt,) = Prompt.of(problem, OLD, Objective(Advantage(), 4, filter=Filter()), None, None)
    _, verdicts = draw_groups(prompt, 20_000, rng)
    assert ((verdicts.max(axis=1) == 1) & (verdicts.min(axis=1) == 0)).all()
    seen = 0.2 * 0.8 + 0.8 * 0.1
    mixed = 1 - seen**4 - (1 - seen) ** 4
    wanted = (seen - seen**4) / mixed  # share of accepted draws among those of mixed groups
    assert abs(verdicts.mean() - wanted) < 5 * np.sqrt(wanted * (1 - wanted) / verdicts.size)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Objective(Advantage(), 1), "group of one"),
        (lambda: Objective(Advantage("batch_mean"), 4), "give a batch"),
        (lambda: Objective(Advantage(second="token_whiten"), 4), "give a batch"),
        (lambda: Objective(RAW, 4, reward=RewardRule("pass_at_k", k=5)), "above 4"),
        (lambda: Objective(RAW, 4, reward=RewardRule("leave_one_out_pass_at_k", k=4)), "above 3"),
        (lambda: RewardRule("pass_at_k"), "k goes with"),
        (lambda: RewardRule(k=2), "k goes with"),
        (lambda: RewardRule("best"), "reward transform"),
        (lambda: RewardRule(order="normalise_then_sum", bonus=1.0), "normalised apart"),
        (lambda: Filter("pool"), "filter keep"),
        (lambda: Filter(rounds="pool"), "no limit"),
        (lambda: Filter(max_rounds=0), "max_rounds"),
        (lambda: Batch("drawn"), "prompts goes with"),
        (lambda: Batch(prompts=3), "prompts goes with"),
        (lambda: Clip(-0.1, 0.2), "clip low"),
        (lambda: Clip(0.2, 0.2, ratio_cap=1.1), "ratio cap"),
        (lambda: Clip(0.2, 0.2, high_is="absolute"), "empty"),
        (lambda: Objective(Advantage(), 4, ratio=Ratio("detached_weight"), clip=Clip(1, 0.2, dual=3)), "no dual clip"),
        (lambda: KLPenalty("k1", 0.1, "reward", gradient="straight_through"), "no gradient of its own"),
        (lambda: Verifier.binary([True, False], tpr=1.2), "TPR"),
        (lambda: Verifier([1, 1], [[0.5, 0.5]]), "distinct"),
        (lambda: Problem([1, 0], verifier=Verifier.binary([True])), "one row an answer"),
        (lambda: Objective(Advantage(), 4, batch=Batch(), filter=Filter("mixed", "pool", 3)), "unequal sizes"),
    ],
)
def test_combinations_that_make_no_sense_are_refused(make, message):
    with pytest.raises(InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)
