"""The command line: one file a verb, each thin (parse, call, print)."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]

EXIT_DIFFERS = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 3
EXIT_BROKEN_PIPE = 141
CTRL_C = 130
"""What typer returns for a KeyboardInterrupt inside a verb."""


def main() -> None:
    """Run the command line.

    The exit code is 0, 1 (a verdict differs), 2 (bad input), 3 (interrupted), or 141 (nobody reads the output).
    """
    try:
        code = _run()
    except KeyboardInterrupt:
        code = CTRL_C
    if code == CTRL_C:
        _say("interrupted; files that were written are complete, run the same command again")
        code = EXIT_INTERRUPTED
    sys.exit(_flushed(code))


def _run() -> int:
    from typer.exceptions import Abort, Exit, TyperException

    from reweight.cli.app import app
    from reweight.errors import InputError

    try:
        return app(standalone_mode=False) or 0
    except Exit as stop:
        return stop.exit_code
    except Abort:
        return CTRL_C
    except TyperException as error:
        return _refused(error.format_message())
    except InputError as error:
        return _refused(str(error))
    except OSError as error:
        return _unwritable(error)
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # typer ends with 1, which has another meaning here
            return EXIT_BROKEN_PIPE
        raise


def _refused(message: str) -> int:
    """Say why; without a message the help was shown, which is no error."""
    if message:
        _say(message)
    return EXIT_BAD_INPUT if message else 0


def _say(message: str) -> None:
    """Print one line to standard error, if there is one."""
    from reweight.terminal import line

    if sys.stderr is not None:
        try:
            print(line(f"reweight: {message}", most=1000), file=sys.stderr, flush=True)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _flushed(code: int) -> int:
    """Return the exit code, changed if the output could not be written out."""
    if sys.stdout is None:
        return code
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more at its end
        return _unwritable(error)
    return code


def _unwritable(error: OSError) -> int:
    if isinstance(error, BrokenPipeError):
        return EXIT_BROKEN_PIPE
    place = error.filename or "standard output"
    return _refused(f"{place} cannot be written to or read ({error.strerror}): choose another place")
