"""The one style of all figures: sizes by venue, fonts that journals take, colours that all readers can tell apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from reweight.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["BLACK", "BLUE", "GREEN", "GREY", "ORANGE", "PURPLE", "RED", "VENUES", "Venue", "shades", "subplots", "use"]

# Okabe and Ito's colours: told apart with every common colour vision, and in grey by their lightness.
BLACK, GREY = "#1a1a1a", "#8c8c8c"
BLUE, ORANGE, GREEN, RED, PURPLE = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#a6507e"


class Venue(NamedTuple):
    """Widths in inches and letter height in points."""

    column: float
    text: float
    letters: float


VENUES: dict[str, Venue] = {
    "aaai": Venue(3.3, 7.0, 8),
    "acl": Venue(3.03, 6.3, 8),
    "iclr": Venue(5.5, 5.5, 8),
    "icml": Venue(3.25, 6.75, 8),
    "jmlr": Venue(6.0, 6.0, 9),
    "neurips": Venue(5.5, 5.5, 8),
}


@contextmanager
def use(venue: str = "icml") -> Iterator[Venue]:
    """Draw in the style of this package while the context lasts; matplotlib's settings are put back after it.

    Parameters
    ----------
    venue : str
        One of `VENUES`: it decides the size of figures and letters.

    Yields
    ------
    Venue
        Widths in inches, letter height in points.

    Raises
    ------
    InputError
        If the venue is not known.

    Examples
    --------
    >>> with use("neurips") as venue:
    ...     venue.column
    5.5
    """
    from matplotlib import style

    size = _venue(venue)
    with style.context(_settings(size)):
        yield size


def subplots(
    venue: str = "icml", *, columns: int = 1, height: float = 0.72, wide: bool = False
) -> tuple[Figure, Sequence[Axes]]:
    """Make a figure with a row of axes, at the width of a venue; it belongs to no global list of figures.

    Parameters
    ----------
    venue : str
        One of `VENUES`.
    columns : int
        Number of axes.
    height : float
        Height of the figure as a share of its width.
    wide : bool
        Take the width of the text, not of a column.

    Returns
    -------
    figure, axes
        The figure, and a sequence of its axes from left to right.

    Examples
    --------
    >>> with use():
    ...     figure, axes = subplots(columns=2)
    >>> len(axes), float(figure.get_figwidth())
    (2, 3.25)
    """
    from matplotlib.figure import Figure

    size = _venue(venue)
    width = size.text if wide else size.column
    figure = Figure(figsize=(width, width * height))
    return figure, list(figure.subplots(1, columns, squeeze=False)[0])


def stack(rows: int, venue: str = "icml", *, height: float = 0.72) -> tuple[Figure, Sequence[Axes]]:
    """Make a figure of axes below each other at the width of a venue, laid out so that legends outside fit.

    Parameters
    ----------
    rows : int
        Number of axes.
    venue : str
        One of `VENUES`.
    height : float
        Height of each as a share of the width.

    Examples
    --------
    >>> with use():
    ...     figure, axes = stack(2)
    >>> len(axes), round(float(figure.get_figheight() / figure.get_figwidth()), 2)
    (2, 1.44)
    """
    from matplotlib.figure import Figure

    width = _venue(venue).column
    figure = Figure(figsize=(width, width * height * rows), layout="constrained")
    return figure, list(figure.subplots(rows, 1, squeeze=False)[:, 0])


def shades(number: int) -> list[str]:
    """Colours for an ordered family, dark to light, none too pale for a white page.

    Parameters
    ----------
    number : int
        How many.

    Returns
    -------
    list of str
        Colours in hexadecimal, from a map whose lightness rises evenly.

    Examples
    --------
    >>> shades(2)
    ['#00224e', '#948e77']
    """
    import numpy as np
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["cividis"](position)) for position in np.linspace(0.0, 0.6, number)]


def _venue(name: str) -> Venue:
    if name not in VENUES:
        raise InputError(f"no figure sizes for the venue {name!r}; choose one of {', '.join(sorted(VENUES))}")
    return VENUES[name]


def _settings(size: Venue) -> dict[str, Any]:
    """STIX comes with matplotlib, so a figure looks the same on a machine without fonts."""
    small = size.letters - 1
    return {
        "axes.axisbelow": True,
        "axes.labelsize": size.letters,
        "axes.linewidth": 0.6,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlesize": size.letters,
        "figure.constrained_layout.use": True,
        "figure.dpi": 200,
        "font.family": "STIXGeneral",
        "font.size": size.letters,
        "hatch.linewidth": 0.4,
        "legend.fontsize": small,
        "legend.frameon": False,
        "lines.linewidth": 1.2,
        "lines.markersize": 3.0,
        "mathtext.fontset": "stix",
        "pdf.fonttype": 42,
        "ps.fonttype": 42,
        "svg.hashsalt": "reweight",
        "text.usetex": False,
        "xtick.labelsize": small,
        "xtick.major.width": 0.6,
        "xtick.minor.width": 0.4,
        "ytick.labelsize": small,
        "ytick.major.width": 0.6,
        "ytick.minor.width": 0.4,
    }
