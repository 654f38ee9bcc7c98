"""Presets against what the frameworks' own functions gave: `make frameworks` records it anew."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from frameworks.groups import CONSTANT, mixed_groups
from reweight import (
    Advantage,
    Clip,
    FlatPolicy,
    KLPenalty,
    Objective,
    Problem,
    Ratio,
    advantages,
    expected_coefficients,
    preset,
    token_weights,
)

HERE = Path(__file__).parent

FOLDER = Path(os.environ.get("REWEIGHT_RECORDS", HERE / "records"))
TRL, VERL, POLGRAD = (json.loads((FOLDER / f"{name}.json").read_text()) for name in ("trl", "verl", "polgrad"))
FLOAT32, FLOAT64 = 2.0**-24, 2.0**-53


def allowed(rewards, unit):
    """Rounding of (r - mean) / std: each reward, the mean and the std are off by a few units of the largest reward."""
    spread = np.std(rewards)
    size = len(rewards)
    return 4 * unit * size * (np.abs(rewards).max() / spread + 1)


@pytest.mark.parametrize(
    ("recorded", "advantage", "unit", "count", "seed"),
    [
        (TRL["group"], preset("trl").advantage, FLOAT32, 1000, 0),
        (TRL["none"], Advantage(scale="none"), FLOAT32, 100, 1),
        (VERL["grpo"], preset("verl").advantage, FLOAT64, 1000, 0),
        (VERL["grpo_passk"], Advantage("second_best", ddof=1, eps=1e-6, selection="best"), FLOAT64, 100, 1),
        (VERL["rloo"], Advantage("leave_one_out", "none"), FLOAT64, 100, 1),
    ],
    ids=["trl", "trl none", "verl grpo", "verl grpo_passk", "verl rloo"],
)
def test_advantages_of_mixed_groups(recorded, advantage, unit, count, seed):
    groups = mixed_groups(count, seed=seed)
    assert len(recorded) == count
    for rewards, theirs in zip(groups, recorded, strict=True):
        ours = advantages(rewards, advantage)
        scale = max(1.0, np.abs(rewards).max()) if advantage.scale == "none" else np.abs(ours).max() + 1
        assert np.abs(ours - theirs).max() <= allowed(rewards, unit) * scale, rewards


def test_batch_scale_and_missing_rewards_of_trl():
    ours = advantages([[1, 0, 0], [1, 1, 1]], Advantage("mean", "batch_std", ddof=1, eps=1e-4))
    np.testing.assert_allclose(ours.ravel(), TRL["batch"], atol=1e-6)
    np.testing.assert_allclose(advantages([1, np.nan, 0, 0.5], preset("trl").advantage), TRL["missing"], atol=1e-6)


def test_channels_normalised_apart_of_trl():
    table = np.array([[1, 0.2], [0, 0.7], [0.5, 0.2], [1, 0], [0, 0.3], [0, 0.3]]).reshape(2, 3, 2)
    plain = Advantage(ddof=1, eps=1e-4)
    summed = advantages(table[..., 0], plain) + 0.5 * advantages(table[..., 1], plain)
    again = advantages(summed, Advantage("none", "none", ddof=1, eps=1e-4, second="batch_standardise"))
    np.testing.assert_allclose(again.ravel(), TRL["normalize_then_sum"], atol=2e-6)


def test_constant_groups_are_residue_there_and_zero_here():
    for name, record, most in (("trl", TRL, 2e-3), ("verl", VERL, 2e-10)):
        ours = [advantages(rewards, preset(name).advantage) for rewards in CONSTANT]
        assert all(not row.any() for row in ours)
        theirs = np.array([np.abs(row).max() for row in record["constant"]])
        assert theirs.max() < most
    assert np.abs(np.concatenate(TRL["constant"])).max() > 0  # the float32 residue is there


def test_a_lone_sample_of_verl():
    ours = advantages([0.7], Advantage(ddof=1, eps=1e-6, singleton="reward"))
    np.testing.assert_allclose(ours, VERL["singleton"], rtol=1e-7)  # its std of one is a float32


@pytest.mark.parametrize(
    ("name", "advantage"),
    [
        ("opo", Advantage("length_weighted", "none")),
        (
            "reinforce_plus_plus",
            Advantage("none", "none", ddof=1, eps=1e-8, eps_rule="inside_root", second="token_whiten"),
        ),
        (
            "reinforce_plus_plus_baseline",
            Advantage("mean", "none", ddof=1, eps=1e-8, eps_rule="inside_root", second="token_whiten"),
        ),
    ],
)
def test_length_weighted_and_whitened_advantages_of_verl(name, advantage):
    rewards, lengths = np.array([[1, 0, 0.5], [1, 1, 0]]), np.array(VERL["lengths"]).reshape(2, 3)
    ours = advantages(rewards, advantage, lengths=lengths)
    # verl adds 1e-8 to the number of tokens, of which there are 13 here
    np.testing.assert_allclose(ours.ravel(), VERL[name], rtol=1e-8, atol=1e-12)


def test_aggregation_of_verl():
    losses = np.array([[1.0, 0, 0, 0], [0.5, -1.0, 2.0, 0.25]])
    modes = {"token-mean": "token_mean", "seq-mean-token-sum": "sequence_sum", "seq-mean-token-mean": "sequence_mean"}
    for theirs, ours in modes.items():
        weights = token_weights([1, 4], ours)
        assert (weights[:, None] * losses).sum() == pytest.approx(VERL["agg_loss"][theirs], rel=1e-7)


def test_kl_penalties_of_verl():
    log_ratio = np.log([0.6, 0.3, 0.1]) - np.log([0.2, 0.3, 0.5])
    for theirs, ours in (("kl", "k1"), ("mse", "k2"), ("low_var_kl", "k3")):
        value = KLPenalty(ours, 1.0, limit=10.0).value(log_ratio)
        np.testing.assert_allclose(value, VERL["kl_penalty"][theirs], atol=1e-12)


@pytest.mark.parametrize("norm", ["grpo", "dr_grpo"])
@pytest.mark.parametrize(
    ("loss", "options"),
    [
        ("clipped", {"clip": Clip(0.2, 0.2)}),
        ("cispo", {"clip": Clip(1.0, 0.28), "ratio": Ratio("detached_weight")}),
    ],
)
def test_expected_gradients_of_polgrad(norm, loss, options):
    advantage = Advantage(ddof=1, eps=1e-4) if norm == "grpo" else Advantage(scale="none")
    old, now = (FlatPolicy(np.array(POLGRAD[name]), (4,)) for name in ("old", "now"))
    problem = Problem(POLGRAD["rewards"])
    objective = Objective(advantage, POLGRAD["group_size"], **options)
    push = now.pull_back(problem, expected_coefficients(problem, now, objective, old=old))
    np.testing.assert_allclose(-push, POLGRAD["gradients"][f"{norm} {loss}"], atol=1e-12)
