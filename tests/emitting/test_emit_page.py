"""The commands of docs/emit.md run, and its tables name what is there."""

import json
import re
import shlex
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from reweight import cli
from reweight.emitting.emit import FORMATS
from reweight.emitting.worlds import WORLDS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "emit.md").read_text(encoding="utf-8")
COMMANDS = re.search(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_commands_run(tmp_path, monkeypatch, capsys):
    assert COMMANDS is not None
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS[1].splitlines():
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as stop:
            cli.main()
        assert not stop.value.code, capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"tilted", "evaluated", "sampled"}


def test_the_tables_name_what_is_there():
    named = set(re.findall(r"`([a-z_-]+)`", PAGE))
    schema = json.loads((files("reweight.emitting") / "truth.schema.json").read_text())
    for names in (FORMATS, WORLDS, schema["properties"]):
        assert set(names) <= named
