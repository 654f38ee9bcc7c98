"""The parts of a report: text, tables, figures, code, formulas, and sections of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reweight.errors import InputError
from reweight.reports.cells import Cell, is_number

if TYPE_CHECKING:
    import matplotlib.figure

__all__ = ["Block", "Code", "Figure", "Formula", "Section", "Table", "Text"]


@dataclass(frozen=True)
class Text:
    """Paragraphs, parted by blank lines, with ``**bold**``, ``*emphasis*``, `` `code` `` and lists.

    HTML, links and images have no meaning here and are shown as they were typed. Text that came from a
    file belongs in a table, in code or among the facts, where stars and backticks have no meaning either.

    Parameters
    ----------
    text : str
        The paragraphs.
    """

    text: str


@dataclass(frozen=True)
class Table:
    """A table; a column of numbers is set flush right.

    Parameters
    ----------
    columns : sequence of str
        The headings.
    rows : sequence of sequences
        The cells: text, numbers, fractions, a `Badge`, or None for what is not known.
    caption : str
        One sentence that says what is shown.

    Raises
    ------
    InputError
        If a row has not one cell for each column.

    Examples
    --------
    >>> Table(["G", "gap"], [[2, 1.0], [3, 2**0.5]], "Gap at even odds").rows[0]
    (2, 1.0)
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "rows", tuple(tuple(row) for row in self.rows))
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.columns):
                raise InputError(
                    f"row {number} of the table {self.caption!r} has {len(row)} cells where its heading has "
                    f"{len(self.columns)}; give one cell a column"
                )

    def numeric_columns(self) -> list[bool]:
        """Which columns hold numbers alone, and so are set flush right.

        Returns
        -------
        list of bool
            One for each column; a cell of None does not count.
        """
        columns = range(len(self.columns))
        return [all(row[column] is None or is_number(row[column]) for row in self.rows) for column in columns]


@dataclass(frozen=True)
class Figure:
    """A picture.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The picture, without a title: the caption has that office.
    name : str
        File name without ending: lower-case letters, digits, ``-`` and ``_``; once in a report.
    caption : str
        What is shown and what to see in it.
    alt : str
        The same for a reader who cannot see it.

    Raises
    ------
    InputError
        If the name could not be a file name.
    """

    figure: matplotlib.figure.Figure
    name: str
    caption: str
    alt: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", self.name):
            raise InputError(
                f"the figure name {self.name!r} cannot name a file; use lower-case letters, digits, '-' and '_'"
            )


@dataclass(frozen=True)
class Code:
    """Text set as it is: a file, a command, a printed table.

    Parameters
    ----------
    text : str
        The lines.
    """

    text: str


@dataclass(frozen=True)
class Formula:
    """A displayed formula in plain Unicode, one line a line.

    Parameters
    ----------
    text : str
        The lines, such as ``"p* = Q e^(1/β) / (1 − Q + Q e^(1/β))"``.
    """

    text: str


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it; a section among its blocks is a subsection.

    Parameters
    ----------
    heading : str
        The heading, also its entry in the table of contents.
    blocks : sequence of blocks
        Text, tables, figures, code, formulas and subsections, in order.

    Raises
    ------
    InputError
        If the heading is empty.

    Examples
    --------
    >>> Section("Results", [Text("None yet.")]).blocks
    (Text(text='None yet.'),)
    """

    heading: str
    blocks: Sequence[Block]

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(self.blocks))
        if not self.heading.strip():
            raise InputError("a section of a report has an empty heading; give it one")


Block = Text | Table | Figure | Code | Formula | Section
