"""What the README shows is what the commands print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()
SHOWN = re.findall(r"```console\n\$ reweight ([^\n]*)\n(.*?)```", TEXT, flags=re.DOTALL)
PYTHON, PRINTED = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", TEXT, flags=re.DOTALL)[0]


def without_times(text: str) -> str:
    """Drop trailing spaces and the seconds that end a row of `reweight verify`."""
    return "\n".join(re.sub(r"(\s+[0-9]+\.[0-9])?\s*$", "", line) for line in text.strip().splitlines())


@pytest.mark.parametrize(("arguments", "output"), SHOWN, ids=[arguments for arguments, _ in SHOWN])
def test_commands_print_what_is_shown(reweight_process, arguments: str, output: str) -> None:
    assert without_times(reweight_process(arguments)) == without_times(output)


def test_the_python_example_prints_what_is_shown() -> None:
    done = subprocess.run([sys.executable, "-c", PYTHON], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == PRINTED.strip()


@pytest.fixture
def reweight_process():
    def call(arguments: str) -> str:
        command = [sys.executable, "-c", "from reweight.cli import main; main()", *shlex.split(arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=120)
        return done.stdout

    return call
