"""How many prompts and samples a prompt make an interval narrow enough, before the rollouts are spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.forecasting.functional import Functional
from reweight.forecasting.likelihood import mean_interval
from reweight.forecasting.mixture import MixtureBounds
from reweight.forecasting.region import Region, count_region
from reweight.forecasting.table import Table
from reweight.terminal import quoted

__all__ = ["Design", "DesignRow", "design"]

Floats = NDArray[np.float64]
SAMPLES = (1, 2, 4, 8, 16, 32, 64)
FEWEST_PROMPTS, MOST_PROMPTS = 10, 10**6
INTERVAL_DRAWS, BOUND_DRAWS = 100, 30
OFTEN = 0.9
NEAR = 1e-7
"""Slack of the exact law, so that the linear program has room for rounding."""


class Distribution(Protocol):
    """Pass rates (M,) with their weights (M,)."""

    @property
    def pass_rates(self) -> Floats:
        """Points."""

    @property
    def weights(self) -> Floats:
        """Their probabilities."""


@dataclass(frozen=True)
class DesignRow:
    """One number of samples a prompt.

    Parameters
    ----------
    samples : int
        n, samples a prompt.
    prompts : int or None
        Fewest prompts whose interval is narrower than the width; None where no number of prompts does it.
    left : float
        Width that is left with infinitely many prompts: 0 where n samples identify the quantity.
    mean_width, share_narrower : float or None
        Of the files that were drawn with so many prompts: their mean width, and the share that is narrow enough.
    """

    samples: int
    prompts: int | None
    left: float
    mean_width: float | None = None
    share_narrower: float | None = None

    @property
    def total(self) -> int | None:
        """Samples in all."""
        return None if self.prompts is None else self.prompts * self.samples

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "samples": self.samples,
            "prompts": self.prompts,
            "total": self.total,
            "left": self.left,
            "mean_width": self.mean_width,
            "share_narrower": self.share_narrower,
        }


@dataclass(frozen=True)
class Design:
    """Designs of a pilot study by the number of samples a prompt.

    Parameters
    ----------
    quantity : str
        What is to be known.
    width : float
        How narrow its interval is to be.
    level : float
    rows : tuple of DesignRow
    notes : tuple of str
    """

    quantity: str
    width: float
    level: float
    rows: tuple[DesignRow, ...]
    notes: tuple[str, ...]

    @property
    def cheapest(self) -> DesignRow | None:
        """The row with the fewest samples in all; None where no row does it."""
        found = [row for row in self.rows if row.total is not None]
        return min(found, key=lambda row: row.total or 0) if found else None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        best = self.cheapest
        return {
            "quantity": self.quantity,
            "width": self.width,
            "level": self.level,
            "rows": [row.to_dict() for row in self.rows],
            "cheapest": None if best is None else {"samples": best.samples, "prompts": best.prompts},
            "notes": list(self.notes),
        }

    def tables(self) -> tuple[Table, ...]:
        """One row a number of samples."""
        best = self.cheapest
        told = (
            "none of these does it"
            if best is None
            else f"cheapest with {best.prompts} prompts x {best.samples} samples = {best.total}"
        )
        rows = tuple(
            (
                str(row.samples),
                "no number is enough" if row.prompts is None else str(row.prompts),
                "-" if row.total is None else str(row.total),
                "-" if row.mean_width is None else f"{row.mean_width:.4f}",
                "-" if row.share_narrower is None else f"{row.share_narrower:.0%}",
                f"{row.left:.4f}" if row.left else "0",
            )
            for row in self.rows
        )
        title = f"Design for an interval of {self.quantity} narrower than {self.width:g}: {told}"
        header = ("samples a prompt", "prompts", "samples", "mean width", "narrower", "width with endless prompts")
        return (Table(title, header, rows),)


def design(
    functional: Functional,
    name: str,
    pilot: Distribution,
    *,
    width: float,
    rng: np.random.Generator,
    samples: Sequence[int] = SAMPLES,
    level: float = 0.95,
) -> Design:
    """Find the fewest prompts for each number of samples, in a world that looks like a pilot.

    Parameters
    ----------
    functional : Functional
        What is to be known: pass rate, pass@k, dead share or signal.
    name : str
        How it is called.
    pilot : Distribution
        Pass rates that the prompts may have.
    width : float
        How narrow the interval, or the bounds, are to be.
    rng : numpy.random.Generator
        Draws files from the pilot's world.
    samples : sequence of int
        Numbers of samples a prompt.
    level : float

    Raises
    ------
    InputError
        If the width is not positive, or a number of samples makes no sense.

    Notes
    -----
    For each number of prompts that is tried files are drawn (100 where n samples identify the quantity, else 30), and
    nine in ten of their intervals, or bounds, have to be narrower than the width. What endless prompts leave is the
    width of the bounds for the exact law of c.

    Examples
    --------
    >>> from reweight.emitting.worlds import WORLDS
    >>> from reweight.forecasting.functional import dead_share
    >>> from reweight.forecasting.start import GridDistribution
    >>> world = GridDistribution(WORLDS["uniform"].nodes, WORLDS["uniform"].weights)
    >>> found = design(dead_share(8), "dead share", world, width=0.1, rng=np.random.default_rng(0), samples=[4, 8])
    >>> found.rows[0].prompts > 5000, 200 < found.rows[1].prompts < 400
    (True, True)
    """
    if not 0.0 < width < np.inf:
        raise InputError(f"the width {width} is not a positive number; give for example 0.1")
    if not samples or any(isinstance(n, bool) or n % 1 or not 1 <= n <= 1024 for n in samples):
        raise InputError(f"{quoted(samples)} are no numbers of samples a prompt; give whole numbers from 1 to 1024")
    rows = tuple(_row(functional, int(n), _law(int(n), pilot), width, rng, level) for n in sorted(set(samples)))
    return Design(name, width, level, rows, NOTES)


NOTES = (
    "the design is for prompts like those of the pilot; their pass rates are known through the pilot alone",
    f"a design holds if {OFTEN:.0%} of the files that are drawn for it have a narrower interval",
    f"{INTERVAL_DRAWS} files are drawn for a number of prompts, {BOUND_DRAWS} where there are only bounds",
    f"numbers of prompts are found to 2 % and go from {FEWEST_PROMPTS} to {MOST_PROMPTS}",
)


def _law(n: int, pilot: Distribution) -> Floats:
    """Probability of each number correct of n samples of a random prompt, (n + 1,)."""
    from scipy.stats import binom

    law = binom.pmf(np.arange(n + 1)[:, None], n, pilot.pass_rates[None, :]) @ pilot.weights
    return np.asarray(law / law.sum())


def _row(
    functional: Functional, n: int, law: Floats, width: float, rng: np.random.Generator, level: float
) -> DesignRow:
    """Find the prompts where the expected counts are narrow enough, then draw files around there."""
    identified = n >= functional.degree
    width_of, left = _interval_width(functional, n, level) if identified else _bounds_width(functional, n, law, level)
    if left >= width:
        return DesignRow(n, None, left)
    drawn: dict[int, Floats] = {}

    def often(prompts: int) -> bool:
        files = rng.multinomial(prompts, law, INTERVAL_DRAWS if identified else BOUND_DRAWS)
        drawn[prompts] = np.array([width_of(file) for file in files])
        return bool((drawn[prompts] <= width).mean() >= OFTEN)

    expected = _fewest(lambda prompts: width_of(_rounded(law * prompts)) <= width, FEWEST_PROMPTS)
    prompts = None if expected is None else _fewest(often, max(FEWEST_PROMPTS, expected // 2))
    if prompts is None:
        return DesignRow(n, None, left)
    found = drawn[prompts]
    return DesignRow(n, prompts, left, float(found.mean()), float((found <= width).mean()))


WidthOf = Callable[[NDArray[np.int64]], float]


def _interval_width(functional: Functional, n: int, level: float) -> tuple[WidthOf, float]:
    """Width for a histogram of c (n + 1,), of which endless prompts leave nothing."""
    values = functional.unbiased(n, np.arange(n + 1))
    low, high = float(values.min()), float(values.max())

    def width_of(histogram: NDArray[np.int64]) -> float:
        limits = mean_interval(np.repeat(values, histogram), low, high, level)
        return limits[1] - limits[0]

    return width_of, 0.0


def _bounds_width(functional: Functional, n: int, law: Floats, level: float) -> tuple[WidthOf, float]:
    """Width of the bounds for a histogram of c (n + 1,), and for its exact law."""
    region = count_region(n, np.zeros(1, np.int64), level)
    bounds = MixtureBounds.of(region)
    values = functional.at(bounds.grid)

    def wide(region: Region) -> float:
        low, high = replace(bounds, region=region).mean(lambda _: values, functional.range)
        return max(0.0, high - low)

    exact = np.array([law[a : b + 1].sum() for a, b in zip(region.first, region.last, strict=True)])
    left = wide(replace(region, low=exact - NEAR, high=exact + NEAR))
    return lambda histogram: wide(count_region(n, np.repeat(np.arange(n + 1), histogram), level)), left


def _rounded(expected: Floats) -> NDArray[np.int64]:
    """Whole numbers with the same sum, nearest to the expected ones."""
    whole = np.floor(expected).astype(np.int64)
    short = round(expected.sum()) - int(whole.sum())
    whole[np.argsort(expected - whole)[::-1][:short]] += 1
    return whole


def _fewest(narrow: Callable[[int], bool], start: int) -> int | None:
    """Smallest number of prompts that is narrow, looked for from half of `start` on, to one part in fifty."""
    high = start
    while not narrow(high):
        high *= 2
        if high > MOST_PROMPTS:
            return None
    low = high // 2
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if narrow(middle) else (middle, high)
    return high
