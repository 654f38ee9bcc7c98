"""Coverage of a forecast's intervals and bounds, in worlds whose truth is known.

    python -m benchmarks.coverage --repeats 4000 --out docs/coverage.md

Each repeat draws pass rates and counts, and asks whether the interval holds the truth. A cell passes if the one-sided
99.9 % binomial limit of its coverage includes the level.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from reweight.emitting.worlds import WORLDS, World
from reweight.forecasting.functional import Functional, dead_share, pass_at, signal
from reweight.forecasting.mixture import MixtureBounds
from reweight.forecasting.quantity import Estimator
from reweight.forecasting.region import count_region
from reweight.objectives.advantage import Advantage
from reweight.rollouts import Counts

__all__ = ["BOUNDS", "IDENTIFIED", "Cell", "Tally", "simulate"]

Floats = NDArray[np.float64]
LEVEL = 0.95
RESAMPLES = 1000
ENOUGH_EVENTS = 30
DISCOVERY_SAMPLES = 128
ALMOST_SURE = 0.99


@dataclass(frozen=True)
class Cell:
    """One world, with a number of prompts and of samples a prompt."""

    world: str
    prompts: int
    samples: int


@dataclass
class Tally:
    """How often an interval missed, and how wide it was."""

    repeats: int = 0
    below: int = 0
    above: int = 0
    width: float = 0.0
    events: float = field(default=0.0, compare=False)

    def add(self, truth: float, low: float, high: float, times: int) -> None:
        """Count an interval that came up so many times; `below` are those that lie below the truth."""
        self.repeats += times
        self.below += times * (high < truth - SLACK)
        self.above += times * (low > truth + SLACK)
        self.width += times * (high - low)

    @property
    def covered(self) -> int:
        """Number of intervals that held the truth."""
        return self.repeats - self.below - self.above

    @property
    def passes(self) -> bool:
        """Whether the coverage may be the level."""
        from scipy.special import bdtr

        return bool(bdtr(self.covered, self.repeats, LEVEL) >= 0.001)


SLACK = 1e-9
"""Rounding of the truth and of a limit."""

IDENTIFIED: dict[str, Functional] = {
    "pass rate": pass_at(1),
    "pass@4": pass_at(4),
    "pass@8": pass_at(8),
    "dead share, G = 8": dead_share(8),
    "signal, G = 8": signal(8, Advantage()),
}
BOUNDS: dict[str, Functional] = {
    "dead share, G = 64": dead_share(64),
    "pass@64": pass_at(64),
}
DISCOVERY = f"discovery in {DISCOVERY_SAMPLES} samples"

IDENTIFIED_CELLS = [Cell(*key) for key in itertools.product(WORLDS, (60, 200), (8, 64))]
BOUND_CELLS = [Cell(*key) for key in itertools.product(WORLDS, (60, 200), (4, 8))]


def simulate(cell: Cell, repeats: int, *, bounds: bool, bootstrap: bool = True) -> dict[tuple[str, str], Tally]:
    """Coverage in one cell, by number and method; equal counts are worked off once."""
    world = WORLDS[cell.world]
    rng = np.random.default_rng([crc32(repr(cell).encode()), bounds])
    truths = _truths(world, cell.samples, bounds)
    files: dict[bytes, int] = {}
    for _ in range(repeats):
        c = rng.binomial(cell.samples, world.draw(rng, cell.prompts))
        histogram = np.bincount(c, minlength=cell.samples + 1)
        files[histogram.tobytes()] = files.get(histogram.tobytes(), 0) + 1
    tallies: dict[tuple[str, str], Tally] = {}
    for mark, times in files.items():
        histogram = np.frombuffer(mark, np.int64)
        for name, method, low, high in _intervals(histogram, bounds, rng if bootstrap else None):
            tally = tallies.setdefault((name, method), Tally())
            tally.add(truths[name], low, high, times)
    for (name, _), tally in tallies.items():
        tally.events = _events(name, truths[name], cell)
    return tallies


def _truths(world: World, n: int, bounds: bool) -> dict[str, float]:
    truths = {name: world.mean(each.at) for name, each in (BOUNDS if bounds else IDENTIFIED).items()}
    if bounds:
        unsolved = world.mean(lambda p: (1.0 - p) ** n)
        later = world.mean(lambda p: (1.0 - p) ** n * (1.0 - (1.0 - p) ** DISCOVERY_SAMPLES))
        truths[DISCOVERY] = later / unsolved
    return truths


def _intervals(
    histogram: NDArray[np.int64], bounds: bool, rng: np.random.Generator | None
) -> Iterator[tuple[str, str, float, float]]:
    n, prompts = histogram.size - 1, int(histogram.sum())
    c = np.repeat(np.arange(n + 1), histogram)
    if bounds:
        yield from _bounds(n, c)
        return
    estimator = Estimator(Counts.of([n] * prompts, c.tolist()), LEVEL)
    for name, each in IDENTIFIED.items():
        found = estimator.mean(each)
        yield name, "ELP", found.low, found.high
    if rng is not None:
        yield from _bootstrap(histogram, rng)


def _bounds(n: int, c: NDArray[np.int64]) -> Iterator[tuple[str, str, float, float]]:
    """What Estimator gives where all prompts have n samples; the laws on the grid are computed once for all files."""
    laws, values = _grid(n)
    found = replace(laws, region=count_region(n, c, LEVEL))
    for name in BOUNDS:
        yield name, "bounds", *found.mean(_constant(values[name]), (0.0, 1.0))
    if (c == 0).any():
        never, later = values["never found"], values[DISCOVERY]
        yield DISCOVERY, "bounds", *found.ratio(_constant(later), _constant(never))


@lru_cache
def _grid(n: int) -> tuple[MixtureBounds, dict[str, Floats]]:
    laws = MixtureBounds.of(count_region(n, np.zeros(1, np.int64), LEVEL))
    values = {name: each.at(laws.grid) for name, each in BOUNDS.items()}
    never = (1.0 - laws.grid) ** n
    later = never * (1.0 - (1.0 - laws.grid) ** DISCOVERY_SAMPLES)
    return laws, values | {"never found": never, DISCOVERY: later}


def _constant(values: Floats) -> Callable[[Floats], Floats]:
    return lambda _: values


def _bootstrap(histogram: NDArray[np.int64], rng: np.random.Generator) -> Iterator[tuple[str, str, float, float]]:
    """Percentiles of the means over resampled prompts."""
    n, prompts = histogram.size - 1, int(histogram.sum())
    values = np.array([each.unbiased(n, np.arange(n + 1)) for each in IDENTIFIED.values()])
    means = rng.multinomial(prompts, histogram / prompts, RESAMPLES) @ values.T / prompts
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    for name, *limits in zip(IDENTIFIED, low.tolist(), high.tolist(), strict=True):
        yield name, "bootstrap", *limits


def _events(name: str, truth: float, cell: Cell) -> float:
    """Expected events or non-events, whichever are fewer: the sum of values scaled to [0, 1]."""
    if name not in IDENTIFIED:
        return 0.0
    functional = IDENTIFIED[name]
    possible = functional.unbiased(cell.samples, np.arange(cell.samples + 1))
    low, high = float(possible.min()), float(possible.max())
    share = (truth - low) / (high - low)
    return cell.prompts * min(share, 1.0 - share)


def _cause(name: str, tally: Tally) -> str:
    """Why an interval covers nearly always."""
    if tally.covered / tally.repeats <= ALMOST_SURE:
        return ""
    if name in BOUNDS or name == DISCOVERY:
        return "a bound: it holds for every distribution"
    if tally.events < 1:
        return "the truth is at the edge, where one limit is fixed"
    return "few events: counts are discrete" if tally.events < ENOUGH_EVENTS else "too wide"


def _rows(repeats: int, workers: int) -> Iterator[tuple[Cell, str, dict[str, Tally]]]:
    jobs = [(cell, bounds) for bounds, cells in ((False, IDENTIFIED_CELLS), (True, BOUND_CELLS)) for cell in cells]
    with ProcessPoolExecutor(workers) as pool:
        futures = [pool.submit(simulate, cell, repeats, bounds=bounds) for cell, bounds in jobs]
        for (cell, _), future in zip(jobs, futures, strict=True):
            by_name: dict[str, dict[str, Tally]] = {}
            for (name, method), tally in future.result().items():
                by_name.setdefault(name, {})[method] = tally
            print(f"{cell.world}, {cell.prompts} prompts, {cell.samples} samples: done", file=sys.stderr, flush=True)
            for name, methods in by_name.items():
                yield cell, name, methods


def _line(cell: Cell, name: str, methods: dict[str, Tally]) -> str:
    cells = [cell.world, str(cell.prompts), str(cell.samples), name]
    ours = methods.get("ELP") or methods["bounds"]
    cells += [*_figures(ours), "yes" if ours.passes else "**NO**", _cause(name, ours)]
    other = methods.get("bootstrap")
    cells += [f"{other.covered / other.repeats:.3f}", f"{other.width / other.repeats:.3f}"] if other else ["-", "-"]
    return f"| {' | '.join(cells)} |"


def _figures(tally: Tally) -> list[str]:
    shares = (tally.covered, tally.below, tally.above)
    return [f"{number / tally.repeats:.4f}" for number in shares] + [f"{tally.width / tally.repeats:.3f}"]


def _summary(rows: list[tuple[Cell, str, dict[str, Tally]]]) -> list[str]:
    ours = [methods.get("ELP") or methods["bounds"] for _, _, methods in rows]
    resampled = [methods["bootstrap"] for _, _, methods in rows if "bootstrap" in methods]
    enough = [t for (_, name, _), t in zip(rows, ours, strict=True) if name in IDENTIFIED and t.events >= ENOUGH_EVENTS]
    most = max((t.covered / t.repeats for t in enough), default=0.0)
    passing, others = sum(t.passes for t in ours), sum(t.passes for t in resampled)
    return [
        f"- 99.9 % limit includes {LEVEL}: {passing} of {len(ours)} cells; smallest coverage {_least(ours):.4f}.",
        f"- The same of the bootstrap: {others} of {len(resampled)} cells; smallest coverage {_least(resampled):.4f}.",
        f"- At least {ENOUGH_EVENTS} expected events and non-events: {len(enough)} cells; largest coverage {most:.4f}.",
    ]


def _least(tallies: list[Tally]) -> float:
    return min((tally.covered / tally.repeats for tally in tallies), default=1.0)


PAGE = """# Coverage of a forecast's intervals and bounds

