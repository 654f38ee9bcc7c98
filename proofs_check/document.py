"""The docstring of a claim file: its fixed form, read and enforced."""

from __future__ import annotations

from dataclasses import dataclass

from reweight.errors import InputError

__all__ = ["FIELDS", "Document", "parse"]

FIELDS = ("Statement", "Map", "Hypotheses", "Verdict and domain", "Source", "Why it matters")


@dataclass(frozen=True)
class Document:
    """What a claim says of itself.

    Attributes
    ----------
    title : str
        The first line.
    fields : dict
        The six entries of `FIELDS`, in that order, each one paragraph.
    """

    title: str
    fields: dict[str, str]

    def __str__(self) -> str:
        return "\n".join([self.title, "", *(f"{name}: {text}" for name, text in self.fields.items())])


def parse(docstring: str | None) -> Document:
    r"""Read the docstring of a claim file.

    Parameters
    ----------
    docstring : str or None
        A title line, a blank line, then ``Name: text`` for each name of `FIELDS`; a text may run over several lines.

    Raises
    ------
    InputError
        If a field is missing, empty, out of order or written twice.

    Examples
    --------
    >>> body = "\n".join(f"{name}: something" for name in FIELDS)
    >>> parse(f"A title.\n\n{body}").fields["Source"]
    'something'
    """
    lines = [line.strip() for line in (docstring or "").strip().splitlines()]
    if not lines:
        raise InputError(f"a claim file needs a docstring with a title and the fields {', '.join(FIELDS)}")
    entries: list[tuple[str, list[str]]] = []
    for line in lines[1:]:
        name, colon, text = line.partition(":")
        if colon and name in FIELDS:
            entries.append((name, [text.strip()]))
        elif entries:
            entries[-1][1].append(line)
        elif line:
            raise InputError(f"the docstring of claim {lines[0]!r} has text before its field {FIELDS[0]}: {line!r}")
    fields = {name: " ".join(part for part in texts if part) for name, texts in entries}
    if tuple(name for name, _ in entries) != FIELDS or not all(fields.values()):
        raise InputError(
            f"the docstring of claim {lines[0]!r} must have the fields {', '.join(FIELDS)}, once each, in this order"
        )
    return Document(lines[0], fields)
