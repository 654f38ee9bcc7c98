"""How many prompts and samples a prompt make an interval narrow enough, before the rollouts are spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.forecasting.functional import Functional
from reweight.forecasting.likelihood import mean_interval
from reweight.forecasting.mixture import MixtureBounds
from reweight.forecasting.region import count_region
from reweight.forecasting.table import Table
from reweight.terminal import quoted

__all__ = ["Design", "DesignRow", "design"]

Floats = NDArray[np.float64]
SAMPLES = (2, 4, 8, 16, 32, 64)
MOST_PROMPTS = 10**6
DRAWS = 64
OFTEN = 0.9


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
    """

    samples: int
    prompts: int | None
    left: float

    @property
    def total(self) -> int | None:
        """Samples in all."""
        return None if self.prompts is None else self.prompts * self.samples


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
            "rows": [
                {"samples": row.samples, "prompts": row.prompts, "total": row.total, "left": row.left}
                for row in self.rows
            ],
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
                f"{row.left:.4f}" if row.left else "0",
            )
            for row in self.rows
        )
        title = f"Design for an interval of {self.quantity} narrower than {self.width:g}: {told}"
        return (Table(title, ("samples a prompt", "prompts", "samples", "width with endless prompts"), rows),)


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
    With n samples that identify the quantity, 64 files are drawn for each number of prompts that is tried, and nine in
    ten of their intervals have to be narrower than the width. With fewer samples the bounds for the expected counts
    decide; their width for the exact law of c is what endless prompts leave.

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
    rows = []
    for n in sorted(set(samples)):
        law = _law(int(n), pilot)
        if n >= functional.degree:
            rows.append(DesignRow(int(n), _identified(functional, law, width, rng, level), 0.0))
        else:
            rows.append(_bounded(functional, law, width, level))
    notes = (
        "the design is for prompts like those of the pilot; their pass rates are known through the pilot alone",
        f"a design holds if {OFTEN:.0%} of the files that it may give have a narrower interval",
    )
    return Design(name, width, level, tuple(rows), notes)


def _law(n: int, pilot: Distribution) -> Floats:
    """Probability of each number correct of n samples of a random prompt, (n + 1,)."""
    from scipy.stats import binom

    law = binom.pmf(np.arange(n + 1)[:, None], n, pilot.pass_rates[None, :]) @ pilot.weights
    return np.asarray(law / law.sum())


def _identified(
    functional: Functional, law: Floats, width: float, rng: np.random.Generator, level: float
) -> int | None:
    n = law.size - 1
    values = functional.unbiased(n, np.arange(n + 1))
    low, high = float(values.min()), float(values.max())

    def narrow(prompts: int) -> bool:
        widths = []
        for histogram in rng.multinomial(prompts, law, DRAWS):
            limits = mean_interval(np.repeat(values, histogram), low, high, level)
            widths.append(limits[1] - limits[0])
        return bool(np.mean(np.array(widths) <= width) >= OFTEN)

    return _fewest(narrow)


def _bounded(functional: Functional, law: Floats, width: float, level: float) -> DesignRow:
    n = law.size - 1
    laws = MixtureBounds.of(count_region(n, np.zeros(1, np.int64), level))
    values = functional.at(laws.grid)

    def wide(bounds: MixtureBounds) -> float:
        low, high = bounds.mean(lambda _: values, functional.range)
        return high - low

    def narrow(prompts: int) -> bool:
        c = np.repeat(np.arange(n + 1), _rounded(law * prompts))
        return wide(replace(laws, region=count_region(n, c, level))) <= width

    region = count_region(n, np.zeros(1, np.int64), level)
    exact = np.array([law[a : b + 1].sum() for a, b in zip(region.first, region.last, strict=True)])
    left = max(0.0, wide(replace(laws, region=replace(region, low=exact - NEAR, high=exact + NEAR))))
    return DesignRow(n, _fewest(narrow) if left < width else None, left)


NEAR = 1e-7
"""Slack of the exact law, so that the linear program has room for rounding."""


def _rounded(expected: Floats) -> NDArray[np.int64]:
    """Whole numbers with the same sum, nearest to the expected ones."""
    whole = np.floor(expected).astype(np.int64)
    short = round(expected.sum()) - int(whole.sum())
    whole[np.argsort(expected - whole)[::-1][:short]] += 1
    return whole


def _fewest(narrow: Any) -> int | None:
    """Smallest number of prompts from which on it is narrow, to one part in fifty."""
    high = 10
    while not narrow(high):
        high *= 2
        if high > MOST_PROMPTS:
            return None
    low = high // 2
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if narrow(middle) else (middle, high)
    return high
