"""What all tests share: hypothesis profiles, and one line for the tests that a missing PyTorch leaves out."""

from __future__ import annotations

import os
from importlib.util import find_spec

import hypothesis
import pytest

hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") == "true" else "default")

LEFT_OUT = pytest.StashKey[int]()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests marked `torch` where PyTorch is missing (after -m has taken its choice)."""
    if find_spec("torch") is not None:
        return
    without = [item for item in items if item.get_closest_marker("torch") is None]
    left_out = [item for item in items if item.get_closest_marker("torch") is not None]
    config.stash[LEFT_OUT] = len(left_out)
    config.hook.pytest_deselected(items=left_out)
    items[:] = without


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say in one line how many tests were left out for want of PyTorch."""
    if count := config.stash.get(LEFT_OUT, 0):
        terminalreporter.line(f"PyTorch is not installed, tests left out: {count} (TORCH=1 make test runs them)")
