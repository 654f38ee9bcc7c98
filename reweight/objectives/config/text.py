"""From a configuration's text to its table of keys: JSON, YAML, an argument list or dotted overrides."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from stat import S_ISREG
from typing import Any

from reweight.errors import InputError
from reweight.terminal import quoted

__all__ = ["parsed", "text_of", "unique"]

LARGEST_FILE = 5_000_000
CONSTRUCTION_ERRORS = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)
"""What PyYAML lets through from the values that it makes, such as a time stamp without digits."""


def text_of(source: str | Path) -> str:
    """Return the text itself, or that of a file.

    Raises
    ------
    InputError
        If the path is that of no plain file, or the file is too large or no UTF-8 text.
    """
    if isinstance(source, str):
        return source
    try:
        if not S_ISREG(source.stat().st_mode):  # opening a pipe would wait for whoever writes into it
            raise InputError("this is no plain file: save the configuration in one")
        with source.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise InputError(f"a configuration of more than {LARGEST_FILE / 1e6:g} MB is not read: leave out the rest")
        return data.decode("utf-8")
    except OSError as error:
        raise InputError(error.strerror or "the file cannot be read") from None
    except UnicodeDecodeError:
        raise InputError("the file is no UTF-8 text") from None


def parsed(text: str) -> Mapping[str, Any]:
    """Return the table of keys of a text, nested as it is there.

    Raises
    ------
    InputError
        If the text is no such table, or sets a key twice.
    """
    stripped = text.strip()
    if stripped.startswith("--") or (stripped and "=" in stripped.split()[0] and ":" not in stripped.split()[0]):
        return _arguments(stripped)
    found = _json(stripped) if stripped.startswith("{") else _yaml(stripped)
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        raise InputError("there is no table of keys: give a GRPOConfig, a verl configuration, or arguments")
    return found


def unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return a table of pairs; a key that is there twice is refused, since one of its values would be lost."""
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise InputError(f"{quoted(key)} is set twice: set it once")
        table[key] = value
    return table


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=unique)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise _neither(getattr(error, "lineno", None)) from None


def _yaml(text: str) -> Any:
    import yaml

    try:
        _refuse_aliases(text)
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        _refuse_repeated_keys(node)
        return None if node is None else loader.construct_document(node)
    except InputError:
        raise
    except (yaml.YAMLError, *CONSTRUCTION_ERRORS) as error:
        mark = getattr(error, "problem_mark", None)
        raise _neither(None if mark is None else mark.line + 1) from None


def _refuse_aliases(text: str) -> None:
    """Refuse YAML aliases: a few lines of them stand for a value of any size."""
    import yaml

    if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
        raise InputError("YAML aliases (*name) are not read: write the values out")


def _refuse_repeated_keys(node: Any) -> None:
    """Refuse a YAML node in which, at any depth, a mapping has a key twice."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        unique((key.value, None) for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        children = [value for _, value in node.value]
    else:
        children = node.value if isinstance(node, yaml.SequenceNode) else []
    for child in children:
        _refuse_repeated_keys(child)


def _neither(line: int | None) -> InputError:
    place = "" if line is None else f" (line {line})"
    return InputError(f"the text is no JSON or YAML{place}: mend it, or give arguments such as --num_generations 8")


def _arguments(text: str) -> dict[str, Any]:
    """Read ``--key value``, ``--key=value`` and ``a.b=value``; a key without a value is true, several values a list."""
    try:
        words = shlex.split(text, comments=True)
    except ValueError as error:
        raise InputError(f"the arguments cannot be split: {error}") from None
    rows: list[tuple[str, list[str]]] = []
    for word in words:
        name, equals, value = word.partition("=")
        if word.startswith("--") or equals:
            key = name.lstrip("-+").replace("-", "_") if word.startswith("--") else name.lstrip("+")
            rows.append((key, [value] if equals else []))
        elif not rows:
            raise InputError(f"{quoted(word)} stands before any key: give --key value")
        else:
            rows[-1][1].append(word)
    return unique((key, True if not row else row[0] if len(row) == 1 else row) for key, row in rows)
