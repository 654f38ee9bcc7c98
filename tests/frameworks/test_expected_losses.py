"""Expected weights, losses and gradients against polgrad's, summed over all groups of six of four answers."""

from itertools import combinations_with_replacement
from math import factorial

import numpy as np
import pytest

from frameworks.recorded import POLGRAD
from reweight import (
    Advantage,
    Clip,
    KLPenalty,
    Objective,
    Problem,
    Ratio,
    advantages,
    batch_loss,
    clipped_surrogate,
    expected_coefficients,
    group_weights,
)
from small_tree import ANSWERS, SmallTree

OLD, NOW, REFERENCE = (SmallTree(np.array(POLGRAD[name])) for name in ("old", "now", "reference"))
PROBLEM = Problem(POLGRAD["rewards"], answers=ANSWERS)
SIZE = POLGRAD["group_size"]
ADVANTAGES = {
    "grpo": Advantage(ddof=1, eps=1e-4),
    "grpo ddof 0": Advantage(ddof=0, eps=1e-6),
    "dr_grpo": Advantage(scale="none"),
    "rloo": Advantage("leave_one_out", "none"),
}
RATIOS = {
    "token": {"clip": Clip(0.2, 0.28)},
    "token dual": {"clip": Clip(0.2, 0.2, dual=1.5)},
    "token unclipped": {},
    "sequence": {"ratio": Ratio("sequence_mean"), "clip": Clip(0.2, 0.28)},
    "sequence by token": {"ratio": Ratio("sequence_mean"), "clip": Clip(0.2, 0.28)},
    "cispo": {"ratio": Ratio("detached_weight"), "clip": Clip(1.0, 0.28)},
}
AGGREGATIONS = {
    "token_mean": {"aggregation": "token_mean"},
    "seq_mean_token_mean": {"aggregation": "sequence_mean"},
    "seq_mean_token_sum": {"aggregation": "sequence_sum"},
    "token_sum_norm": {"aggregation": "constant", "constant_length": float(POLGRAD["constant_length"])},
}


def described(options):
    kl = None if options["kl"] is None else KLPenalty(options["kl"], 0.1)
    parts = {**RATIOS[options["ratio"]], **AGGREGATIONS[options["aggregation"]]}
    return Objective(ADVANTAGES[options["norm"]], SIZE, kl=kl, **parts)


def named(entry):
    return "-".join(str(part) for part in entry["options"].values() if part)


def of_answers(policy):
    return np.exp(np.nansum(policy.log_probs(PROBLEM).tokens, axis=1))


def groups():
    """Every multiset of draws, with its probability."""
    probabilities = of_answers(OLD)
    for group in combinations_with_replacement(range(4), SIZE):
        draws = np.array(group)
        ways = factorial(SIZE) / np.prod([factorial(group.count(answer)) for answer in range(4)])
        yield draws, ways * probabilities[draws].prod()


@pytest.mark.parametrize("norm", ADVANTAGES)
def test_expected_advantages(norm):
    ours = group_weights(PROBLEM.rewards, of_answers(OLD), SIZE, ADVANTAGES[norm])
    np.testing.assert_allclose(ours, POLGRAD["weights"][norm], rtol=0, atol=1e-12)


@pytest.mark.parametrize("entry", POLGRAD["losses"], ids=named)
def test_expected_gradients(entry):
    objective = described(entry["options"])
    reference = None if objective.kl is None else REFERENCE
    push = NOW.pull_back(PROBLEM, expected_coefficients(PROBLEM, NOW, objective, old=OLD, reference=reference))
    np.testing.assert_allclose(-push, entry["gradient"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("entry", [entry for entry in POLGRAD["losses"] if entry["options"]["kl"] is None], ids=named)
def test_expected_losses(entry):
    """Ours is summed over the groups too, by the loss of a batch; the slopes of each batch come with it."""
    objective = described(entry["options"])
    now, old = NOW.log_probs(PROBLEM), OLD.log_probs(PROBLEM)
    log_ratios = np.where(now.mask, now.tokens - old.tokens, 0.0)
    value, push = 0.0, np.zeros(len(NOW.parameters))
    for draws, probability in groups():
        given = advantages(PROBLEM.rewards[draws], objective.advantage)
        loss, weights = batch_loss(log_ratios[draws], given, objective, mask=now.mask[draws])
        if objective.ratio.level == "detached_weight":  # their value holds log pi where ours holds a one
            loss = -np.nansum(weights * now.tokens[draws])
        value += probability * loss
        push += probability * NOW.pull_back(PROBLEM, weights, draws)
    assert value == pytest.approx(entry["loss"], rel=0, abs=1e-12)
    np.testing.assert_allclose(-push, entry["gradient"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("entry", POLGRAD["whole"], ids=named)
def test_expected_losses_of_whole_answers(entry):
    """Where an answer counts as one token: the closed form of the surrogate, and the ratio of whole answers."""
    options, advantage = entry["options"], ADVANTAGES[entry["options"]["norm"]]
    clip = RATIOS[options["ratio"]].get("clip")
    value = clipped_surrogate(PROBLEM.rewards, of_answers(OLD), of_answers(NOW), SIZE, advantage, clip)
    assert -value == pytest.approx(entry["loss"], rel=0, abs=1e-12)
    objective = Objective(advantage, SIZE, ratio=Ratio("sequence_product"), clip=clip, aggregation="sequence_mean")
    push = NOW.pull_back(PROBLEM, expected_coefficients(PROBLEM, NOW, objective, old=OLD))
    np.testing.assert_allclose(-push, entry["gradient"], rtol=0, atol=1e-12)
