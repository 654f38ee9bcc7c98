"""write_atomic leaves a whole file or the old one, whatever happens in between."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from reweight.files import write_atomic


def test_writes_bytes_and_text_unchanged(tmp_path: Path) -> None:
    assert write_atomic(tmp_path / "a" / "b.bin", b"\x00\r\n\xff") == tmp_path / "a" / "b.bin"
    write_atomic(tmp_path / "text", "é\r\nβ")
    assert (tmp_path / "a" / "b.bin").read_bytes() == b"\x00\r\n\xff"
    assert (tmp_path / "text").read_bytes() == "é\r\nβ".encode()


def test_overwrites_and_leaves_nothing_else(tmp_path: Path) -> None:
    write_atomic(tmp_path / "x", "a long first version")
    write_atomic(tmp_path / "x", "second")
    assert (tmp_path / "x").read_text() == "second"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_permissions_are_those_of_a_plain_open(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_atomic(tmp_path / "atomic", "")
    assert (tmp_path / "atomic").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_failure_keeps_the_old_file_and_no_litter(
    fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_atomic(tmp_path / "x", "old")

    def refuse(*_: object) -> None:
        raise OSError("disk is gone")

    monkeypatch.setattr(os, fails, refuse)
    with pytest.raises(OSError, match="disk is gone"):
        write_atomic(tmp_path / "x", "new")
    assert (tmp_path / "x").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_kill_at_any_call_leaves_old_or_new(tmp_path: Path) -> None:
    """A process that dies by SIGKILL before, between or after the system calls never leaves half a file."""
    script = textwrap.dedent("""
        import os, signal, sys
        from reweight.files import write_atomic
        name = sys.argv[2]
        real = getattr(os, name)
        def dying(*arguments):
            if sys.argv[3] == "after":
                real(*arguments)
            os.kill(os.getpid(), signal.SIGKILL)
        setattr(os, name, dying)
        write_atomic(sys.argv[1], "new" * 100_000)
    """)
    for call, moment, expected in (
        ("fsync", "before", "old"),
        ("fsync", "after", "old"),
        ("replace", "before", "old"),
        ("replace", "after", "new" * 100_000),
    ):
        target = write_atomic(tmp_path / "x", "old")
        done = subprocess.run([sys.executable, "-c", script, str(target), call, moment], check=False)
        assert done.returncode == -9
        assert target.read_text() == expected
