"""Trainers' configurations as objectives: files, argument lists, overrides, and what is wrong with them."""

import os
from pathlib import Path

import pytest

from reweight import Advantage, Clip, Filter, InputError, KLPenalty, preset
from reweight.objectives.config import read_config

FOLDER = Path(__file__).parents[1] / "data" / "configs"


def test_defaults_are_the_presets():
    trl = read_config("{}", "trl").objective
    assert trl == preset("trl")
    verl = read_config("actor_rollout_ref.rollout.n=8").objective
    assert verl == preset("verl")


def test_a_yaml_of_trl():
    found = read_config(FOLDER / "trl.yaml")
    assert (found.framework, found.inner_epochs, found.objective.group_size) == ("trl", 2, 16)
    assert found.objective.advantage.scale == "none"
    assert found.objective.constant_length == 2048
    assert found.objective.kl == KLPenalty("k3", 0.04)
    assert found.objective.clip == Clip(0.2, 0.28)
    assert found.unused == ("output_dir", "learning_rate")
    assert found.dead == ()


def test_absolute_caps_of_cispo_are_pointed_out():
    found = read_config(FOLDER / "trl.json")
    assert found.objective.ratio.level == "detached_weight"
    assert found.objective.clip == Clip(1.0, 0.2, high_is="absolute")
    assert dict(found.dead).keys() == {"delta", "epsilon_high"}
    assert "at most 0.2" in dict(found.dead)["epsilon_high"]
    assert found.objective.reward.channel_weights == (1.0, 0.5)
    assert found.objective.batch is not None


def test_dead_keys_of_verl():
    found = read_config(FOLDER / "verl.yaml")
    assert found.objective.clip == Clip(0.2, 0.2, dual=3.0, log_ratio_limit=20.0)
    assert "stay at 0.2 and 0.2" in dict(found.dead)["actor_rollout_ref.actor.clip_ratio"]
    assert "algorithm.kl_ctrl.kl_coef" in dict(found.dead)
    assert found.objective.kl == KLPenalty("k3", 0.002, gradient="straight_through", limit=10.0)
    assert found.objective.filter == Filter("mixed", max_rounds=10)
    assert found.objective.aggregation == "sequence_mean"


@pytest.mark.parametrize(
    ("estimator", "advantage"),
    [
        ("rloo", Advantage("leave_one_out", "none", singleton="reward")),
        ("grpo_passk", Advantage("second_best", ddof=1, eps=1e-6, selection="best", singleton="error")),
        ("opo", Advantage("length_weighted", "none", singleton="reward")),
        (
            "reinforce_plus_plus_baseline",
            Advantage("mean", "none", ddof=1, eps=1e-8, eps_rule="inside_root", second="token_whiten"),
        ),
    ],
)
def test_estimators_of_verl(estimator, advantage):
    found = read_config(f"algorithm.adv_estimator={estimator} actor_rollout_ref.rollout.n=4")
    assert found.objective.advantage == advantage


