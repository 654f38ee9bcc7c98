"""The worlds whose truth is known, and what coverage is accepted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reweight.emitting.worlds import WORLDS, World


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest) -> World:
    """Each world in turn."""
    return WORLDS[request.param]


@pytest.fixture
def worlds() -> dict[str, World]:
    return WORLDS


@pytest.fixture
def acceptable() -> Callable[[int, int, float], bool]:
    """Whether the one-sided 99.9 % upper limit of the coverage includes the level."""
    from scipy.special import bdtr

    return lambda covered, repeats, level: bool(bdtr(covered, repeats, level) >= 0.001)
