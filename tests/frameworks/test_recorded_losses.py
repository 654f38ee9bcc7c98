"""Losses of one batch, and their slopes in each log-probability, against those of TRL's and verl's own functions."""

from dataclasses import replace

import numpy as np
import pytest

from frameworks.recorded import TRL, VERL
from reweight import Advantage, Clip, KLPenalty, Objective, Ratio, batch_loss, preset, token_weights

BATCH = TRL["token_batch"]
NOW, OLD, REFERENCE, VALUES = (np.array(BATCH[name]) for name in ("now", "old", "reference", "advantages"))
LENGTHS, WIDTH = np.array(BATCH["lengths"]), NOW.shape[1]
MASK = np.arange(WIDTH) < LENGTHS[:, None]
CLOSE = {"rtol": 1e-13, "atol": 1e-13}

TRL_AGGREGATIONS = {
    "dapo": {"aggregation": "token_mean"},
    "bnpo": {"aggregation": "token_mean"},
    "cispo": {"aggregation": "token_mean"},
    "grpo": {"aggregation": "sequence_mean"},
    "luspo": {"aggregation": "sequence_sum"},
    "dr_grpo": {"aggregation": "constant", "constant_length": float(WIDTH)},
}
VERL_AGGREGATIONS = {
    "token-mean": {"aggregation": "token_mean"},
    "token-sum": {"aggregation": "token_mean"},  # times the number of tokens
    "seq-mean-token-mean": {"aggregation": "sequence_mean"},
    "seq-mean-token-sum": {"aggregation": "sequence_sum"},
    "seq-mean-token-sum-norm": {"aggregation": "constant", "constant_length": float(WIDTH)},
}


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
    """The objective that TRL's options describe."""
    low = options.get("epsilon", 0.2)
    high = options.get("epsilon_high", low)
    level = {"token": "token", "sequence": "sequence_mean"}[options.get("importance_sampling_level", "token")]
    ratio, clip = Ratio(level), Clip(low, high, ratio_cap=options.get("delta"))
    if options.get("loss_type") == "cispo":
        ratio, clip = Ratio("detached_weight"), Clip(1.0, high, high_is="absolute")
    kl = None
    if "beta" in options:
        corrected = options.get("use_bias_correction_kl", True)
        kl = KLPenalty("k3", options["beta"], gradient="ratio_weighted" if corrected else "autograd")
    shape = TRL_AGGREGATIONS[options.get("loss_type", "dapo")]
    return Objective(Advantage(ddof=1, eps=1e-4), 3, ratio=ratio, clip=clip, kl=kl, **shape)


def of_verl(options):
    """The objective that verl's options describe; `clip_ratio` alone changes nothing there."""
    low, high = options.get("clip_ratio_low", 0.2), options.get("clip_ratio_high", 0.2)
    level, dual = {
        "vanilla": ("token", options.get("clip_ratio_c", 3.0)),
        "gspo": ("sequence_mean", None),
        "cispo": ("detached_weight", None),
    }[options["name"]]
    shape = VERL_AGGREGATIONS[options["aggregation"]]
    return Objective(Advantage(ddof=1), 3, ratio=Ratio(level), clip=Clip(low, high, dual=dual), **shape)


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
    aggregation = entry["options"]["aggregation"]
    factor = LENGTHS.sum() if aggregation == "token-sum" else 1
    compare(of_verl(entry["options"]), entry, factor)


def test_the_presets_are_among_what_was_compared():
    described = {"trl": of_trl({}), "verl": of_verl({"name": "vanilla", "aggregation": "token-mean"})}
    for name, objective in described.items():
        assert replace(preset(name, group_size=3), advantage=objective.advantage) == objective


def test_micro_batches_of_verl():
    """A token mean over micro-batches is that of the batch only where all tokens are counted."""
    whole = (NOW * MASK).sum() / MASK.sum()
    assert sum(VERL["micro_batches"]["counted"]) == pytest.approx(whole, rel=1e-14)
    assert abs(np.mean(VERL["micro_batches"]["uncounted"]) - whole) > 0.01


@pytest.mark.parametrize("name", [name for name in VERL["kl_penalty"] if name != "abs"])
def test_kl_penalties_of_verl(name):
    """Only k3 is clamped there; "+" is the gradient of k2. Some log-ratios are beyond the clamp."""
    plain = name.removesuffix("+")
    estimator = {"kl": "k1", "mse": "k2", "low_var_kl": "k3"}.get(plain, plain)
    rule = "straight_through" if name.endswith("+") else "autograd"
    penalty = KLPenalty(estimator, 1.0, gradient=rule, limit=10.0 if estimator == "k3" else None)
    log_ratio, theirs = NOW - REFERENCE, VERL["kl_penalty"][name]
    assert (np.exp(-log_ratio) + log_ratio - 1 > 10)[MASK].any()
    np.testing.assert_allclose(np.where(MASK, penalty.value(log_ratio), 0.0), theirs["values"], **CLOSE)
    slope = penalty.slope(log_ratio, np.ones_like(log_ratio))
    np.testing.assert_allclose(np.where(MASK, slope, 0.0), theirs["gradient"], **CLOSE)
