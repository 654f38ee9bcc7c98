"""One claim in a process of its own: ``python -m proofs_check.worker FILE ID``, driven by `proofs_check.runner`.

Reads one piece of work a line from standard input, ``statement road`` (statement -1 is the claim's own, 0.. its
mutants), and answers each with one line of JSON. A piece that hangs is ended by killing this process.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from proofs_check.backends import missing
from proofs_check.claim import Claim
from proofs_check.outcome import Outcome, not_run, unknown
from proofs_check.registry import load

__all__ = ["CLAIM_ITSELF", "check_piece", "main"]

CLAIM_ITSELF = -1


def check_piece(claim: Claim, statement: int, road: int) -> dict[str, Any]:
    """Run one road on the claim's statement or on that of a mutant.

    A road that raises has not decided anything: its outcome is `unknown`, with the error in words.
    """
    way = claim.roads[road]
    subject = claim.statement if statement == CLAIM_ITSELF else claim.mutants[statement].statement
    start = time.perf_counter()
    absent = missing(way.name)
    outcome = not_run(absent) if absent else _checked(way.check, subject)
    return {"outcome": outcome.to_dict(), "seconds": time.perf_counter() - start}


def _checked(check: Any, subject: Any) -> Outcome:
    try:
        outcome = check(subject)
    except Exception as error:  # noqa: BLE001 - a claim file may raise anything
        where = error.__traceback__
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        line = f", line {where.tb_lineno} of {where.tb_frame.f_code.co_filename}" if where else ""
        return unknown(f"the road raised {type(error).__name__}: {error}{line}")
    if not isinstance(outcome, Outcome):
        return unknown(f"the road returned {type(outcome).__name__} instead of an Outcome")
    return outcome


def main() -> None:
    """Answer pieces of work until standard input ends."""
    path, claim_id = sys.argv[1:]
    # Answers go to the descriptor that was standard output; whatever a library or a claim prints goes to stderr.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    claim = next(entry.claim for entry in load(Path(path)) if entry.claim.id == claim_id)
    for line in sys.stdin:
        statement, road = map(int, line.split())
        print(json.dumps(check_piece(claim, statement, road)), file=answers, flush=True)


if __name__ == "__main__":
    main()
