"""How many threads the compiled loops of one measurement use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numba import get_num_threads, set_num_threads

__all__ = ["threads"]


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Use `count` threads inside the block."""
    before = get_num_threads()
    set_num_threads(count)
    try:
        yield
    finally:
        set_num_threads(before)
