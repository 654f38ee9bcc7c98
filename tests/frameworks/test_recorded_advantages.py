"""Advantages of presets against what the frameworks' own functions gave: `make frameworks` asks them anew."""

import json

import numpy as np
import pytest

from frameworks.recorded import HERE, POLGRAD, TRL, VERL
from reweight import Advantage, advantages, preset, presets
from reweight.groups.terms import batch_advantages
from reweight.objectives.config import read_config

FLOAT32, FLOAT64 = 2.0**-24, 2.0**-53
TRL_GROUP, VERL_GRPO = preset("trl").advantage, preset("verl").advantage


def of_trl(**options):
    """The advantage that our reader of configurations finds in TRL's options."""
    return read_config(json.dumps({"num_generations": 3, **options}), "trl").objective.advantage


def of_verl(name, **options):
    """The advantage that our reader of configurations finds in verl's options."""
    trainer = {"algorithm": {"adv_estimator": name, **options}, "actor_rollout_ref": {"rollout": {"n": 3}}}
    return read_config(json.dumps(trainer), "verl").objective.advantage


def rounding(rewards, ours, unit, scaled):
    """How far rounding alone can move an advantage, to first order in the unit roundoff.

    Reading G rewards and taking their mean moves a difference from the mean by at most (G + 2) units of the largest
    reward; the leave-one-out factor is at most 2. Divided by the std that is seen as such, and once more through the
    std itself, which moves by sqrt(G / (G - 1)) <= sqrt(2) of it and by G / 2 + 6 roundings of its own.
    """
    size, largest = len(rewards), np.abs(rewards).max()
    moved = (size + 2) * unit * largest
    if not scaled:
        return 2 * moved
    part = moved / np.std(rewards, ddof=1)
    return part + np.abs(ours) * (np.sqrt(2) * part + (size / 2 + 6) * unit)


@pytest.mark.parametrize(
    ("theirs", "advantage", "unit", "count"),
    [
        (TRL["group"], TRL_GROUP, FLOAT32, 1000),
        (TRL["none"], of_trl(scale_rewards="none"), FLOAT32, 200),
        (VERL["grpo"], VERL_GRPO, FLOAT64, 1000),
        (VERL["grpo_float32"], VERL_GRPO, FLOAT32, 300),
        (VERL["grpo_unscaled"], of_verl("grpo", norm_adv_by_std_in_grpo=False), FLOAT64, 100),
        (VERL["grpo_vectorized"], of_verl("grpo_vectorized"), FLOAT32, 100),
        (VERL["grpo_passk"], of_verl("grpo_passk"), FLOAT64, 100),
        (VERL["rloo"], of_verl("rloo"), FLOAT64, 100),
        (VERL["rloo_vectorized"], of_verl("rloo_vectorized"), FLOAT64, 100),
    ],
    ids=[
        "trl group",
        "trl none",
        "verl grpo",
        "verl grpo in float32",
        "verl grpo without std",
        "verl grpo_vectorized, whose statistics are float32",
        "verl grpo_passk",
        "verl rloo",
        "verl rloo_vectorized",
    ],
)
def test_advantages_of_mixed_groups(theirs, advantage, unit, count):
    groups = TRL["mixed"][:count]
    assert groups == VERL["mixed"][:count]
    assert len(theirs) == count
    for rewards, given in zip(groups, theirs, strict=True):
        ours = advantages(rewards, advantage)
        off = np.abs(ours - given)
        assert (off <= rounding(rewards, ours, unit, advantage.scale == "std")).all(), (rewards, off.max())


def test_batch_scale_of_trl():
    ours = advantages([[1, 0, 0], [1, 1, 1]], of_trl(scale_rewards="batch"))
    np.testing.assert_allclose(ours, TRL["batch"], rtol=16 * FLOAT32)


def test_missing_rewards_of_trl():
    rewards = np.array(TRL["missing"]["rewards"], dtype=float)
    ours = advantages(rewards, TRL_GROUP)
    np.testing.assert_allclose(ours, TRL["missing"]["advantages"], rtol=16 * FLOAT32)
    assert not ours[1:].any()  # one valid reward, none, equal ones


def test_several_rewards_of_trl():
    table, weights = np.array(TRL["channels"]["rewards"]), TRL["channels"]["weights"]
    ours = advantages(table @ weights, TRL_GROUP)
    np.testing.assert_allclose(ours, TRL["channels"]["sum_then_normalize"], atol=32 * FLOAT32)
    apart = sum(weight * advantages(table[..., k], TRL_GROUP) for k, weight in enumerate(weights))
    again = Advantage("none", "none", ddof=1, eps=1e-4, second="batch_standardise")
    np.testing.assert_allclose(advantages(apart, again), TRL["channels"]["normalize_then_sum"], atol=64 * FLOAT32)
    options = {"reward_weights": weights, "multi_objective_aggregation": "normalize_then_sum"}
    objective = read_config(json.dumps({"num_generations": 3, **options}), "trl").objective
    described = batch_advantages(table, np.ones(table.shape[:2]), objective)
    np.testing.assert_allclose(described, TRL["channels"]["normalize_then_sum"], atol=64 * FLOAT32)


