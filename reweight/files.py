"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

__all__ = ["write_atomic"]


def write_atomic(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write a whole file or nothing.

    The content goes to a temporary file in the same folder, is flushed to the disk, and then takes the
    place of ``path`` in one step; a process killed at any moment leaves the old file, or none.

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
    temporary = target.parent / f".{uuid.uuid4().hex}.tmp"
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


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, on systems where a folder can be opened (not Windows)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
