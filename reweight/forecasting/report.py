"""The report of a forecast: what was read, each part with its tables, pictures and assumptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reweight.forecasting.table import Table as Cells

if TYPE_CHECKING:
    from reweight.forecasting.quantity import Quantity
    from reweight.forecasting.result import Forecast
    from reweight.reports import Figure, Report, Section, Table

__all__ = ["report", "sections"]


HEADINGS = {
    "plan": "The plan for a budget",
    "spread": "Signal and its variance",
    "stuck": "Prompts that will not move",
    "noise": "A verifier that errs",
    "path": "The path under TILT",
    "policy_gradient": "The envelope of policy gradients",
    "calibration": "The trainer's log",
    "design": "A design for narrower intervals",
    "target": "Which base mass reaches a target",
    "control": "Negative control",
}
"""By the key of a part in the JSON."""


def report(found: Forecast, facts: Mapping[str, str]) -> Report:
    """The whole report; `facts` stand at its head (reweight.reports.provenance)."""
    from reweight.reports import Report
    from reweight.terminal import line

    return Report(
        "Forecast from base rollouts",
        sections(found),
        subtitle="What the base model's own samples say about a run, before it is started.",
        facts={"file": line(found.source), "format": found.format, "level": str(found.level), **facts},
    )


def sections(found: Forecast) -> list[Section]:
    """One section on what was read, one on groups and samples, one a part."""
    from reweight.reports import Code, Section

    return [
        Section("What was read", [Code("\n".join(found.summary()))]),
        Section("Groups and samples", [_panels(found), *map(_table, found.core_tables()), _notes(found.notes)]),
        *(
            Section(HEADINGS[name], [*_pictures(name, found), *map(_table, part.tables()), _notes(part.notes)])
            for name, part in found.parts.items()
        ),
    ]


def _pictures(name: str, found: Forecast) -> list[Figure]:
    """The figure of a part that is looked at rather than read."""
    if name == "path":
        return [_path(found.parts[name], found.parts.get("policy_gradient"))]
    return _calibration(found.parts[name]) if name == "calibration" else []


def _path(path: Any, envelope: Any) -> Figure:
    from reweight.plots import style
    from reweight.plots.forecast_path import dead_share_path, pass_rate_path
    from reweight.reports import Figure

    ceilings = {"speed limit of tilts": path.fisher_rao, "largest steps of policy gradients": path.log_odds}
    with style.use():
        figure, (left, right) = style.subplots(columns=2, height=0.6, wide=True)
        pass_rate_path(
            left,
            path.taus,
            *_ends(path.pass_rate),
            compatible=path.compatible.get("pass_rate"),
            policy_gradient=None if envelope is None else _ends(envelope.pass_rate),
            ceilings={name: [cap.high for cap in caps] for name, caps in ceilings.items() if caps is not None},
            leash={budget: cap.high for budget, cap in path.leash.items()},
        )
        dead_share_path(
            right,
            path.taus,
            *_ends(path.dead_share),
            path.group_size,
            compatible=path.compatible.get("dead_share"),
        )
        figure.draw_without_rendering()
    caption = (
        "Mean pass rate and share of dead groups by tilt time, the sum of the step sizes that a prompt has had: bounds "
        "over all distributions of pass rates that explain the counts, the envelope of policy gradients, and what no "
        "run passes."
    )
    words = "Two panels of bands that start at the estimates and open with tilt time, with limits as dashed lines."
    return Figure(figure, "path", caption, words)


def _ends(numbers: Sequence[Quantity]) -> tuple[list[float], list[float]]:
    return [number.low for number in numbers], [number.high for number in numbers]


def _calibration(part: Any) -> list[Figure]:
    from reweight.plots import style
    from reweight.plots.calibration import calibration
    from reweight.reports import Figure

    figures = []
    for name in part.errors:
        rows = [each for each in (*part.shapes, *part.speeds) if each.name == name]
        with style.use():
            figure, (axes,) = style.stack(1)
            calibration(
                axes,
                [each.steps[-1] for each in rows],
                [each.seen for each in rows],
                [each.expected for each in rows],
                [each.interval[0] for each in rows],
                [each.interval[1] for each in rows],
                name=name,
                verdict=part.speed_verdict if name == "reward mean" else part.shape_verdict,
                level=part.level,
            )
            figure.draw_without_rendering()
        caption = f"The log's {name} in windows of steps, and what the model expects with its interval."
        words = "Dots of the log by step, with the band that the model expects."
        figures.append(Figure(figure, f"calibration-{name.replace(' ', '-')}", caption, words))
    return figures


def _table(cells: Cells) -> Table:
    from reweight.reports import Table

    return Table(cells.header, cells.rows, cells.title)


def _notes(notes: tuple[str, ...]) -> Table:
    from reweight.reports import Table

    return Table(["assumption or limit"], [[note] for note in notes], "What to know before relying on the numbers")


def _panels(found: Forecast) -> Figure:
    from reweight.plots import forecast as panels
    from reweight.plots import style
    from reweight.reports import Figure

    with style.use():
        figure, (left, middle, right) = style.subplots(columns=3, height=0.38, wide=True)
        panels.dead_share(left, found.dead_share, found.level)
        panels.signal(middle, found.signal, found.level)
        panels.counts(right, found.histogram)
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower left", ncols=2)
        figure.draw_without_rendering()
    caption = "Share of groups without any advantage and signal per rollout by group size, and the counts in the file."
    words = "Three panels: dead-group share and signal by group size, and a histogram."
    return Figure(figure, "forecast", caption, words)
