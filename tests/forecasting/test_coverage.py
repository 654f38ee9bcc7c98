"""Intervals and bounds hold their level in worlds whose truth is known; docs/coverage.md has ten times the files."""

from __future__ import annotations

import pytest

from benchmarks.coverage import ALMOST_SURE, BOUND_CELLS, ENOUGH_EVENTS, IDENTIFIED_CELLS, Cell, simulate

REPEATS = 400


@pytest.mark.slow
@pytest.mark.parametrize("cell", IDENTIFIED_CELLS, ids=lambda cell: f"{cell.world}-{cell.prompts}-{cell.samples}")
def test_intervals_hold_their_level_and_not_more(cell: Cell) -> None:
    for (name, _), tally in simulate(cell, REPEATS, bounds=False, bootstrap=False).items():
        assert tally.repeats == REPEATS
        assert tally.passes, name
        if tally.events >= ENOUGH_EVENTS:
            assert tally.covered / tally.repeats <= ALMOST_SURE, name


@pytest.mark.slow
@pytest.mark.parametrize("cell", BOUND_CELLS, ids=lambda cell: f"{cell.world}-{cell.prompts}-{cell.samples}")
def test_bounds_hold_their_level(cell: Cell) -> None:
    for (name, _), tally in simulate(cell, REPEATS, bounds=True).items():
        assert tally.passes, name


def test_the_bootstrap_misses_where_nearly_all_prompts_are_alike() -> None:
    found = simulate(Cell("nearly-always", 60, 8), 100, bounds=False)
    assert found["dead share, G = 8", "ELP"].passes
    assert not found["dead share, G = 8", "bootstrap"].passes
