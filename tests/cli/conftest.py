"""The command line, called in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from reweight import cli


class Answer(NamedTuple):
    """What a command left: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


@pytest.fixture
def reweight(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Call `reweight` with arguments and return its answer."""

    def call(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["reweight", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        return Answer(int(stop.value.code or 0), *capsys.readouterr())

    return call
