"""The readers in the order in which they are asked; a new one is a file of this folder and a line here."""

from __future__ import annotations

import os
from importlib import import_module
from typing import cast

from reweight.errors import InputError
from reweight.rollouts.files import File
from reweight.rollouts.not_rollouts import what_else
from reweight.rollouts.reader import Options, Reader
from reweight.rollouts.sniffing import open_file
from reweight.rollouts.table import Rollouts
from reweight.terminal import listed, quoted

__all__ = ["formats", "read"]

READERS = (
    "trl_parquet",
    "verl_dump",
    "lm_eval_samples",
    "evalplus",
    "evalperf",
    "humaneval_results",
    "inspect_eval",
    "inspect_json",
    "lighteval_details",
    "question_json",
    "counts_jsonl",
    "rewards_jsonl",
    "counts_csv",
    "rewards_csv",
    "counts_parquet",
    "rewards_parquet",
)
PLAIN = 6
"""The last of them are tables of counts and of rewards."""


def formats() -> dict[str, str]:
    """Name of each format that can be read, with what such a file holds."""
    return {reader.NAME: reader.HOLDS for reader in _readers()}


def read(
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - the name that users expect
    *,
    threshold: float | None = None,
    merge: bool = False,
    reward: str | None = None,
    step: int | None = None,
    all_steps: bool = False,
    group_rows: int | None = None,
    filter: str | None = None,  # noqa: A002 - the harness's own name
    answer: str | None = None,
) -> Rollouts:
    """Read a file of rollouts.

    Parameters
    ----------
    path : path
        A file of counts or of rewards.
    format : str, optional
        Name of the reader (see `formats`); by default the first one that recognises the file.
    threshold : float, optional
        Rewards of at least this are correct.
    merge : bool
        Add rows that repeat a prompt instead of refusing them.
    reward : str, optional
        Name of the field or column with the reward that decides what is correct.
    step : int, optional
        Use the rows of this training step only.
    all_steps : bool
        Pool the rows of all training steps, as draws of a policy that never changed.
    group_rows : int, optional
        Rows of one group, where a file does not tell.
    filter : str, optional
        Use the samples that went through this filter of an evaluation harness.
    answer : str, optional
        Name of the field with the extracted answer.

    Returns
    -------
    Rollouts
        Every row of the file is in it, or counted in `left_out`.

    Raises
    ------
    InputError
        If the file cannot be read, is broken, or needs an option to be understood; or if an option does not apply.

    Examples
    --------
    >>> from reweight.rollouts import example
    >>> read(example()).counts().samples
    1600
    """
    options = Options(threshold, merge, reward, step, all_steps, group_rows, filter, answer)
    if format is not None and format not in formats():
        raise InputError(f"there is no format {quoted(format)}; choose one of {', '.join(formats())}")
    file = open_file(path)
    reader = _choose(file, format)
    options.check(reader.OPTIONS, file.name, reader.NAME)
    return reader.read(file, options)


def _readers() -> list[Reader]:
    return [cast(Reader, import_module(f"reweight.rollouts.{name}")) for name in READERS]


def _choose(file: File, name: str | None) -> Reader:
    for reader in _readers():
        if name == reader.NAME or (name is None and reader.recognises(file)):
            return reader
    if file.kind == "folder":
        raise InputError(f"{file.name} is a folder without files of a known format; give one file of it")
    other = what_else(file)
    if other is not None:
        raise InputError(f"{file.name} {other}")
    raise InputError(
        f"{file.name}: no known format has the fields {listed(file.fields)}; give each row id, n and c, or prompt_id "
        f"and reward, or a file of {', '.join(list(formats())[:-PLAIN])}"
    )
