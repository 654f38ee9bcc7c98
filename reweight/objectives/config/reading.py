"""Reading a trainer's configuration: which framework it is of, and what it says about the objective."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reweight.errors import InputError
from reweight.objectives.config import trl, verl
from reweight.objectives.config.fields import Fields
from reweight.objectives.config.text import parsed, text_of
from reweight.objectives.objective import Objective
from reweight.terminal import line, listed, quoted

__all__ = ["TrainerConfig", "read_config"]

FRAMEWORKS = {str(module.NAME): module for module in (trl, verl)}
LISTED = 40


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
        Keys that were not read: about something else than the objective, misspelt, or of another version.
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
        if self.unused:
            lines.append(f"not read: {listed(self.unused, LISTED)}")
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
        If the file cannot be read, the text is none of these, a key is set twice, the framework is not clear, or a
        value has no counterpart.

    Examples
    --------
    >>> found = read_config("--num_generations 16 --beta 0.04 --loss_type grpo")
    >>> found.framework, found.objective.group_size, found.objective.kl.gradient
    ('trl', 16, 'ratio_weighted')
    """
    where = f"{line(source)}: " if isinstance(source, Path) else ""
    try:
        fields = Fields(parsed(text_of(source)))
        name = _recognised(fields) if framework is None else _known(framework)
        said = FRAMEWORKS[name].read(fields)
    except InputError as error:
        raise InputError(f"{where}{error}") from None
    return TrainerConfig(framework=name, unused=fields.unread(), **said)


def _known(framework: str) -> str:
    if framework not in FRAMEWORKS:
        raise InputError(f"there is no reader for {quoted(framework)}: choose one of {', '.join(FRAMEWORKS)}")
    return framework


def _recognised(fields: Fields) -> str:
    """Return the framework whose keys occur, as whole keys or as their first part."""
    firsts = {key.split(".")[0] for key in fields.values} | set(fields.values)
    fits = [name for name, module in FRAMEWORKS.items() if firsts & set(module.KEYS)]
    if len(fits) == 1:
        return fits[0]
    problem = "there are keys of several frameworks" if fits else "there is no key of a known framework"
    raise InputError(f"{problem}: say which it is, {' or '.join(FRAMEWORKS)}")
