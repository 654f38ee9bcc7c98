"""The whole figures: at column width no words collide, leave the page, or are too small to read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure as Canvas
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from reweight.errors import InputError
from reweight.plots.figures import FIGURES, make_figure
from reweight.plots.style import VENUES
from reweight.reports import Figure, Report, Section
from reweight.reports.images import render

NARROWEST = min(VENUES, key=lambda venue: VENUES[venue].column)


@pytest.fixture(scope="module", params=FIGURES)
def block(request: pytest.FixtureRequest) -> Figure:
    return make_figure(str(request.param), NARROWEST)


def words(canvas: Canvas) -> Iterator[tuple[Text, Bbox]]:
    """Every visible piece of text with the place that its ink takes, in pixels from the lower left corner."""
    canvas.draw_without_rendering()
    for text in canvas.findobj(Text):
        assert isinstance(text, Text)
        if text.get_visible() and text.get_text().strip():
            yield text, text.get_window_extent()


def test_words_stay_apart_and_on_the_page(block: Figure) -> None:
    drawn = list(words(block.figure))
    assert len(drawn) >= 8
    page = block.figure.bbox
    for text, box in drawn:
        inside = page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
        assert inside, text.get_text()
        assert float(text.get_fontsize()) >= 6, text.get_text()
    for (first, box), (second, other) in combinations(drawn, 2):
        assert not box.padded(-1).overlaps(other), (first.get_text(), second.get_text())


def test_a_caption_stands_for_the_title(block: Figure) -> None:
    assert all(not axes.get_title() for axes in block.figure.axes)
    assert block.figure.get_suptitle() == ""
    assert len(block.caption) > 100
    assert len(block.alt) > 100
    assert block.name in FIGURES
    assert block.figure.get_figwidth() == VENUES[NARROWEST].column


def test_letters_come_from_the_style_even_after_it(block: Figure) -> None:
    families = {text.get_fontname() for text, _ in words(block.figure)}
    assert families == {"STIXGeneral"}


def test_the_same_bytes_each_time_and_settings_put_back() -> None:
    before = dict(mpl.rcParams)
    first, second = (render(make_figure("tilt_gain").figure) for _ in range(2))
    assert first == second
    assert dict(mpl.rcParams) == before


def test_a_figure_is_a_block_of_a_report(block: Figure) -> None:
    assert [figure.name for figure in Report("T", [Section("S", [block])]).figures()] == [block.name]


def test_an_unknown_figure_is_refused() -> None:
    with pytest.raises(InputError, match="there is no figure 'pie'; choose one of weight_curve"):
        make_figure("pie")
