"""A forecast's files: the report as a page, as Markdown and as JSON with its figures, and the forecast itself."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from reweight.files import write_atomic
from reweight.forecasting.report import report
from reweight.forecasting.result import Forecast

__all__ = ["to_json", "write_files"]


def to_json(forecast: Forecast) -> str:
    """The forecast as JSON text; a number that is not finite would be an error of ours and raises ValueError."""
    return json.dumps(forecast.to_dict(), indent=2, allow_nan=False)


def write_files(forecast: Forecast, folder: str | os.PathLike[str], facts: Mapping[str, str]) -> tuple[Path, ...]:
    """Write forecast.json, report.md, report.json, the figures and index.html, each whole or not at all.

    Parameters
    ----------
    forecast : Forecast
    folder : path
    facts : mapping of str to str
        What stands at the head of the report (reweight.reports.provenance).

    Raises
    ------
    InputError
        If the folder cannot be made or written to.
    """
    written = report(forecast, facts).write(folder)
    document = Path(folder) / "forecast.json"
    write_atomic(document, to_json(forecast) + "\n")
    return (written["html"], written["markdown"], written["json"], document)
