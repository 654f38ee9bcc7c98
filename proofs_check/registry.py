"""The claims that exist: found by walking proofs_check/claims/<topic>/, or loaded from a user's own file."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from proofs_check.claim import Claim
from reweight.errors import InputError

__all__ = ["Entry", "discover", "load", "select"]

FOLDER = Path(__file__).parent / "claims"
OWN_TOPIC = "own"


@dataclass(frozen=True)
class Entry:
    """A claim with the file that declares it and its topic (the file's folder; "own" for a user's file)."""

    claim: Claim
    path: Path
    topic: str


def load(path: Path) -> tuple[Entry, ...]:
    """The claim that a file declares, and one refuted claim for each hypothesis it can drop.

    The file is Python and is executed: load only files that you trust.

    Raises
    ------
    InputError
        If the file is missing, does not run, or declares no `CLAIM`.
    """
    path = path.resolve()
    module = _execute(path)
    claim = getattr(module, "CLAIM", None)
    if not isinstance(claim, Claim):
        raise InputError(f"{path} must define CLAIM = Claim(...); docs/claim_template.py is one to copy")
    topic = path.parent.name if path.parent.parent == FOLDER else OWN_TOPIC
    return tuple(Entry(each, path, topic) for each in (claim, *claim.dropped()))


def discover(folder: Path = FOLDER) -> tuple[Entry, ...]:
    """All packaged claims, by id.

    Raises
    ------
    InputError
        If two files declare the same id.
    """
    return _unique(entry for path in sorted(folder.glob("*/c[0-9]*_*.py")) for entry in load(path))


def select(wanted: Iterable[str] = (), topic: str | None = None) -> tuple[Entry, ...]:
    """The claims of these ids and files, or all packaged ones; of one topic if that is given.

    Parameters
    ----------
    wanted : iterable of str
        Ids (without regard to case) and paths of claim files (anything that ends in .py). An id selects its dropped
        hypotheses too. Empty means all packaged claims.
    topic : str, optional
        A folder name of proofs_check/claims.

    Raises
    ------
    InputError
        For an unknown id or topic, an unusable file, or an id that two files declare.
    """
    wanted = list(wanted)
    packaged = discover()
    topics = sorted({entry.topic for entry in packaged})
    if topic is not None and topic not in topics:
        raise InputError(f"there is no topic {topic!r}; the topics are {', '.join(topics)}")
    chosen: list[Entry] = [] if wanted else list(packaged)
    for name in wanted:
        chosen.extend(load(Path(name)) if name.endswith(".py") else _by_id(name, packaged))
    distinct = {(entry.path, entry.claim.id): entry for entry in chosen}
    clashing = [*distinct.values(), *(e for e in packaged if (e.path, e.claim.id) not in distinct)]
    _unique(clashing)
    return tuple(e for e in _unique(distinct.values()) if topic is None or e.topic == topic)


def _by_id(name: str, entries: Iterable[Entry]) -> list[Entry]:
    entries = list(entries)
    found = [e for e in entries if name.lower() in (e.claim.id.lower(), e.claim.parent.lower())]
    if not found:
        raise InputError(f"there is no claim {name!r}; `reweight verify --list` shows all {len(entries)}")
    return found


def _unique(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    by_id: dict[str, Entry] = {}
    for entry in entries:
        first = by_id.setdefault(entry.claim.id.lower(), entry)
        if first.path != entry.path:
            raise InputError(
                f"the claim id {entry.claim.id} is declared twice, in {first.path} and in {entry.path}; rename one"
            )
    return tuple(sorted(by_id.values(), key=lambda entry: entry.claim.id))


def _execute(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"there is no claim file {path}")
    # Dataclasses look their module up by name, so it must be registered, under a name that no two files share.
    name = f"claim_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"the claim file {path} does not run: {type(error).__name__}: {error}") from error
    return module
