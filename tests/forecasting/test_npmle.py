"""The nonparametric maximum-likelihood distribution: where the optimum is known, and that its certificate is one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from reweight.errors import InputError
from reweight.forecasting.npmle import Npmle, npmle
from reweight.rollouts import Counts


def _log_likelihood(counts: Counts, pass_rates: np.ndarray, weights: np.ndarray) -> float:
    law = binom.pmf(counts.c[:, None], counts.n[:, None], pass_rates)
    return float(np.log(law @ weights).sum())


def test_one_sample_a_prompt_fits_the_mean_alone() -> None:
    fit = npmle(Counts.of([1] * 10, [1] * 3 + [0] * 7))
    assert fit.mean(lambda p: p) == pytest.approx(0.3, abs=1e-6)


def test_shares_that_a_distribution_explains_are_met_exactly() -> None:
    c = np.repeat([0, 1, 2, 3], [50, 10, 12, 28])  # half at p = 0, a quarter at 1 would leave less in between
    fit = npmle(Counts.of([3] * 100, c.tolist()))
    found = [fit.mean(lambda p, k=k: binom.pmf(k, 3, p)) for k in range(4)]
    assert found == pytest.approx([0.5, 0.1, 0.12, 0.28], abs=1e-4)
    attainable = 100 * sum(share * np.log(share) for share in (0.5, 0.1, 0.12, 0.28))
    own = _log_likelihood(Counts.of([3] * 100, c.tolist()), fit.pass_rates, fit.weights)
    assert own <= attainable + 1e-9
    assert attainable - own <= fit.gap + 1e-9


@pytest.mark.parametrize("sizes", [(8, 8), (2, 24)])
def test_no_other_distribution_is_better_than_the_certificate_says(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    n = rng.integers(sizes[0], sizes[1] + 1, 300)
    counts = Counts.of(n.tolist(), rng.binomial(n, rng.beta(0.4, 0.6, 300)).tolist())
    fit = npmle(counts)
    assert fit.weights.sum() == pytest.approx(1.0)
    assert (fit.weights > 1e-12).all()
    # Expectation-maximisation from the even distribution on another grid, which only ever climbs.
    grid = np.sin(np.linspace(0, np.pi / 2, 331)) ** 2
    law = binom.pmf(counts.c[:, None], counts.n[:, None], grid)
    weights = np.full(grid.size, 1 / grid.size)
    for _ in range(3000):
        weights *= (law / (law @ weights)[:, None]).mean(axis=0)
    own, other = (_log_likelihood(counts, *each) for each in ((fit.pass_rates, fit.weights), (grid, weights)))
    assert other <= own + fit.gap + 1e-9
    assert own - other < 0.5  # the climb gets close, so that the certificate is put to a test
    assert fit.gap < 0.1


def test_equal_pairs_count_as_often_as_they_come() -> None:
    once = npmle(Counts.of([4, 4, 6], [1, 3, 0]))
    twice = npmle(Counts.of([6, 4, 4, 4, 6, 4], [0, 1, 3, 3, 0, 1]))
    assert once.mean(lambda p: p) == pytest.approx(twice.mean(lambda p: p), abs=1e-5)


def test_a_mean_is_that_of_the_masses() -> None:
    fit = Npmle(np.array([0.0, 0.5]), np.array([0.25, 0.75]), 0.0)
    assert fit.mean(lambda p: p**2) == 0.1875


def test_samples_beyond_the_grid_are_refused() -> None:
    with pytest.raises(InputError, match="1025 samples"):
        npmle(Counts.of([8, 1025], [3, 4]))
