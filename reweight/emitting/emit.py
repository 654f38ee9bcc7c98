"""Write the files of a run whose cause is known, with the truth beside them, as a whole folder or not at all."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from reweight.checks import choice, integer
from reweight.dynamics.spec import RunSpec
from reweight.emitting import counts, trl, verl
from reweight.emitting.batches import Run, follow
from reweight.emitting.truth import truth_of
from reweight.emitting.worlds import World
from reweight.errors import InputError
from reweight.files import check_writable, write_atomic
from reweight.terminal import line

__all__ = ["FORMATS", "TRUTH", "Emission", "emit"]

FORMATS = {"trl": trl, "verl": verl, "counts": counts}
TRUTH = "truth.json"


@dataclass(frozen=True, eq=False)
class Emission:
    """A folder that was written.

    Attributes
    ----------
    folder : Path
    run : Run
        What happened.
    truth : dict
        What is in truth.json.
    """

    folder: Path
    run: Run
    truth: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The truth, as it is written."""
        return self.truth

    def __str__(self) -> str:
        files, policies = self.truth["files"], self.truth["policies"]
        rows = [f"{line(self.folder)}: {self.truth['format']}, {len(files)} files of rollouts and {TRUTH}"]
        rows.append(f"{len(self.run.names)} prompts x {self.run.samples} rollouts a file")
        rows += [
            f"after {each['updates']} updates: pass rate {each['pass_rate']:.6g}, dead share {each['dead_share']:.6g}, "
            f"signal {each['signal']:.6g}"
            for each in (policies[0], policies[-1])
        ]
        return "\n".join(rows)


def emit(
    spec: RunSpec,
    format_name: str,
    folder: str | os.PathLike[str],
    *,
    samples: int | None = None,
    scores: tuple[float, float] | None = None,
    world: World | None = None,
) -> Emission:
    """Run a spec and write what its trainer, or an evaluation, would have written.

    Parameters
    ----------
    spec : RunSpec
        The run: rewards 0 and 1, one inner epoch.
    format_name : {"trl", "verl", "counts"}
        TRL 1.16's completions and log history; verl 0.9.1's dumps and metrics; or counts before and after the run.
    folder : path
        New or empty.
    samples : int, optional
        Rollouts of each prompt in a file; the groups of one step by default. Of TRL and verl whole groups.
    scores : (float, float), optional
        Of verl: what wrong and right are called, (-1, 1) by default, or (0, 1).
    world : World, optional
        What the prompts were drawn from, for the truth.

    Raises
    ------
    InputError
        If the folder is not empty or cannot be written to, or the files could not tell what the run does.

    Notes
    -----
    The folder is filled under another name beside it and renamed, with truth.json written last.

    Examples
    --------
    >>> import tempfile
    >>> from reweight.dynamics.spec import spec_from_tables
    >>> spec = spec_from_tables({
    ...     "problem": [{"rewards": [1, 0], "probabilities": [0.25, 0.75]}],
    ...     "update": {"step": 0.1}, "run": {"steps": 2},
    ... })
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     emission = emit(spec, "verl", Path(folder) / "run")
    ...     sorted(str(path.relative_to(emission.folder)) for path in emission.folder.rglob("*.json*"))
    ['metrics.jsonl', 'rollouts/1.jsonl', 'rollouts/2.jsonl', 'truth.json']
    """
    choice(format_name, "the format", tuple(FORMATS))
    if scores is not None and format_name != "verl":
        raise InputError(f"scores are about verl's files: leave them out for {format_name}")
    _check_empty(folder)
    run = _followed(spec, format_name, samples)
    module = FORMATS[format_name]
    truth = truth_of(run, module.sources(run), format_name, world)
    files = module.files(run) if scores is None else verl.files(run, scores)
    last = (TRUTH, json.dumps(truth, allow_nan=False, indent=1).encode() + b"\n")
    _write(Path(folder), chain(files, [last]))
    return Emission(Path(folder), run, truth)


def _check_empty(folder: str | os.PathLike[str]) -> None:
    path = Path(folder)
    if path.exists() and not (path.is_dir() and next(path.iterdir(), None) is None):
        raise InputError(f"{line(folder)} is not an empty folder; name a new one")
    if path.resolve() == Path.cwd():
        raise InputError("the run would take the place of the folder that you are in; name a new one below it")
    check_writable(path.resolve().parent)


def _followed(spec: RunSpec, format_name: str, samples: int | None) -> Run:
    """The run with as many rollouts of a prompt as a file shall hold."""
    if samples is None or format_name == "counts":
        run = follow(spec)
        return run if samples is None else replace(run, samples=integer(samples, "samples", at_least=1))
    size = spec.objective.group_size
    if integer(samples, "samples", at_least=1) % size:
        raise InputError(f"{samples} samples of a prompt are no whole groups of {size}: give a multiple of {size}")
    return follow(spec, samples // size)


def _write(folder: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Fill a folder of another name, and give it its own in one step."""
    target = folder.resolve()
    stage = target.with_name(f".{target.name}-{uuid.uuid4().hex}.tmp")
    try:
        for path, content in files:
            write_atomic(stage / path, content)
        if target.exists():
            target.rmdir()  # it is empty; systems differ in whether a folder may be renamed onto one
        stage.rename(target)
    except OSError as error:
        raise InputError(f"{line(folder)} cannot be written to ({error.strerror}); choose another folder") from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)
