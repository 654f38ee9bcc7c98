"""Reading a trainer's configuration: JSON, YAML, an argument list or dotted overrides."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reweight.errors import InputError
from reweight.objectives.config import trl, verl
from reweight.objectives.config.fields import Fields
from reweight.objectives.objective import Objective

__all__ = ["TrainerConfig", "read_config"]

FRAMEWORKS = {str(module.NAME): module for module in (trl, verl)}
LARGEST_FILE = 5_000_000


@dataclass(frozen=True)
class TrainerConfig:
    """What a trainer's configuration says about its objective.

    Attributes
    ----------
    framework : str
    objective : Objective
    inner_epochs : int
        How often one batch is used.
    dead : tuple of (str, str)
        Keys that are set and have no effect, or another one than they seem to, with the reason.
    assumed : tuple of str
        What the objective takes differently from the trainer.
    left_out : tuple of str
        Options of the trainer that change its loss and have no counterpart here.
    unused : tuple of str
        Keys that are not about the objective.
    """

    framework: str
    objective: Objective
    inner_epochs: int
    dead: tuple[tuple[str, str], ...]
    assumed: tuple[str, ...]
    left_out: tuple[str, ...]
    unused: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.framework}, {self.inner_epochs} inner epoch(s)", str(self.objective)]
        lines += [f"no effect: {key}: {why}" for key, why in self.dead]
        lines += [f"assumed: {each}" for each in self.assumed]
        lines += [f"left out: {each}" for each in self.left_out]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "framework": self.framework,
            "objective": self.objective.to_dict(),
            "inner_epochs": self.inner_epochs,
            "dead": [{"key": key, "why": why} for key, why in self.dead],
            "assumed": list(self.assumed),
            "left_out": list(self.left_out),
            "unused": list(self.unused),
        }


def read_config(source: str | Path, framework: str | None = None) -> TrainerConfig:
    """Read a trainer's configuration into an Objective.

    Parameters
    ----------
    source : str or Path
        A Path to a file, or the text itself: JSON or YAML, an argument list such as ``--num_generations 8 --beta 0.1``,
        or overrides such as ``algorithm.adv_estimator=rloo``.
    framework : {"trl", "verl"}, optional
        Whose it is; recognised by its keys where it is not given.

    Raises
    ------
    InputError
        If the file cannot be read, the text is none of these, the framework is not clear, or a value has no
        counterpart.

    Examples
    --------
    >>> found = read_config("--num_generations 16 --beta 0.04 --loss_type grpo")
    >>> found.framework, found.objective.group_size, found.objective.kl.gradient
    ('trl', 16, 'ratio_weighted')
    """
    where = f"{source}: " if isinstance(source, Path) else ""
    fields = Fields(_parsed(_text(source), where))
    name = framework or _recognised(fields, where)
    if name not in FRAMEWORKS:
        raise InputError(f"{where}there is no reader for {name!r}: choose one of {', '.join(FRAMEWORKS)}")
    try:
        said = FRAMEWORKS[name].read(fields)
    except InputError as error:
        raise InputError(f"{where}{error}") from None
    return TrainerConfig(framework=name, unused=fields.unread(), **said)


def _text(source: str | Path) -> str:
    if isinstance(source, str):
        return source
    try:
        if source.stat().st_size > LARGEST_FILE:
            raise InputError(f"{source}: a configuration of more than {LARGEST_FILE:.0e} bytes is not read")
        return source.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{source}: {error.strerror or 'the file cannot be read'}") from None
    except UnicodeDecodeError:
        raise InputError(f"{source}: the file is no UTF-8 text") from None


def _parsed(text: str, where: str) -> Mapping[str, Any]:
    import yaml

    stripped = text.strip()
    if stripped.startswith("--") or (stripped and "=" in stripped.split()[0] and ":" not in stripped.split()[0]):
        return _arguments(stripped, where)
    try:
        found = json.loads(stripped) if stripped.startswith("{") else _yaml(stripped, where)
    except InputError:
        raise
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        place = getattr(error, "lineno", None) or getattr(getattr(error, "problem_mark", None), "line", None)
        raise InputError(f"{where}the text is no JSON or YAML{'' if place is None else f' (line {place})'}") from None
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        raise InputError(f"{where}there is no table of keys: give a GRPOConfig, a verl configuration, or arguments")
    return found


def _yaml(text: str, where: str) -> Any:
    """Read YAML without aliases, which can grow without limit."""
    import yaml

    if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
        raise InputError(f"{where}YAML aliases (*name) are not read: write the values out")
    return yaml.safe_load(text)


def _arguments(text: str, where: str) -> dict[str, Any]:
    """Read ``--key value``, ``--key=value`` and ``a.b=value``; a key without a value is true, several values a list."""
    try:
        words = shlex.split(text, comments=True)
    except ValueError as error:
        raise InputError(f"{where}the arguments cannot be split: {error}") from None
    table: dict[str, list[str]] = {}
    key = None
    for word in words:
        name, equals, value = word.partition("=")
        if word.startswith("--") or equals:
            key = name.lstrip("-+").replace("-", "_") if word.startswith("--") else name.lstrip("+")
            table[key] = [value] if equals else []
        elif key is None:
            raise InputError(f"{where}{word!r} stands before any key: give --key value")
        else:
            table[key].append(word)
    return {name: True if not row else row[0] if len(row) == 1 else row for name, row in table.items()}


def _recognised(fields: Fields, where: str) -> str:
    """Return the framework whose keys occur, as whole keys or as their first part."""
    firsts = {key.split(".")[0] for key in fields.values} | set(fields.values)
    fits = [name for name, module in FRAMEWORKS.items() if firsts & set(module.KEYS)]
    if len(fits) == 1:
        return fits[0]
    problem = "keys of several frameworks" if fits else "no key of a known framework"
    raise InputError(f"{where}there are {problem}: say which it is, {' or '.join(FRAMEWORKS)}")
