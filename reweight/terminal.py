"""Text that came from outside, made safe for one line of a terminal or of an error message."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["line", "listed", "quoted"]

LINE = 400
QUOTE = 80
LISTED = 12


def line(text: object, most: int = LINE) -> str:
    r"""Text as one line: what a terminal would act on, or hide, is shown as its escape; a long text loses its middle.

    Escaped are control characters (line breaks, ESC), marks that change the direction of writing or have no width, lone
    surrogates, and spaces other than the plain one. All else, of any script, stays.

    Parameters
    ----------
    text : object
        Text, or what `str` makes text of, such as a path.
    most : int
        Largest number of characters of the result.

    Examples
    --------
    >>> print(line("a\nb\x1b[31m\u202ec"), line("x" * 100, 21))
    a\nb\x1b[31m\u202ec xxxxxxxx ... xxxxxxxx
    """
    found = str(text)
    if len(found) > most:
        found = f"{found[:most]}{found[-most:]}"  # enough of both ends: an escape is never shorter than its character
    shown = "".join(char if char.isprintable() else _escape(char) for char in found)
    if len(found) == len(str(text)) and len(shown) <= most:
        return shown
    half = (most - 5) // 2
    return f"{shown[:half]} ... {shown[-half:]}"


def quoted(value: object, most: int = QUOTE) -> str:
    """A value as Python writes it, on one line and cut in the middle where it is long.

    Examples
    --------
    >>> quoted("7"), quoted(7), quoted("x" * 10**6, 15)
    ("'7'", '7', "'xxxx ... xxxx'")
    """
    if isinstance(value, str) and len(value) > 2 * most:
        value = value[:most] + value[-most:]
    try:
        return line(repr(value), most)
    except ValueError:  # Python refuses to write whole numbers of more than some thousand digits
        return f"a {type(value).__name__} of thousands of digits"


def listed(names: Iterable[object], most: int = LISTED, joint: str = ", ") -> str:
    """Names with commas (or another joint) between them; of many only the first, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b"]), listed("abcde", most=2)
    ('a, b', 'a, b and 3 more')
    """
    given = list(names)
    shown = joint.join(line(name, QUOTE) for name in given[:most])
    return f"{shown} and {len(given) - most} more" if len(given) > most else shown


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
