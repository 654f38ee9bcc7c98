"""Trajectories: what is recorded, with which names and units, and the ceilings beside it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reweight import testing
from reweight.dynamics.run import run
from reweight.errors import InputError
from reweight.groups.binary import gap
from reweight.objectives import Advantage, KLPenalty, Objective
from reweight.policies.flat import FlatPolicy
from reweight.problems import Problem, ProblemSet
from reweight.updates import PolicyGradient, SampledPolicyGradient, Tilt

BINARY = Problem([1, 0], answers=["right", "wrong"])
START = FlatPolicy.from_probabilities([0.01, 0.99])
PLAIN = Objective(Advantage(), 8)


def test_tilt_follows_its_closed_recurrence():
    path = run(BINARY, START, PLAIN, Tilt(0.1), 60)
    odds = np.log(0.01 / 0.99)
    for step in range(60):
        assert float(path.log_odds[step]) == pytest.approx(odds, abs=1e-11)
        odds += 0.1 * float(gap(logit=odds, group_size=8, advantage=Advantage()))


def test_every_variable_has_a_unit_and_a_long_name():
    path = run(BINARY, START, PLAIN, SampledPolicyGradient(0.1), 5, bounds=True, rng=np.random.default_rng(0))
    for name in [*path.data_vars, *path.coords]:
        assert path[name].attrs["long_name"]
        assert name == "answer" or path[name].attrs["units"]
    assert path.sizes == {"step": 6, "k": 11, "answer": 2, "parameter": 2}
    assert path.attrs["update"] == "SampledPolicyGradient(step=0.1, groups=1, inner_epochs=1)"
    assert path.attrs["objective.advantage.scale"] == "std"


def test_recorded_values_are_consistent():
    problem = Problem([1, 1, 0])
    path = run(problem, FlatPolicy.from_probabilities([0.2, 0.1, 0.7]), PLAIN, PolicyGradient(1.0), 20)
    pi = np.exp(path.log_probs.values)
    np.testing.assert_allclose(path.pass_rate, pi[:, :2].sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(path.pass_at_k.sel(k=1), path.pass_rate, rtol=1e-12)
    np.testing.assert_allclose(path.pass_at_k.sel(k=4), 1 - (1 - path.pass_rate) ** 4, rtol=1e-12)
    np.testing.assert_allclose(path.entropy, -(pi * np.log(pi)).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(path.kl, (pi * np.log(pi / pi[0])).sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(path.expected_reward, path.pass_rate)
    np.testing.assert_allclose(FlatPolicy(path.parameters.values, (3,)).log_probs(problem).total, path.log_probs[-1])


def test_a_set_has_means_and_prompts():
    prompts = ProblemSet([Problem([1, 0]), Problem([1, 0, 0])], [1, 3])
    path = run(prompts, FlatPolicy.from_probabilities([[0.5, 0.5], [0.2, 0.4, 0.4]]), PLAIN, Tilt(0.1), 3)
    np.testing.assert_allclose(path.pass_rate, path.prompt_pass_rate.values @ [0.25, 0.75])
    assert path.prompt_pass_at_k.dims == ("step", "prompt", "k")
    assert np.isnan(path.prompt_log_probs.values[:, 0, 2]).all()
    assert "log_odds" not in path


@settings(max_examples=25)
@given(st.data(), st.integers(0, 2**20))
def test_no_path_leaves_its_ceilings(data, seed):
    problem = data.draw(testing.problems(binary=True))
    start = data.draw(testing.policies(problem))
    size, ddof = data.draw(st.integers(2, 6)), data.draw(st.sampled_from([0, 1]))
    update = data.draw(st.sampled_from([Tilt(0.5), PolicyGradient(2.0), SampledPolicyGradient(1.0)]))
    objective = Objective(Advantage(ddof=ddof), size)
    path = run(problem, start, objective, update, 12, bounds=True, rng=np.random.default_rng(seed))
    assert (path.pass_rate <= path.pass_rate_ceiling + 1e-12).all()
    assert (path.pass_rate <= path.leash_ceiling + 1e-9).all()


def test_unsampled_answers_stay_below_their_ceiling():
    rng = np.random.default_rng(3)
    problem = Problem([1, 1, 1, 0])
    start = FlatPolicy.from_probabilities([0.02, 0.03, 0.05, 0.9])
    checked = 0
    for _ in range(40):
        policy, seen = start, np.zeros(4, dtype=bool)
        ceiling = run(
            problem, start, PLAIN, SampledPolicyGradient(2.0), 30, bounds=True, rng=rng
        ).discovery_ceiling.values
        for step in range(31):
            pi = policy.log_probs(problem).probabilities
            assert (pi <= ceiling[step] + 1e-12)[~seen].all()
            checked += int((~seen).sum())
            draws = rng.choice(4, size=(1, 8), p=pi / pi.sum())
            seen[np.unique(draws)] = True
            policy = SampledPolicyGradient(2.0).apply_to_draws(problem, {0: draws}, policy, PLAIN)
    assert checked > 100


@pytest.mark.parametrize(
    ("problem", "start", "objective", "update", "kept", "reason"),
    [
        (BINARY, START, Objective(Advantage(), 8, kl=KLPenalty("k3", 0.1)), Tilt(0.1), True, "KL penalty"),
        (BINARY, START, PLAIN, Tilt(0.1, inner_epochs=2), True, "inner epoch"),
        (BINARY, START, Objective(Advantage("none", "none"), 8), Tilt(0.1), True, "not centred"),
        (BINARY, START, Objective(Advantage(eps=0.1, eps_rule="clamp"), 8), Tilt(0.1), True, "eps added"),
        (Problem([2, -1]), START, Objective(Advantage(scale="none"), 8), Tilt(0.1), True, "rewards 0 and 1"),
        (Problem([1, 0], lengths=[1, 2]), START, PLAIN, Tilt(0.1), True, "length"),
        (Problem([1, 0.5], correct=[False, True]), START, PLAIN, Tilt(0.1), False, "not the correctness"),
        (
            ProblemSet([BINARY]),
            FlatPolicy.from_probabilities([[0.5, 0.5]]),
            PLAIN,
            Tilt(0.1),
            False,
            "prompt by prompt",
        ),
    ],
)
def test_ceilings_are_left_out_where_their_hypotheses_fail(problem, start, objective, update, kept, reason):
    path = run(problem, start, objective, update, 2, bounds=True)
    assert "pass_rate_ceiling" not in path
    assert ("leash_ceiling" in path) == kept
    assert reason in path.attrs["bounds_left_out"]


def test_exact_zeros_stay_zero_and_support_is_counted():
    problem = Problem([1, 0, 0])
    start = FlatPolicy.from_probabilities([0.0, 0.5, 0.5])
    for update in (Tilt(1.0), PolicyGradient(1.0), SampledPolicyGradient(1.0)):
        path = run(problem, start, PLAIN, update, 10, rng=np.random.default_rng(1))
        assert (path.pass_rate == 0).all()
        assert (path.support == 2).all()


def test_a_path_survives_a_round_trip_through_a_file(tmp_path):
    import xarray

    path = run(BINARY, START, PLAIN, Tilt(0.1), 5)
    path.to_netcdf(tmp_path / "path.nc", engine="h5netcdf")
    with xarray.open_dataset(tmp_path / "path.nc", engine="h5netcdf") as back:
        xarray.testing.assert_identical(back.load(), path)


@pytest.mark.parametrize(
    ("steps", "options", "message"),
    [
        (-1, {}, "at least 0"),
        (1.5, {}, "an integer"),
        (3, {"record": ("speed",)}, "cannot be recorded"),
        (10**9, {}, "leave out log_probs"),
    ],
)
def test_what_is_refused(steps, options, message):
    with pytest.raises(InputError, match=message):
        run(BINARY, START, PLAIN, Tilt(0.1), steps, **options)


def test_only_what_is_asked_is_recorded():
    path = run(Problem([1, 0.5, 0]), FlatPolicy.from_probabilities([0.2, 0.3, 0.5]), PLAIN, Tilt(0.1), 2)
    assert "pass_rate" not in path
    assert set(run(BINARY, START, PLAIN, Tilt(0.1), 2, record=("kl",)).data_vars) == {"kl", "parameters"}


def test_ceilings_are_left_out_where_new_options_break_their_hypotheses():
    from reweight.objectives import Batch, Filter, RewardRule
    from reweight.problems import Verifier

    start = FlatPolicy.from_probabilities([0.1, 0.9])
    for objective, word in (
        (Objective(Advantage(), 4, filter=Filter()), "filtered"),
        (Objective(Advantage("batch_mean", "batch_std"), 4, batch=Batch()), "couples prompts"),
        (Objective(Advantage(), 4, reward=RewardRule("rank")), "changed"),
    ):
        path = run(Problem([1, 0]), start, objective, Tilt(0.1), 2, bounds=True)
        assert word in path.attrs["bounds_left_out"]
        assert "pass_rate_ceiling" not in path
    noisy = Problem([1, 0], verifier=Verifier.binary([True, False], tpr=0.8))
    path = run(noisy, start, Objective(Advantage(), 4), Tilt(0.1), 2, bounds=True)
    assert "observed" in path.attrs["bounds_left_out"]


def test_a_run_on_two_channels():
    problem = Problem([[1, 0.2], [0, 0.7]], correct=[True, False])
    path = run(problem, FlatPolicy.from_probabilities([0.1, 0.9]), Objective(Advantage(), 4), Tilt(0.1), 2)
    assert path.expected_reward[0] == pytest.approx(0.1 * 1.2 + 0.9 * 0.7)
