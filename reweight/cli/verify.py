"""`reweight verify`: which claims about GRPO are true, how that was shown, and where they stop."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reweight.cli import options

if TYPE_CHECKING:
    from proofs_check.registry import Entry
    from proofs_check.verdict import ClaimResult
    from reweight.forecasting.result import Forecast

__all__ = ["command"]

EXIT_DIFFERS = 1
SECONDS_BETWEEN_LINES = 60.0


def command(
    claims: Annotated[
        list[str] | None, typer.Argument(help="Claim ids, or paths of your own claim files (.py); all claims if none.")
    ] = None,
    topic: Annotated[str | None, typer.Option(help="Only the claims of this topic.")] = None,
    list_only: Annotated[bool, typer.Option("--list", help="List the claims and run nothing.")] = False,
    show: Annotated[
        str | None, typer.Option(help="Show one claim: statement, source, roads, mutants; run nothing.")
    ] = None,
    mutants: Annotated[bool, typer.Option(help="Run the same checks on the false siblings of each claim too.")] = True,
    require: Annotated[
        list[str] | None,
        typer.Option(help="A road that must run wherever a claim has it (may be repeated), or 'all'."),
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes at once; by default one a core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the table.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write a report (HTML, Markdown, JSON, figures) into this folder.")
    ] = None,
    forecast: Annotated[
        Path | None, typer.Option(help="Base rollouts whose forecast ends the report; by default the packaged example.")
    ] = None,
) -> None:
    """Check claims about GRPO: proved, verified, tested or refuted, each with its domain and its mutants."""
    from proofs_check.registry import select
    from reweight.errors import InputError
    from reweight.files import check_writable

    if show is not None:
        chosen = select([show])
        _print_declarations(chosen) if as_json else _print_documents(chosen)
        return
    entries = select(claims or (), topic)
    if list_only:
        _print_declarations(entries) if as_json else _print_list(entries)
        return
    required = _required(require or [])
    if forecast is not None and out is None:
        raise InputError("--forecast goes into the report: say with --out where to write that")
    last_section = None
    if out is not None:
        last_section = _forecast(forecast)
        check_writable(out)
    results = _run(entries, mutants, jobs)
    if as_json:
        options.print_json({"claims": [result.to_dict() for result in results]})
    else:
        _print_results(results)
    if out is not None and last_section is not None:
        from proofs_check.report import build_report

        options.write_report(build_report(results, last_section), str(out))
    problems = [problem for result in results for problem in result.problems(required)]
    for problem in problems:
        print(problem, file=sys.stderr if as_json else sys.stdout)
    if problems:
        raise typer.Exit(EXIT_DIFFERS)


def _required(names: Sequence[str]) -> frozenset[str]:
    from proofs_check.backends import BACKENDS
    from reweight.errors import InputError

    unknown = sorted(set(names) - {*BACKENDS, "all"})
    if unknown:
        raise InputError(f"there is no road {unknown[0]!r} to require; choose among {', '.join(BACKENDS)} or all")
    return frozenset(BACKENDS) if "all" in names else frozenset(names)


def _forecast(path: Path | None) -> Forecast:
    """Made before the claims are run, so that a file that cannot be used costs no time."""
    from reweight import rollouts
    from reweight.forecasting.forecast import forecast

    return forecast(rollouts.read(path or rollouts.example()))


def _run(entries: Sequence[Entry], mutants: bool, jobs: int | None) -> tuple[ClaimResult, ...]:
    from proofs_check.runner import count_pieces, run_claims

    with _progress(count_pieces(entries, mutants)) as advance:
        return run_claims(entries, mutants=mutants, jobs=jobs, on_piece=advance)


@contextmanager
def _progress(total: int) -> Iterator[Callable[[str], None]]:
    """A bar where stderr is a terminal, otherwise a line a minute."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("checking", total=total)
            yield lambda claim_id: bar.update(task, advance=1, description=f"checking {claim_id}")
        return
    state = {"done": 0, "said": time.monotonic()}

    def advance(claim_id: str) -> None:
        state["done"] += 1
        if time.monotonic() - state["said"] >= SECONDS_BETWEEN_LINES:
            state["said"] = time.monotonic()
            print(f"{state['done']} of {total} checks done, now in {claim_id}", file=sys.stderr)

    yield advance


def _print_declarations(entries: Sequence[Entry]) -> None:
    options.print_json({"claims": [_declaration(entry) for entry in entries]})


def _declaration(entry: Entry) -> dict[str, Any]:
    claim = entry.claim
    return {
        "id": claim.id,
        "topic": entry.topic,
        "title": claim.title,
        **{name.lower().replace(" ", "_"): text for name, text in claim.doc.fields.items()},
        "declared": claim.declared,
        "vacuous": bool(claim.vacuous),
        "roads": [{"name": road.name, "expected": road.expected} for road in claim.roads],
        "mutants": [mutant.name for mutant in claim.mutants],
        "file": str(entry.path),
    }


def _print_documents(entries: Sequence[Entry]) -> None:
    for entry in entries:
        claim = entry.claim
        print(f"{claim.id}  {claim.doc}")
        if claim.vacuous:
            print(f"VACUOUS: {claim.vacuous}")
        for road in claim.roads:
            part = "" if road.covers is None else f", reads only {', '.join(road.covers)}"
            print(f"Road: {road.name}, expected {road.expected or 'unknown to its author'}{part}")
        for mutant in claim.mutants:
            print(f"Mutant: {mutant.name}")
        print(f"File: {entry.path}\n")


def _print_list(entries: Sequence[Entry]) -> None:
    rows = [[e.claim.id, e.topic, e.claim.title, e.claim.declared or "undeclared"] for e in entries]
    options.print_table(["claim", "topic", "statement", "declared"], rows)


def _print_results(results: Sequence[ClaimResult]) -> None:
    columns = ["claim", "statement", "verdict", "roads", "mutants killed", "seconds"]
    rows = [
        [
            result.claim.id,
            result.claim.title,
            result.verdict + (" VACUOUS" if result.claim.vacuous else ""),
            ", ".join(road.name if road.ran else f"{road.name} (not run)" for road in result.roads),
            f"{result.killed}/{len(result.mutants)}" if result.mutants else "-",
            f"{result.seconds:.1f}",
        ]
        for result in results
    ]
    options.print_table(columns, rows)
    for result in results:
        if result.claim.vacuous:
            print(f"{result.claim.id} is vacuous in practice: {result.claim.vacuous}")
        if result.outcome.witness:
            print(
                f"{result.claim.id} smallest counterexample: {json.dumps(result.outcome.witness, ensure_ascii=False)}"
            )
    planted, killed = sum(len(result.mutants) for result in results), sum(result.killed for result in results)
    print(f"{len(results)} entries, {killed} of {planted} mutants told apart")
