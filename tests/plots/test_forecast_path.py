"""Figures of the path and of a calibration: they hold the numbers that were given, and say what each line is."""

from __future__ import annotations

import numpy as np

from reweight.plots import style
from reweight.plots.calibration import calibration
from reweight.plots.forecast_path import dead_share_path, pass_rate_path

TAUS = np.array([0.0, 0.5, 1.0])
LOW, HIGH = np.array([0.2, 0.3, 0.4]), np.array([0.3, 0.5, 0.7])


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_path_shows_bounds_limits_leash_and_envelope_with_a_name_each() -> None:
    with style.use():
        figure, (axes,) = style.subplots()
        artists = pass_rate_path(
            axes,
            TAUS,
            LOW,
            HIGH,
            compatible=(LOW + HIGH) / 2,
            policy_gradient=(LOW, LOW + 0.05),
            ceilings={"speed limit": HIGH + 0.1},
            leash={0.01: 0.35, 0.1: 0.6},
        )
        figure.canvas.draw()
    assert len(texts(axes)) == 5
    assert len(set(texts(axes))) == 5
    assert [text.get_text() for text in axes.texts] == ["0.01 nats", "0.1 nats"]
    heights = [line.get_ydata()[0] for line in axes.lines if len(set(line.get_ydata())) == 1]
    assert heights == [0.35, 0.6]
    assert axes.get_xlabel().endswith("not steps)")
    outline = artists[0].get_paths()[0].vertices
    assert {*LOW, *HIGH} <= set(outline[:, 1].round(12))


def test_path_without_extras_has_the_bounds_alone() -> None:
    with style.use():
        _, (left, right) = style.subplots(columns=2)
        pass_rate_path(left, TAUS, LOW, HIGH)
        dead_share_path(right, TAUS, LOW, HIGH, 8)
    assert len(texts(left)) == len(texts(right)) == 1
    assert "8" in right.get_ylabel()


def test_calibration_marks_the_windows_that_left_the_interval() -> None:
    steps, expected = np.arange(4.0), np.full(4, 0.5)
    with style.use():
        _, (axes,) = style.subplots()
        calibration(
            axes,
            steps,
            [0.5, 0.55, 0.9, 0.1],
            expected,
            expected - 0.1,
            expected + 0.1,
            name="dead share",
            verdict="model refuted",
            fitted_until=1.0,
        )
        axes.legend()
    outside = next(line for line in axes.lines if line.get_label() == "log, outside")
    assert outside.get_xdata().tolist() == [2.0, 3.0]
    assert axes.get_title(loc="right") == "model refuted"
    assert "fitted to" in texts(axes)
