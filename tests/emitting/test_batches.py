"""A followed run is the run that `simulate` computes, and its rollouts are those that moved it."""

import numpy as np
import pytest

from reweight.emitting.batches import follow, observe
from reweight.errors import InputError
from reweight.objectives import Advantage, Filter, KLPenalty, Objective, RewardRule, preset
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem
from reweight.problems.verifier import Verifier
from reweight.updates import PolicyGradient, SampledPolicyGradient, Tilt

NOISY = Verifier.binary([True, False, False], tpr=0.9, fpr=0.2)


@pytest.mark.parametrize("verifier", [None, NOISY])
@pytest.mark.parametrize("update", [Tilt(0.2), PolicyGradient(5.0), SampledPolicyGradient(5.0, groups=2)])
@pytest.mark.parametrize("kl", [None, KLPenalty("k3", 0.1)])
def test_the_path_is_that_of_simulate(spec, update, verifier, kl):
    objective = preset("trl", group_size=4, kl=kl)
    run_spec = spec(update=update, verifier=verifier, objective=objective, bounds=False)
    run = follow(run_spec)
    path = run_spec.run()
    for updates, policy in enumerate(run.policies):
        found = [policy.log_probs(problem).probabilities[0] for problem in run.problems]
        assert np.array_equal(found, path.prompt_pass_rate.values[updates])
    assert np.array_equal(run.policies[-1].parameters, path.parameters.values)


def test_a_batch_moves_the_policy_behind_it_to_the_next(spec):
    run_spec = spec(verifier=NOISY)
    run = follow(run_spec)
    for batch, after in zip(run.batches, run.policies[1:], strict=True):
        moved = run_spec.update.apply_to_draws(
            run_spec.problem,
            dict(enumerate(batch.answers)),
            batch.policy,
            run_spec.objective,
            verdicts={i: verdicts.astype(int) for i, verdicts in enumerate(batch.accepted)},
        )
        assert np.array_equal(moved.parameters, after.parameters)


def test_entropy_and_lengths_are_those_of_the_answers(spec):
    batch = follow(spec()).batches[0]
    assert batch.answers.shape == (12, 2, 4)
    assert np.array_equal(batch.lengths, np.array([3, 5, 2])[batch.answers])
    total = 0.0
    for i in range(12):
        shares = [share for share in batch.policy.log_probs(spec().problem.problems[i]).probabilities if share > 0]
        total += batch.lengths[i].sum() * -sum(share * np.log(share) for share in shares)
    assert batch.entropy == pytest.approx(total / batch.lengths.sum(), rel=1e-12)


def test_observed_rollouts_have_the_accepted_rate(spec):
    run_spec = spec(prompts=3, verifier=NOISY)  # pass rates 0, 1/2, 1
    seen = observe(run_spec, run_spec.policy, 20_000, np.random.default_rng(1)).mean(axis=1)
    expected = np.array([0.2, 0.55, 0.9])
    assert (np.abs(seen - expected) < 5 * np.sqrt(expected * (1 - expected) / 20_000)).all()


def one(rewards, **fields):
    return {"problem": Problem(rewards, **fields), "policy": FlatPolicy.from_probabilities([0.5, 0.5])}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (one([1, -1]), "neither 0 nor 1"),
        (one([[1, 0], [0, 1]], correct=[True, False]), "neither 0 nor 1"),
        (one([1, 0], correct=[True, True]), "correct answer without reward 1"),
        ({"objective": preset("trl", filter=Filter("mixed"))}, "leave the filter out"),
        ({"objective": Objective(Advantage(), 4, reward=RewardRule(bonus=0.1))}, "without a reward rule"),
        ({"objective": preset("trl", kl=KLPenalty("k1", 0.1, "reward"))}, "put it in the loss"),
        ({"objective": preset("reinforce_plus_plus")}, "statistics of a batch"),
        ({"update": SampledPolicyGradient(1.0, inner_epochs=2)}, "one inner epoch"),
        ({"steps": 0}, "at least one step"),
        ({"steps": 10**7}, "above 2e\\+07"),
    ],
)
def test_what_files_of_pass_and_fail_cannot_tell_is_refused(spec, fields, message):
    with pytest.raises(InputError, match=message):
        follow(spec(**fields))


def test_groups_of_a_sampled_update_are_its_own(spec):
    with pytest.raises(InputError, match="draws 2 groups a prompt and 3 are asked for"):
        follow(spec(), 3)
    assert follow(spec(update=Tilt(0.1)), 3).batches[0].answers.shape == (12, 3, 4)
