"""write_atomic leaves a whole file or the old one, whatever happens in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from reweight import files
from reweight.errors import InputError
from reweight.files import check_writable, write_atomic


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


def left_by_a_killed_writer(folder: Path) -> Path:
    """Kill a process in the middle of writing; the temporary file it leaves."""
    script = "import os, sys\nfrom reweight.files import write_atomic\n"
    script += "os.fsync = lambda _: os.kill(os.getpid(), 9)\nwrite_atomic(sys.argv[1], 'half')"
    before = set(folder.iterdir())
    done = subprocess.run([sys.executable, "-c", script, str(folder / "x")], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = set(folder.iterdir()) - before
    return left


def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path) -> None:
    left = left_by_a_killed_writer(tmp_path)
    assert left.name.endswith(".tmp")
    write_atomic(tmp_path / "y", "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["y"]


def test_files_of_a_running_writer_of_another_machine_and_of_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = files._temporary(tmp_path)
    running.write_text("being written")
    theirs = tmp_path / ".editor.tmp"
    theirs.write_text("not ours")
    left = left_by_a_killed_writer(tmp_path)
    monkeypatch.setattr(files, "_place", lambda: "reweight-elsewhere")
    write_atomic(tmp_path / "y", "whole")
    assert {path.name for path in tmp_path.iterdir()} == {running.name, theirs.name, left.name, "y"}


def test_two_writers_at_once_leave_one_of_both_whole(tmp_path: Path) -> None:
    script = "import sys\nfrom reweight.files import write_atomic\n"
    script += "for _ in range(100): write_atomic(sys.argv[1], sys.argv[2] * 10_000)"
    writers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "x"), letter]) for letter in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert (tmp_path / "x").read_text() in ("a" * 10_000, "b" * 10_000)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_folder_that_can_be_written_to_is_made_and_left_empty(tmp_path: Path) -> None:
    check_writable(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


@pytest.mark.parametrize("name", ["", "file", "file/below", "a\0b", "x" * 300, "\ud800\n"])
def test_a_folder_that_cannot_be_written_to_is_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    with pytest.raises(InputError) as caught:
        check_writable(name)
    assert str(caught.value).isascii()
    assert "\n" not in str(caught.value)


def test_a_folder_without_permission_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(self: Path, data: bytes) -> int:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "write_bytes", denied)
    with pytest.raises(InputError, match=r"cannot be written to \(Permission denied\); choose another folder"):
        check_writable(tmp_path)
