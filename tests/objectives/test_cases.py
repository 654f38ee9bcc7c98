"""Small inputs from public reports of faults in trainers, with the value that is right."""

from itertools import product

import numpy as np
import pytest

from reweight import (
    Advantage,
    Clip,
    FlatPolicy,
    KLPenalty,
    Objective,
    Problem,
    Ratio,
    advantages,
    batch_loss,
    fill_probability,
    gap,
    kl_expected,
    kl_gradient,
    preset,
    sequence_ratio,
    surrogate,
    token_weights,
    usable_share,
)
from reweight.measures import estimate_pass_at_k


def test_batch_scale_is_not_the_group_scale():
    """trl 3991."""
    found = advantages([[1, 0, 0], [1, 1, 1]], Advantage("mean", "batch_std", ddof=1, eps=1e-4)).ravel()
    wanted = [1.29074449713872, -0.645372248569362, -0.645372248569362, 0, 0, 0]
    np.testing.assert_allclose(found, wanted, atol=1e-14)
    plain = advantages([1, 0, 0], Advantage(eps=1e-8))
    np.testing.assert_allclose(plain, [1.41421353237310, -0.707106766186548, -0.707106766186548], atol=1e-14)


def test_a_lone_success_among_equal_rewards():
    """NeMo-RL 4161: the others' std is exactly zero, so the difference stays undivided."""
    found = advantages([0.35] * 7 + [0.95], preset("nemo_rl").advantage)
    assert found[-1] == pytest.approx(0.6, abs=1e-15)
    np.testing.assert_allclose(found[:-1], -0.377962806349910, atol=1e-14)
    whole = advantages([0.35] * 7 + [0.95], Advantage(ddof=1))
    np.testing.assert_allclose(whole, [-0.353553390593274] * 7 + [2.47487373415292], atol=1e-13)
    for size in (3, 5, 7, 12):  # float sums of these rewards leave a residue, which is no spread
        for value in (0.1, 0.3, 0.35, 0.7):
            lone = advantages([value] * size + [value + 0.5], preset("nemo_rl").advantage)[-1]
            assert lone == pytest.approx(0.5, abs=1e-15)


def with_tokens(lengths):
    width = max(lengths)
    return np.array([[t < length for t in range(width)] for length in lengths])


def lost(aggregation, values, lengths, **options):
    objective = Objective(Advantage(), 2, aggregation=aggregation, **options)
    mask = with_tokens(lengths)
    return batch_loss(np.zeros(mask.shape), values, objective, mask=mask)


def test_aggregation_of_two_answers():
    """verl 3741: lengths 1 and 4, advantages 1 and -1."""
    loss, weights = lost("constant", [1, -1], [1, 4], constant_length=4.0)
    assert (loss, weights[0, 0], weights[1, 3]) == (0.375, 0.125, -0.125)
    loss, weights = lost("sequence_mean", [1, -1], [1, 4])
    assert (loss, weights[0, 0], weights[1, 3]) == (0, 0.5, -0.125)
    loss, weights = lost("token_mean", [1, -1], [1, 4])
    assert (loss, weights[0, 0], weights[1, 3]) == (pytest.approx(0.6), 0.2, -0.2)
    assert lost("constant", [1, -1], [1, 4], constant_length=8.0)[1][0, 0] == 0.0625


def test_one_token_mean_over_all_micro_batches():
    """trl 3021: lengths (2, 6) and (10, 2)."""
    loss, _ = lost("token_mean", [1, -0.5, -0.5, 1], [2, 6, 10, 2])
    assert loss == pytest.approx(0.2, abs=1e-15)
    np.testing.assert_allclose(token_weights([2, 6, 10, 2]), 1 / 20)


def test_estimators_of_the_divergence():
    """trl 4638: an unbiased value is not an unbiased gradient."""
    pi, ref = [0.6, 0.3, 0.1], [0.2, 0.3, 0.5]
    for estimator, value in (("k1", 0.498223581957456), ("k3", 0.498223581957456), ("k2", 0.491599207942786)):
        assert kl_expected(pi, ref, estimator) == pytest.approx(value, abs=1e-15)
    assert kl_expected(ref, pi, "k1") == pytest.approx(0.584996498483428, abs=1e-15)
    reverse, forward = (0.360233224026392, -0.149467074587237, -0.210766149439156), (0.4, 0, -0.4)
    np.testing.assert_allclose(kl_gradient(pi, ref, "k1"), 0, atol=1e-15)
    np.testing.assert_allclose(kl_gradient(pi, ref, "k2"), reverse, atol=1e-15)
    np.testing.assert_allclose(kl_gradient(pi, ref, "k3"), forward, atol=1e-15)
    np.testing.assert_allclose(kl_gradient(pi, ref, "k3", gradient="ratio_weighted"), reverse, atol=1e-15)


