"""What a verb does when nobody reads, nothing can be written, or somebody presses Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CALL = [sys.executable, "-c", "from reweight.cli import main; main()"]
WEIGHTS = [*CALL, "weights", "-p", "0.1"]


def test_a_closed_pipe_is_not_a_verdict() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(WEIGHTS, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_under_standard_output() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(WEIGHTS, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "standard output cannot be written to" in done.stderr


def test_an_error_never_goes_to_standard_output() -> None:
    command = ["bash", "-c", '"$@" 2>&-', "bash", *CALL, "weights", "-p", "2"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")


def test_without_a_verb_there_is_help() -> None:
    done = subprocess.run(CALL, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "forecast" in done.stdout
    assert done.stderr == ""


def test_an_out_that_cannot_be_written_is_found_before_the_work(reweight, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    for arguments in (["weights", "-p", "0.5"], ["simulate", "-p", "0.5", "--steps", "3"], ["verify", "C04"]):
        answer = reweight(*arguments, "--out", tmp_path / "file" / "below")
        assert (answer.code, answer.out) == (2, "")
        assert answer.err.count("\n") == 1


# A shell that runs the tests in the background has its children ignore Ctrl-C.
HEEDING = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
INTERRUPTIBLE = [*CALL[:-1], HEEDING + CALL[-1]]


@pytest.mark.kill
@pytest.mark.parametrize("delay", [0.3, 0.6, 1.0, 1.5])
def test_ctrl_c_ends_with_3_and_one_line(tmp_path, delay) -> None:
    command = [*INTERRUPTIBLE, "simulate", "-p", "0.1", "--steps", "200000", "--out", str(tmp_path / "out")]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        time.sleep(delay)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=30)
    finally:
        running.kill()
    assert running.returncode == 3
    assert err.count("\n") == 1
    assert list((tmp_path / "out").iterdir() if (tmp_path / "out").exists() else []) == []
