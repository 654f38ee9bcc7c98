"""The figure shows the numbers of the forecast, and bounds look different from estimates."""

from __future__ import annotations

import pytest

from reweight.forecasting.forecast import forecast
from reweight.objectives.advantage import Advantage
from reweight.objectives.objective import Objective
from reweight.plots import forecast as panels
from reweight.rollouts import Counts


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    return Figure().subplots()


def result(n: list[int], c: list[int]):
    return forecast(Counts.of(n, c), Objective(Advantage(), 8), group_sizes=[2, 8, 16], discovery_groups=[1])


@pytest.mark.parametrize("panel", [panels.dead_share, panels.signal])
def test_estimates_are_points_and_bounds_are_hatched_boxes(axes, panel) -> None:
    shown = result([8] * 50, [8] * 30 + [3] * 20)
    table = shown.dead_share if panel is panels.dead_share else shown.signal
    assert panel(axes, table, 0.95)
    (points,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert points.get_xydata().tolist() == [[0, table[2].estimate], [1, table[8].estimate]]
    (box,) = axes.patches
    assert box.get_hatch()
    assert (box.get_y(), box.get_y() + box.get_height()) == pytest.approx((table[16].low, table[16].high))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "8", "16"]


def test_counts_are_bars_of_prompts(axes) -> None:
    panels.counts(axes, result([8] * 5, [8, 8, 3, 0, 8]).histogram)
    assert {(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in axes.patches} == {(0, 1), (3, 1), (8, 3)}


def test_counts_of_different_numbers_of_samples_are_shares(axes) -> None:
    artists = panels.counts(axes, result([8, 4, 4], [8, 4, 2]).histogram)
    assert sum(bar.get_height() for bar in artists) == 3
    assert axes.get_xlabel() == "share of correct samples"


def test_a_level_is_not_rounded_to_a_hundred_per_cent(axes) -> None:
    table = result([8] * 5, [8, 8, 3, 0, 8]).dead_share
    for level, text in ((0.95, "estimate, 95 % interval"), (0.999999999999, "estimate, 99.9999999999 % interval")):
        axes.clear()
        panels.dead_share(axes, table, level)
        assert text in axes.get_legend_handles_labels()[1]
