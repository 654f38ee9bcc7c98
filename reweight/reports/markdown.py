"""The report as Markdown, with its pictures in ``figures/`` beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reweight.reports.blocks import Block, Figure, Section, Table, Text
from reweight.reports.cells import Badge, Cell, cell_text

if TYPE_CHECKING:
    from reweight.reports.report import Report

__all__ = ["escape", "to_markdown"]


def to_markdown(report: Report) -> str:
    """The report as Markdown.

    Parameters
    ----------
    report : Report
        The report.

    Returns
    -------
    str
        Markdown in which only the report's own structure is active: text of cells and captions is escaped.
    """
    return "\n\n".join(_report(report)) + "\n"


def _report(report: Report) -> Iterator[str]:
    yield f"# {escape(report.title)}"
    if report.subtitle:
        yield escape(report.subtitle)
    if report.facts:
        yield "\n".join(f"- {escape(name)}: {_cell(value)}" for name, value in report.facts.items())
    for section in report.sections:
        yield from _section(section, level=2)


def _section(section: Section, level: int) -> Iterator[str]:
    yield f"{'#' * min(level, 6)} {escape(section.heading)}"
    for block in section.blocks:
        if isinstance(block, Section):
            yield from _section(block, level + 1)
        else:
            yield _block(block)


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return _author_text(block.text)
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figure):
        return f"![{escape(block.alt)}](figures/{block.name}.png)\n\n*{escape(block.caption)}*"
    if isinstance(block, Section):
        return "\n\n".join(_section(block, level=2))
    return _fence(block.text)


def _table(table: Table) -> str:
    rule = ["--:" if numeric else ":--" for numeric in table.numeric_columns()]
    lines = [[escape(column) for column in table.columns], rule]
    lines += [[_cell(cell) for cell in row] for row in table.rows]
    body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{body}\n\n*{escape(table.caption)}*" if table.caption else body


def _cell(cell: Cell) -> str:
    text = escape(cell_text(cell))
    return f"**{text}**" if isinstance(cell, Badge) else text


def escape(text: str) -> str:
    """Take away the meaning of every character that has one; a line break becomes a space."""
    escaped = re.sub(r"([\\`*_\[\]<>|~&$])", r"\\\1", " ".join(text.split()))
    return re.sub(r"^([-+#=]|\d+(?=[.)]))", _at_line_start, escaped)


def _at_line_start(match: re.Match[str]) -> str:
    """A number before a full stop would start a list, and a mark would start a heading or a list."""
    mark = match.group(1)
    return f"{mark}\\" if mark.isdigit() else f"\\{mark}"


def _author_text(text: str) -> str:
    """Keep emphasis, code and lists; HTML, links and images lose their meaning, as they do on the page."""
    parts = re.split(r"(`+[^`]*`+)", text.strip())
    return "".join(part if part.startswith("`") else re.sub(r"([<\[\]])", r"\\\1", part) for part in parts)


def _fence(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text.rstrip()}\n{fence}"