def test_options_of_trl_as_arguments():
    text = "--num_generations 4 --loss-type=luspo --importance_sampling_level sequence --reward_weights 1 0.5"
    found = read_config(text + " --multi_objective_aggregation normalize_then_sum --delta 2.5 --entropy_coef 0.01")
    assert found.objective.aggregation == "sequence_sum"
    assert found.objective.ratio.level == "sequence_mean"
    assert found.objective.clip.ratio_cap == 2.5
    assert found.objective.advantage.second == "batch_standardise"
    assert found.objective.reward.order == "normalise_then_sum"
    assert "entropy" in found.left_out[0]
    assert "left out" in str(found)
    assert found.to_dict()["framework"] == "trl"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learning_rate: 1", "there is no key of a known framework"),
        ("num_generations: 8\nalgorithm: {adv_estimator: grpo}", "there are keys of several frameworks"),
        ("num_generations: many", "give a number"),
        ("num_generations: 2.5", "num_generations is 2.5: give a whole number from 1 on"),
        ("num_generations: -3", "num_generations is -3: give a whole number from 1 on"),
        ("num_generations: .inf", "num_generations is inf: give a number"),
        ("num_generations: " + "9" * 400, "num_generations is 9+ ... 9+: give a number"),
        ("num_generations: 8\nbeta: true", "beta is True: give a number"),
        ("num_generations: 8\nnum_generations: 4", "'num_generations' is set twice: set it once"),
        ("algorithm: {kl_ctrl: {kl_coef: 1, kl_coef: 2}}", "'kl_coef' is set twice"),
        ("num_generations: 8\nrows: [{a: 1, a: 2}]", "'a' is set twice"),
        ('{"num_generations": 8, "num_generations": 8}', "'num_generations' is set twice"),
        ("algorithm: {adv_estimator: grpo}\nalgorithm.adv_estimator: rloo", "'algorithm.adv_estimator' is set twice"),
        ("--num_generations 8 --beta 0.1 --beta=0.2", "'beta' is set twice"),
        ('num_generations: !!timestamp "abc"', "no JSON or YAML"),
        ('num_generations: !!int ""', "no JSON or YAML"),
        ('num_generations: !!bool "x"', "no JSON or YAML"),
        ("num_generations: 8\nwhen: 2026-13-45", "no JSON or YAML"),
        ("num_generations: " + "[" * 100 + "]" * 100, r"num_generations is \[+ ... \]+: give a number"),
        ("num_generations: " + "[" * 9999 + "]" * 9999, "no JSON or YAML"),
        ("loss_type: sapo", "no counterpart"),
        ("algorithm: {adv_estimator: gae}", "no counterpart"),
        ("- a\n- b", "no table of keys"),
        ("{", "no JSON or YAML"),
        ("a: [1", "no JSON or YAML"),
        ("a: &x {num_generations: 8}\nb: {p: *x, q: *x}", "aliases"),
        ("--num_generations 8 --beta 'x", "cannot be split"),
        ("beta=x", "give a number"),
        ("num_generations: 1", "group of one"),
        ("--loss_type cispo --num_generations 4 --importance_sampling_level sequence", "under loss_type cispo"),
        ("--beta 0.1 --num_generations 4 --importance_sampling_level sequence", "sequence ratios"),
        ("algorithm.use_kl_in_reward=true actor_rollout_ref.actor.use_kl_loss=true", "both on"),
        ("algorithm.use_kl_in_reward=maybe", "true or false"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(InputError, match=message) as caught:
        read_config(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_keys_that_are_not_read_are_named():
    found = read_config("num_generations: 8\nbetta: 0.1\nvllm: {mode: server}")
    assert found.unused == ("betta", "vllm.mode")
    assert "not read: betta, vllm.mode" in str(found)
    assert "not read" not in str(read_config("num_generations: 8"))
    many = read_config("num_generations: 8\n" + "\n".join(f"key{i}: 0" for i in range(50)))
    assert "key39 and 10 more" in str(many)
    assert len(many.to_dict()["unused"]) == 50


@pytest.mark.parametrize("limit", [-1, 0])
def test_dynamic_sampling_of_verl_without_limit(limit):
    groups = f"algorithm.filter_groups.enable=true algorithm.filter_groups.max_num_gen_batches={limit}"
    found = read_config(f"actor_rollout_ref.rollout.n=8 {groups}")
    assert found.objective.filter == Filter("mixed")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_config(tmp_path / "absent.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="UTF-8"):
        read_config(broken)
    os.mkfifo(tmp_path / "pipe")
    for special in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(InputError, match=f"^{special}: this is no plain file"):
            read_config(special)
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * 5_000_001)
    with pytest.raises(InputError, match=f"^{large}: a configuration of more than 5 MB"):
        read_config(large)
    with pytest.raises(InputError, match="no reader"):
        read_config("{}", "torchtune")
