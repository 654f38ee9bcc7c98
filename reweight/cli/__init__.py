"""The command line: one file a verb, each thin (parse, call, print)."""

from __future__ import annotations

import sys

__all__ = ["main"]

EXIT_DIFFERS = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 3
CTRL_C = 130
"""What typer returns for a KeyboardInterrupt inside a verb."""


def main() -> None:
    """Run the command line; the exit code is 0, 1 (a verdict differs), 2 (bad input) or 3 (interrupted)."""
    from typer.exceptions import Abort, Exit, TyperException

    from reweight.cli.app import app
    from reweight.errors import InputError

    try:
        code = app(standalone_mode=False)
    except Exit as stop:
        code = stop.exit_code
    except TyperException as error:
        print(f"reweight: {error.format_message()}", file=sys.stderr)
        code = EXIT_BAD_INPUT
    except InputError as error:
        print(f"reweight: {error}", file=sys.stderr)
        code = EXIT_BAD_INPUT
    except (KeyboardInterrupt, Abort):
        code = CTRL_C
    if code == CTRL_C:
        print(
            "reweight: interrupted; files that were written are complete, run the same command again", file=sys.stderr
        )
        code = EXIT_INTERRUPTED
    sys.exit(code or 0)
