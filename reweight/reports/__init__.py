"""One report object, written as a web page, as Markdown and as JSON."""

from reweight.reports.blocks import Code, Figure, Formula, Section, Table, Text
from reweight.reports.cells import Badge, verdict_badge
from reweight.reports.report import Report

__all__ = ["Badge", "Code", "Figure", "Formula", "Report", "Section", "Table", "Text", "verdict_badge"]
