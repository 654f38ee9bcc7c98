"""A verifier that errs: the file's pass rate, and the groups of a run, against enumeration and the closed form."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.forecasting.functional import Functional
from reweight.forecasting.noise import _correct_times_advantage, accepted, noise
from reweight.groups.advantages import advantages
from reweight.groups.binary import gap
from reweight.objectives import Advantage, Objective
from reweight.rollouts import Counts

TRL_LIKE = Advantage(ddof=1)


@pytest.mark.parametrize("rates", [(1.0, 0.0), (0.9, 0.1), (0.8, 0.2)])
def test_the_noisy_gap_of_a_known_case(rates: tuple[float, float]) -> None:
    """p = .1, G = 8, ddof 1: dead shares and effective gaps of a published report, by p q J Delta."""
    tpr, fpr = rates
    wanted = {
        1.0: (0.43046722, 2.17735373398241),
        0.9: (0.204415187861555, 1.60458242229168),
        0.8: (0.0899403567268352, 1.12929623393147),
    }[tpr]
    p = np.array([0.1])
    dead = np.zeros(9)
    dead[[0, 8]] = 1.0
    assert Functional(accepted(8, 8, tpr, fpr) @ dead).at(p)[0] == pytest.approx(wanted[0], abs=1e-12)
    effective = Functional(_correct_times_advantage(8, TRL_LIKE, tpr, fpr)).at(p)[0]
    assert effective == pytest.approx(0.1 * 0.9 * wanted[1], abs=1e-12)
    assert (tpr - fpr) * gap(fpr + (tpr - fpr) * 0.1, 8, TRL_LIKE) == pytest.approx(wanted[1], abs=1e-11)


def test_the_signal_by_all_labels_and_verdicts() -> None:
    """G = 4: 2^8 pairs of labels and verdicts."""
    p, tpr, fpr, size = 0.3, 0.8, 0.2, 4
    total = 0.0
    for labels in itertools.product((0, 1), repeat=size):
        for verdicts in itertools.product((0, 1), repeat=size):
            chance = np.prod([p if y else 1 - p for y in labels])
            rates = [tpr if y else fpr for y in labels]
            chance *= np.prod([rate if v else 1 - rate for rate, v in zip(rates, verdicts, strict=True)])
            scores = advantages(np.array([verdicts], float), Advantage())[0]
            total += chance * float(np.dot(labels, scores)) / size
    found = Functional(_correct_times_advantage(size, Advantage(), tpr, fpr)).at(np.array([p]))[0]
    assert found == pytest.approx(total, abs=1e-13)


def test_a_noisy_file_is_taken_back_to_the_truth() -> None:
    rng = np.random.default_rng(3)
    rates = rng.beta(2, 2, 4000)
    seen = rng.binomial(8, 0.1 + 0.8 * rates)
    found = noise(Counts.of([8] * 4000, seen.tolist()), Objective(Advantage(), 8), tpr=0.9, fpr=0.1, group_sizes=[8])
    assert found.if_file.low < 0.5 < found.if_file.high
    assert found.if_file.high - found.if_file.low < 0.03


def test_without_errors_nothing_changes() -> None:
    counts = Counts.of([8] * 50, [0, 2, 5, 8, 8] * 10)
    found = noise(counts, Objective(Advantage(), 8), tpr=1.0, fpr=0.0, group_sizes=[4, 8])
    for row in found.rows:
        assert row.signal.estimate == pytest.approx(row.clean.estimate, abs=1e-12)
    assert found.if_file == found.observed
    assert all(len(cells) == len(table.header) for table in found.tables() for cells in table.rows)
    assert set(found.to_dict()["groups"]) == {"4", "8"}


def test_more_noise_means_fewer_dead_groups_and_less_signal() -> None:
    counts = Counts.of([8] * 100, [0] * 60 + [2] * 40)
    quiet, loud = (
        noise(counts, Objective(Advantage(), 8), tpr=1 - error, fpr=error, group_sizes=[8]).rows[0]
        for error in (0.05, 0.3)
    )
    assert quiet.dead_share.estimate > loud.dead_share.estimate
    assert quiet.signal.estimate > loud.signal.estimate


@pytest.mark.parametrize(("tpr", "fpr"), [(0.5, 0.5), (0.2, 0.4), (1.5, 0.0), (0.9, -0.1), (float("nan"), 0.0)])
def test_refusals(tpr: float, fpr: float) -> None:
    with pytest.raises(InputError):
        noise(Counts.of([8], [3]), Objective(Advantage(), 8), tpr=tpr, fpr=fpr, group_sizes=[8])
