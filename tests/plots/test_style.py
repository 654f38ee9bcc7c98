"""The style: put back after use, sized by venue, letters that journals take."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from reweight.errors import InputError
from reweight.plots import style


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2."""
    channels = np.array(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_settings_are_put_back() -> None:
    before = dict(mpl.rcParams)
    with style.use("acl") as venue:
        assert mpl.rcParams["pdf.fonttype"] == mpl.rcParams["ps.fonttype"] == 42
        assert mpl.rcParams["text.usetex"] is False
        assert mpl.rcParams["font.size"] == venue.letters == 8
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("venue", style.VENUES)
def test_figures_have_the_width_of_the_venue(venue: str) -> None:
    with style.use(venue) as size:
        narrow, axes = style.subplots(venue, columns=3, height=0.5)
        broad, _ = style.subplots(venue, wide=True)
    assert len(axes) == 3
    assert tuple(narrow.get_size_inches()) == pytest.approx((size.column, size.column / 2))
    assert broad.get_figwidth() == size.text


def test_an_unknown_venue_is_refused() -> None:
    with pytest.raises(InputError, match="no figure sizes for the venue 'nature'"), style.use("nature"):
        pass


def test_colours_can_be_read_on_white() -> None:
    for colour in (style.BLACK, style.BLUE, style.GREEN, style.RED, style.PURPLE, *style.shades(7)):
        assert 1.05 / (luminance(colour) + 0.05) >= 3, colour  # WCAG's least contrast of graphics


def test_shades_grow_lighter() -> None:
    values = [luminance(colour) for colour in style.shades(7)]
    assert values == sorted(values)
    assert len(set(values)) == 7
