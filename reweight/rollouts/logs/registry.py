"""The readers of logs in the order in which they are asked; a new one is a file of this folder and a line here."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Protocol, cast

from reweight.errors import InputError
from reweight.rollouts.files import File
from reweight.rollouts.logs.log import LogOptions, TrainerLog
from reweight.rollouts.sniffing import open_file
from reweight.terminal import listed, quoted

__all__ = ["log_formats", "read_log"]

READERS = ("trl_history", "verl_metrics", "curves_csv")


class LogReader(Protocol):
    """The contract of a module in READERS."""

    NAME: str
    HOLDS: str

    def recognises(self, file: File) -> bool:
        """Whether the beginning of the file looks like this format."""

    def read(self, file: File, options: LogOptions) -> TrainerLog:
        """The whole file as a log."""


def log_formats() -> dict[str, str]:
    """Name of each kind of log that can be read, with what such a file holds."""
    return {reader.NAME: reader.HOLDS for reader in _readers()}


def read_log(
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - the name that users expect
    *,
    reward: str | None = None,
    values: tuple[float, float] = (0.0, 1.0),
) -> TrainerLog:
    r"""Read the log of a trainer.

    Parameters
    ----------
    path : path
    format : str, optional
        Name of the reader (see `log_formats`); by default the first one that recognises the file.
    reward : str, optional
        Name of the column whose mean says how many samples were correct.
    values : (float, float)
        Reward of a wrong and of a correct sample, such as (-1, 1).

    Raises
    ------
    InputError
        If the file cannot be read, is broken, or is no log.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "curves.csv"
    ...     _ = path.write_text("step,reward_mean,frac_all_correct,frac_all_wrong\n1,0.5,0.25,0.25\n2,0.75,0.5,0\n")
    ...     log = read_log(path)
    >>> log.format, log.pass_rate.tolist(), log.all_wrong.tolist()
    ('curves-csv', [0.5, 0.75], [0.25, 0.0])
    """
    if format is not None and format not in log_formats():
        raise InputError(f"there is no format {quoted(format)}; choose one of {', '.join(log_formats())}")
    file = open_file(path)
    for reader in _readers():
        if format == reader.NAME or (format is None and reader.recognises(file)):
            return reader.read(file, LogOptions(reward, values))
    known = "; ".join(f"{name}: {holds}" for name, holds in log_formats().items())
    raise InputError(f"{file.name}: no known log has the fields {listed(file.fields)}; known are {known}")


def _readers() -> list[LogReader]:
    return [cast(LogReader, import_module(f"reweight.rollouts.logs.{name}")) for name in READERS]
