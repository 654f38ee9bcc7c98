"""Print what a benchmark run says: the time of each baseline as a multiple of ours, both from the same run."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

OURS = "reweight"


def rows(benchmarks: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """One row a way of each group: time, its ratio to ours by median and by minimum, error, and the target."""
    ours = {each["group"]: each["stats"] for each in benchmarks if each["extra_info"]["way"] == OURS}
    for each in benchmarks:
        stats, info, base = each["stats"], each["extra_info"], ours[each["group"]]
        ratio = stats["median"] / base["median"]
        verdict = (
            "" if info["target"] is None else f"{info['target']:g}: {'met' if ratio >= info['target'] else 'NOT met'}"
        )
        yield (
            each["group"],
            info["way"],
            f"{1e3 * stats['median']:.3f}",
            f"{ratio:.3g}",
            f"{stats['min'] / base['min']:.3g}",
            f"{info['error']:.1e}",
            verdict,
        )


def main(path: Path) -> None:
    """Print the table of one results file."""
    table = Table("benchmark", "way", "median, ms", "x ours (median)", "x ours (min)", "largest error", "target")
    for row in rows(json.loads(path.read_text(encoding="utf-8"))["benchmarks"]):
        table.add_row(*row)
    Console(width=160).print(table)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
