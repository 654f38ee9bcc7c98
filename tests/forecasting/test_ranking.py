"""Which group size learns most: what every pass rate agrees on, what a file decides, and limits that cover."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from reweight.emitting.worlds import WORLDS
from reweight.forecasting.functional import signal
from reweight.forecasting.plan import plan
from reweight.forecasting.ranking import rank
from reweight.objectives import Advantage, Objective
from reweight.rollouts import Counts

OBJECTIVE = Objective(Advantage(), 8)


def counts(world: str, prompts: int, n: int, seed: int = 0) -> Counts:
    return Counts.of([n] * prompts, WORLDS[world].counts(np.random.default_rng(seed), prompts, n).tolist())


def test_the_two_conventions_point_opposite_ways() -> None:
    """E g rises with G and E g / G falls, and 400 prompts with 16 samples show both."""
    found = plan(counts("uniform", 400, 16), OBJECTIVE, budget=10**5, group_sizes=[2, 4, 8, 16])
    by_rollouts, by_groups = found.rankings
    assert (by_rollouts.best, by_rollouts.ties) == (16, ())
    assert by_groups.best in (2, 4)
    assert "with as many rollouts a step G = 16 learns most" in found.recommendation


@pytest.mark.parametrize("ddof", [0, 1])
def test_where_every_pass_rate_agrees_few_prompts_are_enough(ddof: int) -> None:
    """E g rises with G and, from four on, E g / G falls, at every rate of a fine grid: a file has no say in it."""
    advantage = Advantage(ddof=ddof)
    found = plan(counts("sparse", 5, 4), Objective(advantage, 8), budget=10**4, group_sizes=[4, 8, 16])
    by_rollouts, by_groups = found.rankings
    assert (by_rollouts.best, by_groups.best) == (16, 4)
    assert all(each.certain and each.decided == "every pass rate" for each in by_rollouts.against + by_groups.against)
    assert by_rollouts.ties == by_groups.ties == ()
    rates = np.linspace(0.001, 0.999, 999)
    four, eight, sixteen = (signal(size, advantage).at(rates) for size in (4, 8, 16))
    assert (four < eight).all()
    assert (eight < sixteen).all()
    assert (four / 4 > eight / 8).all()
    assert (eight / 8 > sixteen / 16).all()


def test_where_pass_rates_disagree_few_prompts_do_not_decide() -> None:
    """With ddof 1 groups of two beat groups of four, by E g / G, at middle rates, and lose to them at small ones."""
    two, four = (signal(size, Advantage(ddof=1)).at(np.array([0.01, 0.5])) / size for size in (2, 4))
    assert two[0] < four[0]
    assert two[1] > four[1]
    objective = Objective(Advantage(ddof=1), 8)
    few = plan(Counts.of([4] * 5, [0, 1, 2, 2, 4]), objective, budget=10**4, group_sizes=[2, 4])
    (against,) = few.rankings[1].against
    assert not against.certain
    assert few.rankings[1].ties
    assert "not told apart from" in few.recommendation
    many = plan(counts("sparse", 3000, 4), objective, budget=10**5, group_sizes=[2, 4])
    assert (many.rankings[1].best, many.rankings[1].ties) == (4, ())
    assert many.rankings[1].against[0].decided == "this file"


def test_leave_one_out_learns_the_same_from_every_size() -> None:
    objective = Objective(Advantage(baseline="leave_one_out", scale="none"), 8)
    found = plan(counts("uniform", 50, 8), objective, budget=10**5, group_sizes=[4, 8])
    (against,) = found.rankings[0].against
    assert against.equal
    assert found.rankings[0].ties == (against.group_size,)


def test_paired_limits_cover() -> None:
    """Of 400 files at most the share that a one-sided 99.9 % limit of a binomial with 95 % allows may miss."""
    truth = WORLDS["uniform"]
    gain = truth.mean(signal(8, Advantage()).at) - truth.mean(signal(4, Advantage()).at)
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        drawn = Counts.of([8] * 60, truth.counts(rng, 60, 8).tolist())
        ranking = rank(drawn, 0.95, "rollouts a step", {size: signal(size, Advantage()) for size in (4, 8)})
        limits = ranking.against[0].difference
        held += limits.low <= gain <= limits.high
    assert held >= binom.ppf(0.001, 400, 0.95)