@pytest.mark.parametrize(
    ("name", "record", "precision", "unit", "eps"),
    [
        ("trl", TRL, "float32", FLOAT32, 1e-4),
        ("verl", VERL, "float32", FLOAT32, 1e-6),
        ("verl", VERL, "float64", FLOAT64, 1e-6),
    ],
)
def test_equal_rewards_are_residue_there_and_zero_here(name, record, precision, unit, eps):
    for group in record["constant"]:
        rewards = [group["reward"]] * group["size"]
        assert not advantages(rewards, preset(name).advantage).any()
        assert group[precision] <= group["size"] * unit * abs(group["reward"]) / eps
    assert any(group[precision] > 0 for group in record["constant"])


def test_a_lone_sample_of_verl():
    """Its std of one is a float32 there; rloo keeps the reward as it is, in one of two versions."""
    lone = VERL["singleton"]
    (ours,) = advantages([lone["reward"]], VERL_GRPO)
    assert lone["grpo"] == pytest.approx(ours, rel=2 * FLOAT32)
    for name in ("rloo", "rloo_vectorized"):
        assert advantages([lone["reward"]], of_verl(name)) == [lone[name]]


def test_length_weighted_baseline_of_verl():
    for batch in VERL["batches"]:
        ours = advantages(batch["rewards"], of_verl("opo"), lengths=batch["lengths"])
        np.testing.assert_allclose(ours.ravel(), batch["opo"], atol=64 * FLOAT64)


@pytest.mark.parametrize(
    ("name", "baseline"), [("reinforce_plus_plus", "none"), ("reinforce_plus_plus_baseline", "mean")]
)
def test_token_whitening_of_verl(name, baseline):
    """verl adds 1e-8 to the number of tokens when it takes a mean or a variance."""
    for batch in VERL["batches"]:
        ours = advantages(batch["rewards"], of_verl(name), lengths=batch["lengths"]).ravel()
        first = advantages(batch["rewards"], Advantage(baseline, "none")).ravel()
        tokens = np.repeat(first, np.ravel(batch["lengths"]))
        shift = abs(tokens.mean()) / tokens.std(ddof=1)
        allowed = 1e-8 / len(tokens) * (shift + np.abs(ours)) * 1.01 + 128 * FLOAT64
        assert (np.abs(ours - batch[name]) <= allowed).all()


def test_equal_rewards_are_not_zero_after_whitening():
    """Group (1, 1, 1) beside (1, 0, 0): whitening moves all of its advantages together."""
    last = VERL["batches"][-1]
    assert last["rewards"][0] == [1.0, 1.0, 1.0]
    assert len(set(last["reinforce_plus_plus_baseline"][:3])) == 1
    assert last["reinforce_plus_plus_baseline"][0] < -0.3


def test_gpg_of_verl_is_centred_rewards_times_a_share():
    """The share is a float32 there."""
    for batch in VERL["batches"]:
        rewards = np.array(batch["rewards"])
        ours = advantages(rewards, Advantage(scale="none")) * rewards.size / np.count_nonzero(rewards)
        np.testing.assert_allclose(ours.ravel(), batch["gpg"], rtol=2 * FLOAT32, atol=64 * FLOAT64)


def test_defaults_are_what_is_read_from_an_empty_configuration():
    defaults = {name: value for name, value in TRL["defaults"].items() if value is not None}
    assert read_config(json.dumps(defaults), "trl").objective == read_config("{}", "trl").objective
    assert read_config("{}", "trl").objective == preset("trl")
    actor = {name: value for name, value in VERL["defaults"].items() if value is not None}
    trainer = {"actor_rollout_ref": {"rollout": {"n": 8}, "actor": actor}}
    read = read_config(json.dumps(trainer), "verl").objective
    assert read == read_config("actor_rollout_ref.rollout.n=8", "verl").objective


def test_versions_are_those_asked_for_and_those_of_the_presets():
    wanted = {}
    for name in ("trl", "verl"):
        for line in (HERE / f"requirements-{name}.txt").read_text().split():
            package, _, version = line.partition("==")
            wanted[name, package] = version
    for environment, record in (("trl", TRL), ("verl", VERL), ("trl", POLGRAD)):
        for package, version in record["versions"].items():
            assert wanted[environment, package] == version
    read = {item.name: item.version for item in presets()}
    assert (read["trl"], read["verl"]) == (TRL["versions"]["trl"], VERL["versions"]["verl"])