{repeats} files a cell, nominal coverage {level}; `python -m benchmarks.coverage` draws them again. The worlds are those
of `reweight simulate --world`. Intervals are empirical likelihood with Poisson-calibrated thresholds (ELP); the
bootstrap resamples prompts {resamples} times. A cell passes if the one-sided 99.9 % binomial limit of its coverage
includes the nominal one.

{summary}

{table}
"""


def _page(repeats: int, rows: list[tuple[Cell, str, dict[str, Tally]]]) -> str:
    table = [f"| {' | '.join(HEADER)} |", f"|{'---|' * len(HEADER)}", *(_line(*row) for row in rows)]
    summary = "\n".join(_summary(rows))
    return PAGE.format(repeats=repeats, level=LEVEL, resamples=RESAMPLES, summary=summary, table="\n".join(table))


HEADER = (
    "world",
    "prompts",
    "samples",
    "number",
    "coverage",
    "below the truth",
    "above the truth",
    "mean width",
    "passes",
    "above 99 %: cause",
    "bootstrap coverage",
    "bootstrap width",
)


def main() -> None:
    """Run the study and write its page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=4000, help="repeats a cell")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--out", type=Path, help="Markdown page; printed otherwise")
    arguments = parser.parse_args()
    text = _page(arguments.repeats, list(_rows(arguments.repeats, arguments.workers)))
    if arguments.out is None:
        print(text)
    else:
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