def test_pass_at_k_beyond_the_samples():
    """human-eval 35, verl 7240."""
    assert np.isnan(estimate_pass_at_k(99, 0, 100))
    assert estimate_pass_at_k(99, 0, 99) == 0
    assert estimate_pass_at_k(200, 3, 100) == pytest.approx(0.876884422110553, abs=1e-15)
    assert [float(estimate_pass_at_k(4, 1, k)) for k in (2, 3, 4)] == pytest.approx([0.5, 0.75, 1])
    assert estimate_pass_at_k(16, 2, 8) == pytest.approx(0.766666666666667, abs=1e-15)


def test_dynamic_sampling_that_never_fills():
    """DAPO 22."""
    assert usable_share(0.002, 8) == pytest.approx(0.0158884468817902, abs=1e-16)
    assert 1 / usable_share(0.002, 8) == pytest.approx(62.9388138085481, rel=1e-13)
    assert fill_probability(0.002, 8, 128, 10) == pytest.approx(1.18996067624747e-59, rel=1e-9)
    assert fill_probability(0.02, 8, 128, 10) == pytest.approx(0.999999920861211, abs=1e-14)
    assert fill_probability(0.02, 8, 64, 7) == pytest.approx(0.667377067353444, abs=1e-13)
    assert fill_probability(0.02, 8, 64, 8) == pytest.approx(0.948051732202741, abs=1e-13)
    assert usable_share(0.02, 8) == pytest.approx(0.149236977418189, abs=1e-15)
    mixture = 0.9 * usable_share(0.002, 8) + 0.1 * usable_share(0.5, 8)
    assert mixture == pytest.approx(0.113518352193611, abs=1e-14)
    of_the_mean = usable_share(0.9 * 0.002 + 0.1 * 0.5, 8)  # what prompts of one pass rate would have: three times more
    assert of_the_mean == pytest.approx(0.346569190299578, abs=1e-14)


@pytest.mark.parametrize(
    ("ratio", "advantage", "clip", "value", "slope"),
    [
        (10, -1, Clip(0.2, 0.2), -10, -1),
        (10, -1, Clip(0.2, 0.2, dual=3), -3, 0),
        (10, -1, Clip(0.2, 0.2, ratio_cap=2), -2, 0),
        (0.5, -1, Clip(0.2, 0.2), -0.8, 0),
        (0.5, -1, Clip(0.2, 0.2, dual=3), -0.8, 0),
        (0.5, -1, Clip(0.2, 0.2, ratio_cap=2), -0.8, 0),
        (1.5, 1, Clip(0.2, 0.2), 1.2, 0),
        (1.5, 1, Clip(0.2, 0.28), 1.28, 0),
        (1.5, 1, Clip(0.2, 0.2, dual=3), 1.2, 0),
        (1.5, 1, Clip(0.2, 0.2, ratio_cap=2), 1.2, 0),
        (1.25, 1, Clip(0.2, 0.2), 1.2, 0),
        (1.25, 1, Clip(0.2, 0.28), 1.25, 1),
        (0.5, 1, Clip(0.2, 0.2), 0.5, 1),
        (5, 2, Clip(0.2, 0.2), 2.4, 0),
        (5, 2, Clip(0.2, 0.28), 2.56, 0),
        (5, 2, Clip(0.2, 0.2, dual=3), 2.4, 0),
    ],
)
def test_clips(ratio, advantage, clip, value, slope):
    """tianshou 433, trl 3434: the dual clip is for negative advantages alone."""
    found = surrogate(ratio, advantage, clip)
    assert (float(found[0]), float(found[1])) == (pytest.approx(value), slope)


def test_more_gradient_that_points_at_noise():
    """A verifier that errs more has fewer dead groups and less signal."""
    rows = [(1, 0, 2.17735373398241), (0.9, 0.1, 1.60458242229168), (0.8, 0.2, 1.12929623393147), (0.5, 0.5, 0.0)]
    for tpr, fpr, wanted in rows:
        assert gap(0.1, 8, Advantage(ddof=1), tpr=tpr, fpr=fpr) == pytest.approx(wanted, abs=1e-13)
    dead = [1 - float(usable_share(tpr * 0.1 + fpr * 0.9, 8)) for tpr, fpr, _ in rows]
    np.testing.assert_allclose(dead, [0.43046722, 0.204415187861555, 0.0899403567268352, 0.0078125], atol=1e-14)


