"""Run claims in parallel processes; each road has a time limit, after which its outcome is `unknown`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import Any

from proofs_check.claim import Mutant, changed_fields
from proofs_check.outcome import Outcome, unknown
from proofs_check.registry import Entry
from proofs_check.verdict import ClaimResult, MutantResult, RoadResult
from proofs_check.worker import CLAIM_ITSELF

__all__ = ["count_pieces", "run_claims"]

STARTUP_SECONDS = 30.0
"""Added to the limit of a worker's first piece, which pays for the start of the process and its imports."""

Piece = tuple[int, int]


def _ignore(_: str) -> None:
    """No progress is wanted."""


def run_claims(
    entries: Sequence[Entry],
    *,
    mutants: bool = True,
    jobs: int | None = None,
    on_piece: Callable[[str], None] = _ignore,
) -> tuple[ClaimResult, ...]:
    """Check claims, one process a claim, so many at once as there are cores.

    Parameters
    ----------
    entries : sequence of Entry
        From `proofs_check.registry.select`.
    mutants : bool
        Run the same roads on every mutant too.
    jobs : int, optional
        Processes at once; by default the cores that this process may use.
    on_piece : callable
        Called with the claim's id after each road of each statement (from several threads).

    Returns
    -------
    tuple of ClaimResult
        In the order of `entries`.

    Raises
    ------
    KeyboardInterrupt
        Passed on after all worker processes have been ended.
    """
    with tempfile.TemporaryDirectory() as scratch:
        crew = _Crew(scratch, on_piece)
        with ThreadPoolExecutor(max_workers=jobs or _cores()) as pool:
            futures: dict[Future[ClaimResult], int] = {}
            try:
                # Claims with most pieces first, so that the last process to end is a short one.
                for place in sorted(range(len(entries)), key=lambda i: -len(_pieces(entries[i], mutants))):
                    futures[pool.submit(crew.check, entries[place], mutants)] = place
                results = {futures[future]: future.result() for future in as_completed(futures)}
            except BaseException:
                crew.stop()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
    return tuple(results[place] for place in range(len(entries)))


def count_pieces(entries: Sequence[Entry], mutants: bool) -> int:
    """How often `run_claims` will call `on_piece`."""
    return sum(len(_pieces(entry, mutants)) for entry in entries)


def _pieces(entry: Entry, mutants: bool) -> list[Piece]:
    statements = range(CLAIM_ITSELF, len(entry.claim.mutants) if mutants else 0)
    return [(statement, road) for statement in statements for road in range(len(entry.claim.roads))]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Crew:
    """The worker processes that are alive, so that all can be ended together."""

    def __init__(self, scratch: str, on_piece: Callable[[str], None]) -> None:
        # Solvers' own threads would fight with the other processes; hypothesis must not write into the user's folder.
        settings = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "HYPOTHESIS_STORAGE_DIRECTORY": scratch}
        self._environment = {**os.environ, **settings}
        self._on_piece = on_piece
        self._alive: set[subprocess.Popen[str]] = set()
        self._stopped = False
        self._lock = threading.Lock()

    def check(self, entry: Entry, mutants: bool) -> ClaimResult:
        """All roads of one claim, on its statement and, if asked, on its mutants."""
        found: dict[Piece, tuple[Outcome, float]] = {}
        todo = _pieces(entry, mutants)
        while todo:
            found.update(self._answers(entry, todo))
            todo = [piece for piece in todo if piece not in found]
        return _result(entry, found, mutants)

    def stop(self) -> None:
        """End every worker, and let none start any more."""
        with self._lock:
            self._stopped = True
            for process in self._alive:
                process.kill()

    def _answers(self, entry: Entry, todo: Sequence[Piece]) -> dict[Piece, tuple[Outcome, float]]:
        """What one worker process answers before it ends, or has to be ended because a piece takes too long."""
        found: dict[Piece, tuple[Outcome, float]] = {}
        process = self._start(entry)
        try:
            for piece in todo:
                limit = entry.claim.roads[piece[1]].limit
                answer = _ask(process, piece, limit if found else limit + STARTUP_SECONDS)
                if self._stopped:
                    raise KeyboardInterrupt
                found[piece] = answer or (unknown(_why_silent(process, limit)), limit)
                self._on_piece(entry.claim.id)
                if answer is None:
                    break
        finally:
            self._end(process)
        return found

    def _start(self, entry: Entry) -> subprocess.Popen[str]:
        command = [sys.executable, "-P", "-m", "proofs_check.worker", str(entry.path), entry.claim.id]
        with self._lock:
            if self._stopped:
                raise KeyboardInterrupt
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=self._environment,
                # Ctrl-C reaches this process alone, which then ends the workers.
                start_new_session=True,
            )
            self._alive.add(process)
            return process

    def _end(self, process: subprocess.Popen[str]) -> None:
        process.kill()
        process.communicate()
        with self._lock:
            self._alive.discard(process)


def _ask(process: subprocess.Popen[str], piece: Piece, limit: float) -> tuple[Outcome, float] | None:
    """The worker's answer to one piece, or None if it ended or had to be ended first."""
    assert process.stdin is not None
    assert process.stdout is not None
    alarm = threading.Timer(limit, process.kill)
    alarm.start()
    try:
        process.stdin.write(f"{piece[0]} {piece[1]}\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except BrokenPipeError:
        return None
    finally:
        alarm.cancel()
    if not line.endswith("\n"):
        return None
    answer: dict[str, Any] = json.loads(line)
    return Outcome.from_dict(answer["outcome"]), answer["seconds"]


def _why_silent(process: subprocess.Popen[str], limit: float) -> str:
    code = process.wait()
    return f"stopped after its limit of {limit:g} s" if code < 0 else f"the worker process ended with code {code}"


def _result(entry: Entry, found: dict[Piece, tuple[Outcome, float]], mutants: bool) -> ClaimResult:
    claim = entry.claim

    def roads(statement: int) -> tuple[RoadResult, ...]:
        answers = [(road, *found[statement, place]) for place, road in enumerate(claim.roads)]
        return tuple(RoadResult(road.name, outcome, road.expected, seconds) for road, outcome, seconds in answers)

    itself = ClaimResult(claim, entry.topic, roads(CLAIM_ITSELF), ())
    if not mutants:
        return itself
    refuted = (claim.declared or itself.outcome.kind) == "refuted"

    def judged(place: int, mutant: Mutant) -> MutantResult:
        changed = changed_fields(claim.statement, mutant.statement)
        blind = frozenset(road.name for road in claim.roads if road.is_blind_to(changed))
        return MutantResult(mutant.name, roads(place), blind, refuted)

    return replace(itself, mutants=tuple(judged(place, mutant) for place, mutant in enumerate(claim.mutants)))
