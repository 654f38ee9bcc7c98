"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import uuid
from collections.abc import Mapping
from pathlib import Path

from reweight.errors import InputError
from reweight.terminal import line

__all__ = ["check_writable", "write_all", "write_atomic"]


def check_writable(folder: str | os.PathLike[str]) -> None:
    """Find out before a long computation whether its results can be written.

    Parameters
    ----------
    folder : str or path-like
        It is made if it is not there, and a temporary file in it is written and removed.

    Raises
    ------
    InputError
        If the folder cannot be made or written to.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_writable(Path(folder) / "new")
    ...     os.listdir(Path(folder) / "new")
    []
    """
    if not os.fspath(folder):
        raise InputError("the name of the folder is empty; name a folder that can be written to")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        temporary = _temporary(Path(folder))
        try:
            temporary.write_bytes(b"x")
        finally:
            temporary.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise _unwritable(folder, error) from error


def write_all(folder: str | os.PathLike[str], contents: Mapping[str, bytes | str]) -> dict[str, Path]:
    """Write several files into a folder, in order, each whole or not at all.

    Parameters
    ----------
    folder : str or path-like
        It is made if it is not there.
    contents : mapping of str to bytes or str
        What to write, by the file's path below the folder.

    Returns
    -------
    dict of str to Path
        The paths that were written, by the same names.

    Raises
    ------
    InputError
        If the folder cannot be made or written to; the files written before stay.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorted(write_all(folder, {"a.txt": "1", "below/b.txt": b"2"}))
    ['a.txt', 'below/b.txt']
    """
    try:
        return {name: write_atomic(Path(folder) / name, content) for name, content in contents.items()}
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: str | os.PathLike[str], error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or error
    return InputError(f"{line(folder)} cannot be written to ({reason}); choose another folder")


def write_atomic(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write a whole file or nothing.

    The content goes to a temporary file in the same folder, is flushed to the disk, and then takes the
    place of ``path`` in one step; a process killed at any moment leaves the old file, or none. What killed
    processes of this machine left of their temporary files in the folder is removed.

    Parameters
    ----------
    path : str or path-like
        The file to write. Its folder is made if it is not there.
    content : bytes or str
        What to write; text is encoded as UTF-8, line ends unchanged.

    Returns
    -------
    Path
        The path that was written.

    Raises
    ------
    OSError
        If the folder cannot be made or written to; no temporary file is left behind.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomic(Path(folder) / "new" / "share.txt", "1/3").read_text()
    '1/3'
    """
    target = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    target.parent.mkdir(parents=True, exist_ok=True)
    _clear_stale(target.parent)
    temporary = _temporary(target.parent)
    try:
        with open(temporary, "xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)
    return target


def _temporary(folder: Path) -> Path:
    """A new name that tells where its writer runs and as which process."""
    return folder / f".{_place()}-{os.getpid()}-{uuid.uuid4().hex}.tmp"


def _place() -> str:
    """The machine and, on Linux, the container, within which a process id means one process."""
    try:
        container = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        container = ""
    return f"reweight-{hashlib.sha256(f'{platform.node()} {container}'.encode()).hexdigest()[:12]}"


def _clear_stale(folder: Path) -> None:
    """Remove temporary files whose writer is gone; one that runs, here or on another machine, keeps its own."""
    if os.name == "nt":  # there, asking for a process by signal 0 would end it
        return
    ours = re.compile(rf"\.{_place()}-([0-9]{{1,9}})-[0-9a-f]{{32}}\.tmp")
    for path in folder.iterdir():
        found = ours.fullmatch(path.name)
        if found and not _runs(int(found[1])):
            path.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # as another user
    return True


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, on systems where a folder can be opened (not Windows)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