def test_a_noisy_verifier_by_all_labels_and_verdicts():
    """Five answers at pass rate .1, TPR .8, FPR .2: what the first is worth if right, less what if wrong."""
    rate, said_right = 0.1, {True: 0.8, False: 0.2}
    worth = {True: 0.0, False: 0.0}
    for labels in product((True, False), repeat=5):
        for verdicts in product((True, False), repeat=5):
            chance = np.prod([rate if label else 1 - rate for label in labels[1:]])
            for label, verdict in zip(labels, verdicts, strict=True):
                chance *= said_right[label] if verdict else 1 - said_right[label]
            if any(verdicts) and not all(verdicts):
                rewards = np.array(verdicts, dtype=float)
                worth[labels[0]] += chance * (rewards[0] - rewards.mean()) / rewards.std(ddof=1)
    assert worth[True] - worth[False] == pytest.approx(0.959629315932889, abs=1e-14)
    assert gap(0.1, 5, Advantage(ddof=1), tpr=0.8, fpr=0.2) == pytest.approx(0.959629315932889, abs=1e-14)


def test_sequence_ratios_are_geometric():
    """trl 3823: rows (.4) and (.4, -.2, .1, .1), advantages 1 and -1."""
    rows, mask = np.array([[0.4, 0, 0, 0], [0.4, -0.2, 0.1, 0.1]]), with_tokens([1, 4])
    np.testing.assert_allclose(sequence_ratio(rows, mask), [1.49182469764127, 1.10517091807565], atol=1e-14)

    def loss(level, aggregation, clip):
        objective = Objective(Advantage(), 2, ratio=Ratio(level), clip=clip, aggregation=aggregation)
        return batch_loss(rows, [1, -1], objective, mask=mask)[0]

    assert loss("sequence_mean", "sequence_mean", Clip(0.2, 0.2)) == pytest.approx(-0.0474145409621762, abs=1e-15)
    assert loss("sequence_mean", "token_mean", Clip(0.2, 0.2)) == pytest.approx(0.644136734460518, abs=1e-15)
    assert loss("sequence_mean", "sequence_mean", Clip(3e-4, 3e-4)) == pytest.approx(0.0524354590378238, abs=1e-15)
    assert loss("token", "sequence_mean", Clip(0.2, 0.2)) == pytest.approx(-0.0348878391411816, abs=1e-15)


@pytest.mark.parametrize("level", ["token", "sequence_product", "sequence_mean", "detached_weight"])
@pytest.mark.parametrize("aggregation", ["token_mean", "prompt_token_mean", "sequence_mean"])
def test_token_weights_are_the_slopes_of_the_loss(level, aggregation):
    rng = np.random.default_rng(0)
    rows, mask, values = rng.normal(scale=0.2, size=(4, 3)), with_tokens([1, 3, 2, 3]), rng.normal(size=4)
    objective = Objective(Advantage(), 2, ratio=Ratio(level), clip=Clip(0.1, 0.1), aggregation=aggregation)
    _, weights = batch_loss(rows, values, objective, mask=mask)
    assert not weights[~mask].any()
    if level == "detached_weight":
        return
    for place in np.argwhere(mask):
        up, down = rows.copy(), rows.copy()
        up[tuple(place)] += 1e-6
        down[tuple(place)] -= 1e-6
        slope = batch_loss(up, values, objective, mask=mask)[0] - batch_loss(down, values, objective, mask=mask)[0]
        assert weights[tuple(place)] == pytest.approx(-slope / 2e-6, abs=1e-8)


def test_a_penalty_in_the_reward_needs_a_reference():
    objective = Objective(Advantage(), 2, kl=KLPenalty("k1", 0.1, "reward"))
    policy = FlatPolicy.from_probabilities([0.5, 0.5])
    from reweight import InputError, expected_coefficients

    with pytest.raises(InputError, match="reference"):
        expected_coefficients(Problem([1, 0]), policy, objective)


def test_ratios_that_leave_float64_are_refused():
    from reweight import InputError

    with pytest.raises(InputError, match="beyond 700"):
        sequence_ratio([[1000.0]])
    with pytest.raises(InputError, match="beyond 700"):
        batch_loss([[800.0]], [1.0], Objective(Advantage(), 2))
