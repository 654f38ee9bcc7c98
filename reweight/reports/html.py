"""The report as one web page that holds everything it shows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING

from reweight.reports.blocks import Section
from reweight.reports.cells import Badge, cell_text

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

    from reweight.reports.images import Picture
    from reweight.reports.report import Report

__all__ = ["to_html"]


def to_html(report: Report, pictures: Mapping[str, Picture]) -> str:
    """The report as a page without scripts, links to other hosts, or files beside it.

    Parameters
    ----------
    report : Report
        The report.
    pictures : mapping of str to Picture
        The rendered figures by name.

    Returns
    -------
    str
        The page. All text is escaped; the page's own policy forbids it to load anything.
    """
    environment = _environment()
    style = _read_template("style.css")
    page = environment.get_template("index.html.j2")
    return page.render(report=report, pictures=pictures, anchors=_anchors(report), style=style)


def _environment() -> jinja2.Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("reweight.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "address": id,
        "cell": cell_text,
        "kind": lambda block: type(block).__name__,
        "paragraphs": _paragraphs,
    }
    environment.tests |= {
        "badge": lambda cell: isinstance(cell, Badge),
        "subsection": lambda block: isinstance(block, Section),
    }
    return environment


def _read_template(name: str) -> Markup:
    from importlib.resources import files

    from markupsafe import Markup

    return Markup((files("reweight.reports") / "templates" / name).read_text(encoding="utf-8"))


def _paragraphs(text: str) -> Markup:
    """Markdown's emphasis, code and lists; its HTML, links and images stay off, so nothing can be smuggled in."""
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    parser = MarkdownIt("zero", {"html": False}).enable(["emphasis", "backticks", "escape", "list"])
    return Markup(parser.render(text))


def _anchors(report: Report) -> dict[int, str]:
    """A readable address within the page for each section, by identity, since two may have one heading."""
    anchors: dict[int, str] = {}
    taken: set[str] = set()

    def visit(section: Section) -> None:
        plain = unicodedata.normalize("NFKD", section.heading).lower()
        stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "section"
        anchor, count = stem, 1
        while anchor in taken:
            count += 1
            anchor = f"{stem}-{count}"
        taken.add(anchor)
        anchors[id(section)] = anchor
        for block in section.blocks:
            if isinstance(block, Section):
                visit(block)

    for section in report.sections:
        visit(section)
    return anchors
