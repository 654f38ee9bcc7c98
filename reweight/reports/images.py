"""A matplotlib figure as PNG and SVG, the same bytes for the same figure."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Picture", "render"]

PNG_DOTS_PER_INCH = 300


@dataclass(frozen=True)
class Picture:
    """A rendered figure.

    Parameters
    ----------
    png, svg : bytes
        The two files.
    width, height : float
        Size in inches.
    """

    png: bytes
    svg: bytes
    width: float
    height: float

    @property
    def data_uri(self) -> str:
        """The SVG as an address that a page can hold."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode("ascii")


def render(figure: Figure) -> Picture:
    """Render a figure without dates, versions or random identifiers.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure, at the size at which it is meant to be read.

    Returns
    -------
    Picture
        PNG at 300 dots an inch, and SVG with its letters as outlines, so that it needs no font.
    """
    import matplotlib as mpl

    png, svg = io.BytesIO(), io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "reweight", "svg.fonttype": "path"}):
        figure.savefig(png, format="png", dpi=PNG_DOTS_PER_INCH, metadata={"Software": None})
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    width, height = figure.get_size_inches()
    return Picture(png.getvalue(), svg.getvalue(), float(width), float(height))
