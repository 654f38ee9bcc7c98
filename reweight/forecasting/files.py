"""A forecast's files: JSON, Markdown and the figure."""

from __future__ import annotations

import json
import os
from io import BytesIO
from pathlib import Path

from reweight.files import write_all
from reweight.forecasting.result import Forecast

__all__ = ["to_json", "write_files"]


def to_json(forecast: Forecast) -> str:
    """The forecast as JSON text; a number that is not finite would be an error of ours and raises ValueError."""
    return json.dumps(forecast.to_dict(), indent=2, allow_nan=False)


def write_files(forecast: Forecast, folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write forecast.json, forecast.md, forecast.png and forecast.svg, each whole or not at all.

    Raises
    ------
    InputError
        If the folder cannot be made or written to.
    """
    contents: dict[str, bytes | str] = {
        "forecast.json": to_json(forecast) + "\n",
        "forecast.md": forecast.to_markdown(),
        **_figure(forecast),
    }
    return tuple(write_all(folder, contents).values())


def _figure(forecast: Forecast) -> dict[str, bytes]:
    from reweight.plots import forecast as panels
    from reweight.plots import style

    with style.use():
        figure, (left, middle, right) = style.subplots(columns=3, height=0.38, wide=True)
        panels.dead_share(left, forecast.dead_share, forecast.level)
        panels.signal(middle, forecast.signal, forecast.level)
        panels.counts(right, forecast.histogram)
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower left", ncols=2)
        images = {}
        for kind in ("png", "svg"):
            buffer = BytesIO()
            figure.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else None)
            images[f"forecast.{kind}"] = buffer.getvalue()
    return images
