"""A folder with one file a training step."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from reweight.errors import InputError
from reweight.rollouts.files import File
from reweight.rollouts.reader import Options
from reweight.rollouts.sniffing import open_file
from reweight.terminal import listed

__all__ = ["files_of_steps"]


def files_of_steps(folder: File, before: str, after: str, options: Options) -> list[File]:
    """The files of the steps that are wanted, in the order of steps, each named under the folder's name.

    Raises
    ------
    InputError
        If there are several steps and none was chosen, or the chosen one is not there.
    """
    pattern = re.compile(re.escape(before) + r"([0-9]+)" + re.escape(after))
    found = {int(match[1]): name for name in folder.fields if (match := pattern.fullmatch(name))}
    steps = sorted(found)
    if options.step is not None and options.step not in found:
        raise InputError(f"{folder.name}: there is no file of step {options.step}; choose one of {listed(steps)}")
    if options.step is None and not options.all_steps and len(steps) > 1:
        raise InputError(
            f"{folder.name}: the files come from {len(steps)} training steps, which are different policies; choose one "
            f"with --step, for example --step {steps[0]}, or pool them with --all-steps where the policy never changed"
        )
    wanted = steps if options.step is None else [options.step]
    files = [open_file(Path(folder.path) / found[step]) for step in wanted]
    return [replace(file, source=str(Path(folder.source) / Path(file.source).name)) for file in files]
