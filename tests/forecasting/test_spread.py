"""Signal and noise by group size against enumeration, simulated groups, and worlds whose truth is known."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.forecasting.npmle import Npmle
from reweight.forecasting.spread import SpreadRow, spread
from reweight.groups.advantages import advantages
from reweight.objectives import Advantage, Objective
from reweight.rollouts import Counts

PLAIN, SCALED = Advantage(scale="none"), Advantage()


def _row(counts: Counts, size: int, advantage: Advantage = SCALED, **more: object) -> SpreadRow:
    (row,) = spread(counts, Objective(advantage, size), group_sizes=[size], **more).rows
    return row


def _truth(pass_rates: np.ndarray, size: int, advantage: Advantage) -> dict[str, float]:
    """From the law of K at each of equally frequent pass rates, with the advantages of each group as drawn."""
    k = np.arange(size + 1)
    rewards = (np.arange(size) < k[:, None]).astype(float)
    worth = (rewards * advantages(rewards[:, None, :], advantage)[:, 0, :]).mean(axis=1)
    law = np.array([[comb(size, j) * p**j * (1 - p) ** (size - j) for j in k] for p in pass_rates])
    mixed = 1 - law[:, 0].mean() - law[:, -1].mean()
    means, squares = law @ worth, law @ worth**2
    variance = squares.mean() - means.mean() ** 2
    return {
        "mixed": mixed,
        "per_generated": means.mean(),
        "per_kept": (law[:, 1:-1] @ worth[1:-1]).mean() / mixed,
        "generated_per_kept": 1 / mixed,
        "variance": variance,
        "within": (squares - means**2).mean(),
        "signal_to_noise": means.mean() ** 2 / variance / size,
    }


def _exact_counts(pass_rates: list[Fraction], n: int, copies: int) -> Counts:
    """As many prompts with each c as its probability says, where these are whole numbers."""
    c: list[int] = []
    for p in pass_rates:
        for k in range(n + 1):
            number = copies * comb(n, k) * p**k * (1 - p) ** (n - k)
            assert number.denominator == 1
            c += [k] * int(number)
    return Counts.of([n] * len(c), c)


@pytest.mark.parametrize("advantage", [PLAIN, SCALED, Advantage(ddof=1)])
@pytest.mark.parametrize(("n", "size"), [(4, 2), (6, 3)])
def test_estimates_are_the_truth_where_counts_have_exactly_their_law(n: int, size: int, advantage: Advantage) -> None:
    rates = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1)]
    row = _row(_exact_counts(rates, n, 4**n), size, advantage)
    for name, value in _truth(np.array(rates, dtype=float), size, advantage).items():
        found = getattr(row, name)
        assert found.identified, name
        assert found.estimate == pytest.approx(value, rel=1e-9), name
        # Groups of two and of three have one signal wherever they are mixed: no width, but for rounding.
        assert found.low - 1e-15 <= value <= found.high + 1e-15, name


def test_simulated_groups_have_the_variance_that_is_stated() -> None:
    rates, size, rng = np.array([0.0, 0.25, 0.5, 1.0]), 3, np.random.default_rng(2)
    prompt = rng.integers(0, 4, 200_000)
    rewards = (rng.random((2, prompt.size, size)) < rates[prompt][:, None]).astype(float)
    signal = np.stack([(each * advantages(each[:, None, :], SCALED)[:, 0, :]).mean(axis=1) for each in rewards])
    row = _row(_exact_counts([Fraction(r).limit_denominator(4) for r in rates], 6, 4**6), size)
    squares = (signal[0] - signal[0].mean()) ** 2
    assert abs(squares.mean() - row.variance.estimate) < 4 * squares.std() / np.sqrt(prompt.size)
    halves = (signal[0] - signal[1]) ** 2 / 2
    assert abs(halves.mean() - row.within.estimate) < 4 * halves.std() / np.sqrt(prompt.size)
    kept = rewards[0].min(axis=1) < rewards[0].max(axis=1)
    error = signal[0][kept].std() / np.sqrt(kept.sum())
    assert abs(signal[0][kept].mean() - row.per_kept.estimate) < 4 * error + 1e-12


def test_too_few_samples_leave_bounds_that_hold_the_truth() -> None:
    rates, rng = np.array([0.02, 0.3, 0.6, 0.97]), np.random.default_rng(4)
    counts = Counts.of([4] * 4000, rng.binomial(4, np.repeat(rates, 1000)).tolist())
    fit = Npmle(rates, np.full(4, 0.25), 0.0)
    row = _row(counts, 8, compatible=fit)
    for name, value in _truth(rates, 8, SCALED).items():
        found = getattr(row, name)
        assert found.estimate is None, name
        assert found.low <= value <= found.high, name
        assert found.compatible == pytest.approx(value), name
    assert row.per_kept.high - row.per_kept.low < 0.15


def test_groups_of_two_are_kept_with_one_signal() -> None:
    row = _row(Counts.of([2] * 6, [0, 1, 1, 2, 1, 2]), 2)
    assert (row.per_kept.low, row.per_kept.high) == (0.5, 0.5)


def test_without_a_mixed_group_there_is_no_limit_to_what_one_costs() -> None:
    found = spread(Counts.of([8] * 50, [0] * 50), Objective(SCALED, 4), group_sizes=[4])
    (row,) = found.rows
    assert row.generated_per_kept is None
    assert row.signal_to_noise is None
    assert row.per_kept.estimate is None
    assert (row.per_kept.low, row.per_kept.high) == pytest.approx((0.433013, 0.5), abs=1e-6)
    assert "no limit" in str(found)
    assert found.notes[-1].startswith("no limit")
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["groups"]["4"]["generated_per_kept"] is None


def test_a_group_of_one_is_refused() -> None:
    with pytest.raises(InputError, match="at least 2"):
        spread(Counts.of([2], [1]), Objective(SCALED, 2), group_sizes=[1])


@pytest.mark.slow
@pytest.mark.parametrize("n", [8, 32])
def test_intervals_cover_in_simulated_worlds(world, acceptable, n: int) -> None:
    size, repeats = 8, 200
    names = ["per_kept", "variance", "within", "signal_to_noise"]
    rng, covered = np.random.default_rng([7, n]), dict.fromkeys(names, 0)
    k = np.arange(size + 1)
    worth = np.sqrt(k * (size - k)) / size
    law = [lambda p, j=j: comb(size, j) * p**j * (1 - p) ** (size - j) for j in k]
    mean = sum(worth[j] * world.mean(law[j]) for j in k)
    square = sum(worth[j] ** 2 * world.mean(law[j]) for j in k)
    mixed = 1 - world.mean(law[0]) - world.mean(law[-1])
    own = world.mean(lambda p: sum(worth[j] * law[j](p) for j in k) ** 2)
    variance = square - mean**2
    truth = dict(zip(names, (mean / mixed, variance, square - own, mean**2 / variance / size), strict=True))
    for _ in range(repeats):
        row = _row(Counts.of([n] * 100, world.counts(rng, 100, n).tolist()), size)
        for name in names:
            found = getattr(row, name)
            covered[name] += found is None or (found.low <= truth[name] + 1e-6 and truth[name] - 1e-6 <= found.high)
    for name in names:
        assert acceptable(covered[name], repeats, 0.95), (name, covered[name] / repeats)
