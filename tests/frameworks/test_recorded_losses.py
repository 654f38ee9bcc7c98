"""Losses of one batch, and their slopes in each log-probability, against those of TRL's and verl's own functions.

Options go to the trainer when its answer is recorded, and to our reader of trainers' configurations here.
"""

import json

import numpy as np
import pytest

from frameworks.recorded import TRL, VERL
from reweight import Clip, batch_loss, preset, token_weights
from reweight.objectives.config import read_config

BATCH = TRL["token_batch"]
NOW, OLD, REFERENCE, VALUES = (np.array(BATCH[name]) for name in ("now", "old", "reference", "advantages"))
LENGTHS, WIDTH = np.array(BATCH["lengths"]), NOW.shape[1]
MASK = np.arange(WIDTH) < LENGTHS[:, None]
CLOSE = {"rtol": 1e-13, "atol": 1e-13}


def test_both_were_given_the_same_batch_and_it_takes_every_branch():
    assert VERL["token_batch"] == BATCH
    ratios = np.exp(NOW - OLD)[MASK]
    signs = np.broadcast_to(VALUES[:, None], MASK.shape)[MASK] > 0
    for sign in (True, False):
        here = ratios[signs == sign]
        assert (here < 0.8).any()
        assert ((here > 0.8) & (here < 1.2)).any()
        assert (here > 1.28).any()
    assert (ratios[~signs] > 3).any()


def of_trl(options):
    """The objective that our reader of configurations finds in TRL's options."""
    shape = {"num_generations": 3, "max_completion_length": WIDTH}
    return read_config(json.dumps({**shape, **options}), "trl").objective


def of_verl(name, aggregation, **options):
    """The objective that our reader of configurations finds in verl's options."""
    actor = {**options, "loss_agg_mode": aggregation, "policy_loss": {"loss_mode": name}}
    trainer = {"data": {"max_response_length": WIDTH}, "actor_rollout_ref": {"rollout": {"n": 3}, "actor": actor}}
    return read_config(json.dumps(trainer), "verl").objective


def compare(objective, entry, factor=1.0):
    value, weights = batch_loss(NOW - OLD, VALUES, objective, mask=MASK)
    gradient = -weights
    if objective.ratio.level == "detached_weight":
        value = (gradient * NOW).sum()  # their value holds log pi where ours holds a one
    if objective.kl is not None:
        shares = np.where(MASK, token_weights(LENGTHS, objective.aggregation)[:, None], 0.0)
        log_ratio, importance = NOW - REFERENCE, np.exp(NOW - OLD)
        penalty = objective.kl.value(log_ratio)
        if objective.kl.gradient == "ratio_weighted":
            penalty = penalty * importance
        value += objective.kl.beta * (shares * penalty).sum()
        gradient = gradient + objective.kl.beta * shares * objective.kl.slope(log_ratio, importance)
    np.testing.assert_allclose(factor * value, entry["loss"], **CLOSE)
    np.testing.assert_allclose(factor * gradient, entry["gradient"], **CLOSE)


@pytest.mark.parametrize("entry", TRL["losses"], ids=lambda entry: "-".join(map(str, entry["options"].values())))
def test_losses_of_trl(entry):
    compare(of_trl(entry["options"]), entry)


@pytest.mark.parametrize("entry", VERL["losses"], ids=lambda entry: "-".join(map(str, entry["options"].values())))
def test_losses_of_verl(entry):
    options, factor = entry["options"], 1
    if options["aggregation"] == "token-sum":  # a token mean times the number of tokens
        options, factor = {**options, "aggregation": "token-mean"}, LENGTHS.sum()
    compare(of_verl(**options), entry, factor)


def test_the_presets_are_among_what_was_compared():
    assert of_trl({}) == preset("trl", group_size=3)
    assert of_verl("vanilla", "token-mean") == preset(
        "verl", group_size=3, clip=Clip(0.2, 0.2, dual=3.0, log_ratio_limit=20.0)
    )


def test_micro_batches_of_verl():
    """A token mean over micro-batches is that of the batch only where all tokens are counted."""
    whole = (NOW * MASK).sum() / MASK.sum()
    assert sum(VERL["micro_batches"]["counted"]) == pytest.approx(whole, rel=1e-14)
    assert abs(np.mean(VERL["micro_batches"]["uncounted"]) - whole) > 0.01


@pytest.mark.parametrize("name", VERL["kl_penalty"])
def test_kl_penalties_of_verl(name):
    """Only k3 is clamped there; "+" is the gradient of k2. Some log-ratios are beyond the clamp."""
    penalty = of_verl("vanilla", "token-mean", use_kl_loss=True, kl_loss_coef=1.0, kl_loss_type=name).kl
    log_ratio, theirs = NOW - REFERENCE, VERL["kl_penalty"][name]
    assert (np.exp(-log_ratio) + log_ratio - 1 > 10)[MASK].any()
    np.testing.assert_allclose(np.where(MASK, penalty.value(log_ratio), 0.0), theirs["values"], **CLOSE)
    slope = penalty.slope(log_ratio, np.ones_like(log_ratio))
    np.testing.assert_allclose(np.where(MASK, slope, 0.0), theirs["gradient"], **CLOSE)
