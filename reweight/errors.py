"""The one exception that a user's input can raise."""

from __future__ import annotations

__all__ = ["InputError"]


class InputError(ValueError):
    """The input is wrong: one sentence that says what, where, and how to mend it.

    Every public function of the package raises it for bad input; the command line prints its text and exits with 2.
    """
