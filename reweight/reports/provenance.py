"""What a report was made from and with: the command, the versions, the hashes of its inputs."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from reweight.errors import InputError
from reweight.terminal import line

__all__ = ["digest", "provenance"]

PACKAGES = ("grpo-reweight", "numpy", "scipy", "cvxpy")


def provenance(inputs: Iterable[str | os.PathLike[str]], command: Sequence[str] = ()) -> dict[str, str]:
    """Facts for the head of a report.

    Parameters
    ----------
    inputs : iterable of path
        Files, or folders of files, that were read; what came through a pipe has no hash.
    command : sequence of str
        The words of the command that makes the report again.

    Raises
    ------
    InputError
        If an input is not there any more.

    Examples
    --------
    >>> from reweight.rollouts import example
    >>> facts = provenance([example()], ["reweight", "forecast", "base rollouts.jsonl"])
    >>> facts["command"]
    "reweight forecast 'base rollouts.jsonl'"
    >>> len(facts[f"SHA-256 of {line(example())}"])
    64
    """
    facts = {"command": shlex.join(command)} if command else {}
    facts |= {f"SHA-256 of {line(path)}": digest(path) for path in inputs}
    return facts | {"versions": ", ".join([f"Python {platform.python_version()}", *_versions()])}


def digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file, or of the names and hashes of a folder's files; of a pipe, that it is one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "x").write_bytes(b"abc")
    ...     digest(Path(folder) / "x")[:16]
    'ba7816bf8f01cfea'
    """
    path = Path(path)
    try:
        if path.is_dir():
            names = sorted(entry.name for entry in path.iterdir() if entry.is_file())
            listing = "".join(f"{name}\0{digest(path / name)}\n" for name in names)
            return hashlib.sha256(listing.encode("utf-8", "surrogateescape")).hexdigest()
        if path.exists() and not path.is_file():
            return "none: it came through a pipe"
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{line(path)} cannot be read any more ({error.strerror}); run it again") from error


def _versions() -> Iterable[str]:
    for package in PACKAGES:
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:  # used from its source, without having been installed
            continue
