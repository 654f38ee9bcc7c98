"""Labels that are cited are explained, and the examples of the command-line page run."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
LABEL = re.compile(r"\b([RCHN])([0-9]{2})\b")
SOURCES = [
    *(path for folder in ("reweight", "proofs_check") for path in (ROOT / folder).rglob("*.py")),
    *(path for path in (ROOT / "docs").glob("*.md") if path.name != "theory.md"),
    ROOT / "README.md",
]


def labels(text: str) -> set[str]:
    return {"".join(match) for match in LABEL.findall(text)}


def test_every_cited_label_is_explained() -> None:
    explained = labels((ROOT / "docs" / "theory.md").read_text())
    cited = {label: path.name for path in SOURCES for label in labels(path.read_text())}
    assert {label: file for label, file in cited.items() if label not in explained} == {}
    assert len(cited) > 40
