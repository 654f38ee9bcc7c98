"""Print what a benchmark run says: each baseline's time as a multiple of ours, and how our times grow.

A bench function leaves `extra_info` with `way` ("reweight" is ours), `error` and `target` (the least multiple aimed at,
or None). Where the ways of one group do different amounts of work, `units` is the number of results that a call gives,
and all times are by result. Rows with `growth` (see growth.py) make the second table.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.growth import TOLERANCE

OURS = "reweight"


def rows(benchmarks: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """One row a way of each group: time, its ratio to ours by median and by minimum, error, and the target."""
    ours = {each["group"]: each for each in benchmarks if each["extra_info"]["way"] == OURS}
    for each in benchmarks:
        info, base = each["extra_info"], ours[each["group"]]
        ratio = seconds(each, "median") / seconds(base, "median")
        verdict = (
            "" if info["target"] is None else f"{info['target']:g}: {'met' if ratio >= info['target'] else 'NOT met'}"
        )
        yield (
            each["group"],
            info["way"],
            f"{1e6 * seconds(each, 'median'):.4g}",
            f"{ratio:.3g}",
            f"{seconds(each, 'min') / seconds(base, 'min'):.3g}",
            f"{info['error']:.1e}",
            verdict,
        )


def seconds(benchmark: dict[str, Any], statistic: str) -> float:
    """Time of one result."""
    return float(benchmark["stats"][statistic]) / float(benchmark["extra_info"].get("units", 1))


def growth_rows(benchmarks: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """One row a kernel and variable: required and measured exponent."""
    for each in benchmarks:
        growth = each["extra_info"]["growth"]
        met = growth["measured"] <= growth["required"] + TOLERANCE
        yield (
            growth["kernel"],
            growth["variable"],
            ", ".join(f"{size:g}" for size in growth["sizes"]),
            f"{growth['required']:g}",
            f"{growth['measured']:.2f}",
            "met" if met else "NOT met",
        )


def main(path: Path) -> None:
    """Print the tables of one results file."""
    benchmarks = json.loads(path.read_text(encoding="utf-8"))["benchmarks"]
    grown = [each for each in benchmarks if "growth" in each["extra_info"]]
    timed = [each for each in benchmarks if "growth" not in each["extra_info"]]
    ratios = Table("benchmark", "way", "median, µs", "x ours (median)", "x ours (min)", "largest error", "target")
    for row in rows(timed):
        ratios.add_row(*row)
    exponents = Table("kernel", "variable", "sizes", "required exponent", "measured", f"within {TOLERANCE:g}")
    for row in growth_rows(grown):
        exponents.add_row(*row)
    console = Console(width=160)
    for table in (ratios, exponents):
        if table.row_count:
            console.print(table)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
