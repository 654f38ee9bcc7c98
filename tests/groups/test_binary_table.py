"""Tables of binary prompts against walks through all groups."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy.special import expit

from reweight.errors import InputError
from reweight.groups.advantages import advantages
from reweight.groups.binary import gap
from reweight.groups.binary_table import binary_table, gaps_over_log_odds
from reweight.objectives import Advantage, Batch, Filter, Objective, RewardRule, preset
from reweight.objectives.presets import presets

RATES = [Fraction(1, 100), Fraction(3, 10), Fraction(9, 10)]


def walk(rate, size, keep, reward_advantages):
    """Sum over all groups: weights of a correct and of a wrong first member given a kept group, and the kept share."""
    p, share, totals, masses = float(rate), 0.0, np.zeros(2), np.zeros(2)
    for group in product((0, 1), repeat=size):
        chance = np.prod([p if member else 1 - p for member in group])
        masses[group[0]] += chance
        if keep(group):
            share += chance
            totals[group[0]] += chance * reward_advantages(np.array(group, dtype=float))[0]
    return totals[1] / masses[1] / share, totals[0] / masses[0] / share, share


@pytest.mark.parametrize("keep", ["mixed", "solved"])
@pytest.mark.parametrize("rate", RATES)
def test_filters_by_a_walk_through_all_groups(keep, rate):
    """C17: given a kept group, E[A 1{kept} | y] / P(kept)."""
    advantage, size = Advantage(ddof=1, eps=0.01), 5
    kept = (lambda group: 0 < sum(group) < size) if keep == "mixed" else any
    (row,) = binary_table(Objective(advantage, size, filter=Filter(keep)), [rate])
    correct, wrong, share = walk(rate, size, kept, lambda group: advantages(group, advantage))
    assert row.correct == pytest.approx(correct, rel=1e-12)
    assert row.wrong == pytest.approx(wrong, rel=1e-12)
    assert row.draws == pytest.approx(size / share, rel=1e-12)


def test_a_prompt_that_is_dropped_counts_as_zero():
    """With R rounds of redrawing, weights are those of a kept group times 1 - (1 - share)^R."""
    rate, advantage = Fraction(1, 10), Advantage()
    kept, limited = (
        binary_table(Objective(advantage, 4, filter=Filter("solved", max_rounds=most)), [rate])[0] for most in (None, 3)
    )
    share = 1 - 0.9**4
    assert limited.gap == pytest.approx(kept.gap * (1 - (1 - share) ** 3), rel=1e-12)
    assert limited.draws == pytest.approx(4 / share, rel=1e-12)
    assert limited.signal_to_noise is None


def test_pass_at_k_by_a_walk_through_all_groups():
    """PKPO: a correct sample gets k, a wrong one k times the share of sets of k - 1 others with a correct one."""
    size, k = 6, 3

    def shares(group):
        others = group[1:].sum()
        without = comb(int(size - 1 - others), k - 1) / comb(size - 1, k - 1)
        return [k if group[0] else k * (1 - without)]

    objective = Objective(Advantage("none", "none"), size, reward=RewardRule(transform="pass_at_k", k=k))
    for row, rate in zip(binary_table(objective, RATES), RATES, strict=True):
        correct, wrong, _ = walk(rate, size, lambda group: True, shares)
        assert [row.correct, row.wrong] == pytest.approx([correct, wrong], rel=1e-12)
        assert row.gap == pytest.approx(correct - wrong, rel=1e-12)


@pytest.mark.parametrize("name", [each.name for each in presets()])
def test_every_preset_has_a_table(name):
    rows = binary_table(preset(name), [Fraction(1, 10), Fraction(1, 2)])
    assert all(np.isfinite([row.correct, row.wrong, row.gap, row.signal]).all() for row in rows)
    assert all(row.gap > 0 for row in rows)


def test_prompts_that_share_a_batch_by_a_walk_through_all_batches():
    """Two prompts in groups of 2, divided by the standard deviation of the batch."""
    advantage = Advantage("mean", "batch_std", eps=0.1)
    rates = [Fraction(1, 4), Fraction(2, 3)]
    rows = binary_table(Objective(advantage, 2, batch=Batch()), rates)
    for position, row in enumerate(rows):
        totals, masses = np.zeros(2), np.zeros(2)
        for batch in product((0.0, 1.0), repeat=4):
            table = np.array(batch).reshape(2, 2)
            p = np.array([[float(rate)] for rate in rates])
            chance = np.where(table > 0, p, 1 - p).prod()
            first = int(table[position, 0])
            masses[first] += chance
            totals[first] += chance * advantages(table, advantage)[position, 0]
        assert [row.wrong, row.correct] == pytest.approx(totals / masses, rel=1e-12)


def test_noise_of_the_verifier():
    """C19: the gap is (TPR - FPR) times that at the observed pass rate, and dead groups are those that are observed."""
    tpr, fpr, rate = Fraction(9, 10), Fraction(1, 5), Fraction(1, 4)
    (row,) = binary_table(Objective(Advantage(), 8), [rate], tpr=tpr, fpr=fpr)
    seen = tpr * rate + fpr * (1 - rate)
    assert row.gap == pytest.approx(float(tpr - fpr) * float(gap(float(seen), 8, Advantage())), rel=1e-12)
    assert row.dead_share == pytest.approx(float(seen**8 + (1 - seen) ** 8), rel=1e-12)
    assert row.infinite is None
    assert row.signal_to_noise is None


def test_exact_values():
    objective = Objective(Advantage(), 3)
    (row,) = binary_table(objective, [Fraction(1, 7)], precision="rational")
    assert row.value == "1*sqrt(2)"
    (row,) = binary_table(objective, [Fraction(1, 7)], precision="ball", radius=1e-40)
    assert row.value.startswith("[1.41421356237309504880168872420969807856967")
    assert float(row.value.split("+/-")[1].rstrip("]")) < 1e-40 * 2**0.5


def test_signal_to_noise_by_a_walk_through_all_groups():
    """One correct and four equally likely wrong answers, groups of 3, gradients in the logits of a softmax."""
    pi = np.array([0.3, *[0.7 / 4] * 4])
    groups = np.array(list(product(range(5), repeat=3)))
    chances = pi[groups].prod(axis=1)
    values = advantages((groups == 0).astype(float), Advantage())
    gradients = (values[:, :, None] * (np.eye(5)[groups] - pi)).mean(axis=1)
    mean = chances @ gradients
    variance = chances @ (gradients**2).sum(axis=1) - mean @ mean
    (row,) = binary_table(Objective(Advantage(), 3), [Fraction(3, 10)])
    assert row.signal_to_noise == pytest.approx(mean @ mean / variance / 3, rel=1e-12)


def test_what_does_not_exist_is_none():
    never, always = binary_table(Objective(Advantage(), 4, filter=Filter("solved")), [Fraction(0), Fraction(1)])
    assert never.correct is never.wrong is never.gap is never.draws is None
    assert always.wrong is always.gap is None
    assert always.draws == 4
    (alone,) = binary_table(preset("reinforce_plus_plus"), [Fraction(1, 2)])
    assert alone.dead_share is None


def test_the_curve_is_the_table():
    log_odds = np.array([-3.0, 0.0, 2.0])
    noise = {"tpr": Fraction(9, 10), "fpr": Fraction(1, 10)}
    for objective in (
        Objective(Advantage(ddof=1), 6),
        Objective(Advantage(), 6, filter=Filter("mixed")),
        Objective(Advantage(), 6, filter=Filter("solved")),
        Objective(Advantage(), 6, reward=RewardRule(transform="rank")),
    ):
        rows = binary_table(objective, [Fraction(float(rate)) for rate in expit(log_odds)], **noise)
        curve = gaps_over_log_odds(objective, log_odds, **noise)
        assert curve == pytest.approx([row.gap for row in rows], rel=1e-12)


@pytest.mark.parametrize(
    ("objective", "options", "message"),
    [
        (Objective(Advantage(), 4, reward=RewardRule(bonus=0.4)), {}, "single answers"),
        (Objective(Advantage(), 4), {"precision": "double"}, "precision"),
        (Objective(Advantage(), 4, filter=Filter("solved")), {"precision": "rational"}, "leave it out"),
        (preset("areal"), {"precision": "ball", "radius": 1e-9}, "leave it out"),
        (Objective(Advantage(), 4), {"tpr": Fraction(2)}, "TPR"),
        (Objective(Advantage(), 4, filter=Filter("solved")), {"tpr": Fraction(2)}, "TPR"),
    ],
)
def test_bad_input(objective, options, message):
    with pytest.raises(InputError, match=message):
        binary_table(objective, [Fraction(1, 2)], **options)
    with pytest.raises(InputError, match="pass_rate"):
        binary_table(Objective(Advantage(), 4), [Fraction(6, 5)])


def test_a_batch_has_no_curve_of_one_prompt():
    with pytest.raises(InputError, match="couples prompts"):
        gaps_over_log_odds(preset("areal"), np.zeros(1), tpr=Fraction(1), fpr=Fraction(0))
