"""Updates: the theory's invariants on random worlds, and small runs with known numbers."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reweight import testing
from reweight.errors import InputError
from reweight.objectives import Advantage, Clip, KLPenalty, Objective
from reweight.policies.flat import FlatPolicy
from reweight.problems import Problem, ProblemSet
from reweight.problems.verifier import Verifier
from reweight.updates import PolicyGradient, SampledPolicyGradient, Tilt

START = FlatPolicy.from_probabilities


def probabilities(policy, problem):
    return policy.log_probs(problem).probabilities


def pass_rate(policy, problem):
    return probabilities(policy, problem)[problem.correct].sum()


def on_draws(problem, policy, objective, draws, step=1.0, inner_epochs=1):
    update = SampledPolicyGradient(step, inner_epochs=inner_epochs)
    return update.apply_to_draws(problem, {0: np.array([draws])}, policy, objective)


@st.composite
def sampled_steps(draw):
    problem = draw(testing.problems(binary=True))
    policy = draw(testing.policies(problem))
    size = draw(st.integers(2, 6))
    draws = draw(st.lists(st.integers(0, len(problem) - 1), min_size=size, max_size=size))
    return problem, policy, Objective(Advantage(ddof=draw(st.sampled_from([0, 1]))), size), draws


@given(sampled_steps(), st.floats(0.01, 5))
def test_one_sampled_step_obeys_the_theory(world, step):
    problem, policy, objective, draws = world
    after = on_draws(problem, policy, objective, draws, step)
    moved = after.parameters - policy.parameters
    change = after.log_probs(problem).total - policy.log_probs(problem).total
    unsampled = np.setdiff1d(np.arange(len(problem)), draws)
    assert moved.sum() == pytest.approx(0, abs=1e-12 * step)
    assert np.abs(moved[unsampled]).max(initial=0) <= 1e-14 * step
    assert np.abs(change[unsampled]).max(initial=0) <= step / 2 + 1e-12
    assert np.ptp(change[unsampled]) <= 1e-12 * max(step, 1) if len(unsampled) else True
    assert np.abs(change).max() <= step + 1e-12
    assert pass_rate(after, problem) >= pass_rate(policy, problem) - 1e-14


@settings(max_examples=40)
@given(st.data(), st.floats(0.01, 5))
def test_tilt_keeps_conditionals_and_raises_the_expected_reward(data, step):
    problem = data.draw(testing.problems())
    policy, objective = data.draw(testing.policies(problem)), data.draw(testing.objectives())
    after = Tilt(step).apply(problem, policy, objective)
    ratio = probabilities(after, problem) / probabilities(policy, problem)
    for level in set(problem.float_rewards):
        assert np.ptp(ratio[problem.float_rewards == level]) <= 1e-11 * ratio.max()
    rewards = problem.float_rewards
    assert probabilities(after, problem) @ rewards >= probabilities(policy, problem) @ rewards - 1e-12


@settings(max_examples=30)
@given(st.data(), st.floats(0.01, 20))
def test_population_gradient_raises_the_pass_rate_for_every_step(data, step):
    problem = data.draw(testing.problems(binary=True))
    policy, objective = data.draw(testing.policies(problem)), data.draw(testing.objectives())
    after = PolicyGradient(step).apply(problem, policy, objective)
    assert pass_rate(after, problem) >= pass_rate(policy, problem) - 1e-14


def test_population_gradient_is_the_mean_of_sampled_parameters_but_not_of_policies():
    problem, policy, objective = Problem([1, 0.5, 0]), START([0.2, 0.3, 0.5]), Objective(Advantage(), 4)
    mean_parameters, mean_policy = np.zeros(3), np.zeros(3)
    for draws in product(range(3), repeat=4):
        mass = np.prod(probabilities(policy, problem)[list(draws)])
        after = on_draws(problem, policy, objective, draws, 2.0)
        mean_parameters += mass * after.parameters
        mean_policy += mass * probabilities(after, problem)
    exact = PolicyGradient(2.0).apply(problem, policy, objective)
    np.testing.assert_allclose(exact.parameters, mean_parameters, atol=1e-13)
    assert np.abs(probabilities(exact, problem) - mean_policy).max() > 1e-3


def test_three_meanings_of_several_inner_epochs():
    problem, policy = Problem([1, 0, 0]), START([0.1, 0.6, 0.3])
    objective = Objective(Advantage(), 4, clip=Clip(0.2, 0.2))
    surrogate = PolicyGradient(1.0, inner_epochs=4).apply(problem, policy, objective)
    mean_parameters, mean_rate = np.zeros(3), 0.0
    for draws in product(range(3), repeat=4):
        mass = np.prod(probabilities(policy, problem)[list(draws)])
        after = on_draws(problem, policy, objective, draws, 1.0, inner_epochs=4)
        mean_parameters += mass * after.parameters
        mean_rate += mass * pass_rate(after, problem)
    rates = [pass_rate(surrogate, problem), pass_rate(policy.replace(mean_parameters), problem), mean_rate]
    np.testing.assert_allclose(rates, [0.1331, 0.1304, 0.1376], atol=5e-5)


def test_inner_epochs_can_lower_the_pass_rate():
    problem, policy = Problem([1, 1, 0, 0]), START([0.001, 0.98, 0.001, 0.018])
    objective = Objective(Advantage(), 2, clip=Clip(0.2, 0.2))
    path = [pass_rate(on_draws(problem, policy, objective, (0, 2), 0.1, k), problem) for k in range(1, 6)]
    np.testing.assert_allclose(path, [0.98105, 0.98100, 0.98086, 0.98062, 0.98142], atol=5e-6)


def test_length_normalisation_can_lower_the_pass_rate():
    problem = Problem([1, 1, 0, 0], lengths=[1000, 1, 1000, 1000])
    objective = Objective(Advantage(), 2, aggregation="sequence_mean")
    after = on_draws(problem, START([0.8, 0.001, 0.001, 0.198]), objective, (1, 2), 5.0)
    assert pass_rate(after, problem) == pytest.approx(0.498, abs=5e-4)


def test_a_sampled_correct_answer_can_lose_probability():
    problem = Problem([1, 1, 0])
    after = on_draws(problem, START([0.01, 0.95, 0.04]), Objective(Advantage(), 3), (0, 1, 0), 1.0)
    assert probabilities(after, problem)[0] == pytest.approx(0.01)
    after = on_draws(problem, START([0.01, 0.95, 0.04]), Objective(Advantage(), 3), (1, 2, 1), 1.0)
    assert probabilities(after, problem)[0] < 0.01
    assert pass_rate(after, problem) > 0.96


def test_clipping_does_not_constrain():
    problem, objective = Problem([1, 0]), Objective(Advantage(), 8, clip=Clip(0.2, 0.2))
    after = PolicyGradient(2.0, inner_epochs=1200).apply(problem, START([0.01, 0.99]), objective)
    assert 0.208 <= pass_rate(after, problem) <= 0.212


def test_winner_takes_all_under_gradient_and_not_under_tilt():
    problem, start, objective = Problem([1, 1, 0, 0]), START([0.5, 0.25, 0.15, 0.10]), Objective(Advantage(), 8)
    tilted = start
    for _ in range(300):
        tilted = Tilt(0.1).apply(problem, tilted, objective)
    kept = probabilities(tilted, problem)
    assert kept[0] / (kept[0] + kept[1]) == pytest.approx(2 / 3, rel=1e-12)
    climbed = start
    for _ in range(300):
        climbed = PolicyGradient(10.0).apply(problem, climbed, objective)
    shares = probabilities(climbed, problem)
    assert shares[0] / (shares[0] + shares[1]) > 0.98


def test_std_normalisation_can_lower_the_expected_reward_under_gradient_alone():
    problem, start = Problem([-0.01, 0, 1]), START([0.06, 0.93, 0.01])
    drift = {}
    for update in (PolicyGradient(1e-6), Tilt(1e-6)):
        after = update.apply(problem, start, Objective(Advantage(), 8))
        drift[type(update)] = (probabilities(after, problem) - probabilities(start, problem)) @ problem.rewards / 1e-6
    assert drift[PolicyGradient] == pytest.approx(-5.0e-4, abs=5e-6)
    assert drift[Tilt] == pytest.approx(0.0271, abs=5e-5)


def test_a_k3_penalty_moves_answers_that_were_not_sampled():
    problem, start = Problem([1, 0, 0]), START([0.2, 0.3, 0.5])
    reference = START([0.3, 0.3, 0.4])
    objective = Objective(Advantage(), 2, kl=KLPenalty("k3", 0.5))
    update = SampledPolicyGradient(1.0)
    still = update.apply_to_draws(problem, {0: np.array([[1, 1]])}, start, objective, reference=start)
    assert still.parameters == pytest.approx(start.parameters)
    moved = update.apply_to_draws(problem, {0: np.array([[2, 2]])}, start, objective, reference=reference)
    assert np.abs(moved.parameters - start.parameters)[:2].min() > 1e-3


def test_prompts_of_a_set_are_weighted_sums_of_gradients():
    prompts = ProblemSet([Problem([1, 0]), Problem([1, 0, 0])], weights=[1, 3])
    start, objective = START([[0.3, 0.7], [0.2, 0.3, 0.5]]), Objective(Advantage(), 4)
    whole = PolicyGradient(1.0).apply(prompts, start, objective).parameters - start.parameters
    alone = PolicyGradient(0.25).apply(Problem([1, 0]), START([0.3, 0.7]), objective).parameters
    np.testing.assert_allclose(whole[:2], alone - np.log([0.3, 0.7]), atol=1e-14)
    tilted = Tilt(1.0).apply(prompts, start, objective).parameters - start.parameters
    same = Tilt(1.0).apply(Problem([1, 0]), START([0.3, 0.7]), objective).parameters - np.log([0.3, 0.7])
    np.testing.assert_allclose(tilted[:2], same, atol=1e-14)


def test_sampling_is_reproducible_and_needs_a_generator():
    problem, start, objective = Problem([1, 0]), START([0.4, 0.6]), Objective(Advantage(), 4)
    update = SampledPolicyGradient(1.0, groups=3)
    paths = [update.apply(problem, start, objective, rng=np.random.default_rng(7)).parameters for _ in range(2)]
    np.testing.assert_array_equal(*paths)
    with pytest.raises(InputError, match="rng="):
        update.apply(problem, start, objective)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tilt(-1.0),
        lambda: Tilt(float("nan")),
        lambda: PolicyGradient(0.1, inner_epochs=0),
        lambda: SampledPolicyGradient(0.1, groups=0),
        lambda: SampledPolicyGradient(0.1, groups=1.5),
    ],
)
def test_what_is_refused(make):
    with pytest.raises(InputError):
        make()


def test_a_policy_without_a_table_has_no_tilt():
    class Tied:
        parameters = np.zeros(1)

    with pytest.raises(InputError, match="no exact tilt"):
        Tilt(0.1).apply(Problem([1, 0]), Tied(), Objective(Advantage(), 4))


@pytest.mark.parametrize("verifier", [None, Verifier.binary([True, False, False], tpr=0.8, fpr=0.3)])
def test_groups_that_are_shown_are_the_groups_that_move_the_policy(verifier):
    problem = ProblemSet([Problem([1, 0, 0], verifier=verifier), Problem([1, 0, 0])])
    start = START([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])
    update, objective = SampledPolicyGradient(0.5, groups=3), Objective(Advantage(), 4)
    drawn = update.draw(problem, start, objective, rng=np.random.default_rng(5))
    assert {place: groups.shape for place, groups in drawn.draws.items()} == {0: (3, 4), 1: (3, 4)}
    assert set(drawn.verdicts) == (set() if verifier is None else {0})
    moved = update.apply(problem, start, objective, rng=np.random.default_rng(5))
    by_hand = update.apply_to_draws(problem, drawn.draws, start, objective, verdicts=drawn.verdicts)
    assert np.array_equal(moved.parameters, by_hand.parameters)
    assert not np.array_equal(moved.parameters, start.parameters)
