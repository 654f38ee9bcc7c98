"""The report object and where its files go."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reweight.errors import InputError
from reweight.files import write_all
from reweight.reports.blocks import Block, Figure, Section, Table
from reweight.reports.cells import Cell, cell_json, cell_text

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """A report that is written as a web page, as Markdown and as JSON.

    Parameters
    ----------
    title : str
        The title.
    sections : sequence of Section
        The content in order.
    subtitle : str
        One sentence under the title.
    facts : mapping of str to cell
        What was run, on what, with which version: a short list under the title.

    Raises
    ------
    InputError
        If two figures have one name.

    Examples
    --------
    >>> import tempfile
    >>> from reweight.reports import Section, Text
    >>> report = Report("Gap", [Section("Result", [Text("It is **bounded**.")])], facts={"group size": 8})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorted(path.name for path in report.write(folder).values())
    ['index.html', 'report.json', 'report.md']
    """

    title: str
    sections: Sequence[Section]
    subtitle: str = ""
    facts: Mapping[str, Cell] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sections", tuple(self.sections))
        object.__setattr__(self, "facts", dict(self.facts))
        names = [figure.name for figure in self.figures()]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise InputError(f"two figures of the report are called {repeated[0]!r}; give each its own name")

    def __str__(self) -> str:
        lines = [self.title, *([self.subtitle] if self.subtitle else [])]
        lines += [f"  {name}: {cell_text(value)}" for name, value in self.facts.items()]
        return "\n".join(lines + [f"- {section.heading}" for section in self.sections])

    def figures(self) -> Iterator[Figure]:
        """All figures, in order.

        Yields
        ------
        Figure
            Those of subsections too.
        """
        for section in self.sections:
            yield from _figures(section)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON values.

        Returns
        -------
        dict
            Tables with numbers at full precision; a figure is its caption and the paths of its two files.
        """
        return {
            "title": self.title,
            "subtitle": self.subtitle,
            "facts": {name: cell_json(value) for name, value in self.facts.items()},
            "sections": [_block_json(section) for section in self.sections],
        }

    def write(self, directory: str | os.PathLike[str]) -> dict[str, Path]:
        """Write ``index.html``, ``report.md``, ``report.json`` and ``figures/``.

        The page holds its pictures and needs neither network nor scripts. The same report gives the same
        bytes. Each file is written whole or not at all, the page last.

        Parameters
        ----------
        directory : str or path-like
            The folder, made if it is not there; files of an earlier report in it are replaced.

        Returns
        -------
        dict of str to Path
            Keys ``html``, ``markdown``, ``json``, and the file name of each picture.

        Raises
        ------
        InputError
            If the folder cannot be made or written to.
        """
        from reweight.reports.html import to_html
        from reweight.reports.images import render
        from reweight.reports.markdown import to_markdown

        pictures = {figure.name: render(figure.figure) for figure in self.figures()}
        files: dict[str, tuple[str, str | bytes]] = {}
        for name, picture in pictures.items():
            files[f"{name}.png"] = f"figures/{name}.png", picture.png
            files[f"{name}.svg"] = f"figures/{name}.svg", picture.svg
        files["markdown"] = "report.md", to_markdown(self)
        files["json"] = "report.json", json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        files["html"] = "index.html", to_html(self, pictures)
        written = write_all(directory, {name: _encode(content) for name, content in files.values()})
        return {key: written[name] for key, (name, _) in files.items()}


def _encode(content: str | bytes) -> bytes:
    """UTF-8; a name that is not UTF-8 on its file system arrives as lone surrogates and is shown escaped."""
    return content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content


def _figures(section: Section) -> Iterator[Figure]:
    for block in section.blocks:
        if isinstance(block, Section):
            yield from _figures(block)
        elif isinstance(block, Figure):
            yield block


def _block_json(block: Block) -> dict[str, Any]:
    kind = type(block).__name__.lower()
    if isinstance(block, Section):
        return {"kind": kind, "heading": block.heading, "blocks": [_block_json(inner) for inner in block.blocks]}
    if isinstance(block, Table):
        rows = [[cell_json(cell) for cell in row] for row in block.rows]
        return {"kind": kind, "caption": block.caption, "columns": list(block.columns), "rows": rows}
    if isinstance(block, Figure):
        files = {ending: f"figures/{block.name}.{ending}" for ending in ("png", "svg")}
        return {"kind": kind, "name": block.name, "caption": block.caption, "alt": block.alt, "files": files}
    return {"kind": kind, "text": block.text}
