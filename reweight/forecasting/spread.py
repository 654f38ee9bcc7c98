"""Signal and noise of groups by their size, for each rollout that is generated and for each that is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reweight.checks import integer
from reweight.forecasting.functional import Functional, dead_share, signal
from reweight.forecasting.quantity import Estimator, Quantity
from reweight.forecasting.table import Table

if TYPE_CHECKING:
    from reweight.forecasting.path import Distribution
    from reweight.objectives.advantage import Advantage
    from reweight.objectives.objective import Objective
    from reweight.rollouts import Counts

__all__ = ["Spread", "SpreadRow", "spread"]

Floats = NDArray[np.float64]
PRECISION = 1e-5
"""Of the limits of a ratio, as a share of its range."""
NOTES = (
    "the signal of a group is X = (1/G) sum of reward times advantage, zero in dead groups of centred advantages",
    "per kept rollout is E[X; mixed] / P(mixed): each prompt counts as often as a group of it is mixed",
    "the variance is that of X over one group of a random prompt; within prompts it is over groups of one prompt",
    "signal-to-noise is (E X)^2 / Var X over G, of this number and not of a gradient; B rollouts have B times as much",
    "limits of the variance and of signal-to-noise combine those of E X and E X^2, so they are wider than need be",
)


@dataclass(frozen=True)
class SpreadRow:
    """Groups of one size.

    Parameters
    ----------
    group_size : int
    mixed : Quantity
        Share of groups that have both outcomes, E[1 - p^G - q^G].
    per_generated, per_kept : Quantity
        Mean signal of a group by generated rollout, and by rollout of a mixed group.
    generated_per_kept : Quantity or None
        1 / `mixed`, rollouts that dynamic sampling generates for one that it keeps; None where the counts set no limit.
    variance, within : Quantity
        Variance of X over all groups, and its part within prompts.
    signal_to_noise : Quantity or None
        By generated rollout; None where the counts set no limit.
    """

    group_size: int
    mixed: Quantity
    per_generated: Quantity
    per_kept: Quantity
    generated_per_kept: Quantity | None
    variance: Quantity
    within: Quantity
    signal_to_noise: Quantity | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        quantities = {name: value for name, value in vars(self).items() if name != "group_size"}
        return {name: None if value is None else value.to_dict() for name, value in quantities.items()}


@dataclass(frozen=True)
class Spread:
    """Signal and noise by group size.

    Parameters
    ----------
    level : float
        Coverage of each interval.
    rows : tuple of SpreadRow
    notes : tuple of str
    """

    level: float
    rows: tuple[SpreadRow, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, by group size."""
        groups = {str(row.group_size): row.to_dict() for row in self.rows}
        return {"level": self.level, "groups": groups, "notes": list(self.notes)}

    def tables(self) -> tuple[Table, ...]:
        """The signal, and its noise."""
        costs, signals, noises = [], [], []
        for row in self.rows:
            size = str(row.group_size)
            costs.append((size, str(row.mixed), _or_no_limit(row.generated_per_kept)))
            signals.append((size, str(row.per_generated), str(row.per_kept)))
            noises.append((size, str(row.variance), str(row.within), _or_no_limit(row.signal_to_noise)))
        return (
            Table("Mixed groups by group size", ("G", "mixed groups", "generated per kept"), tuple(costs)),
            Table("Signal by group size", ("G", "per generated rollout", "per kept rollout"), tuple(signals)),
            Table("Noise by group size", ("G", "variance", "within prompts", "signal-to-noise"), tuple(noises)),
        )

    def __str__(self) -> str:
        return "\n".join(
            "\n".join([table.title, *("  ".join(row) for row in (table.header, *table.rows))])
            for table in self.tables()
        )


def spread(
    counts: Counts,
    objective: Objective,
    *,
    group_sizes: Sequence[int],
    compatible: Distribution | None = None,
    level: float = 0.95,
) -> Spread:
    """Say how much signal groups of each size have, and how much it varies.

    Parameters
    ----------
    counts : Counts
        n and c of P prompts.
    objective : Objective
        Its advantage defines the signal.
    group_sizes : sequence of int
        At least 2.
    compatible : Distribution, optional
        One distribution that explains the counts, whose values are shown beside bounds.
    level : float
        Coverage of each interval.

    Raises
    ------
    InputError
        If a group size is below 2, or the advantage needs more than the rewards of one group.

    Notes
    -----
    Source: R01 for E X = E[p q Delta_G]. A ratio E a / E b has in its interval each rho for which that of
    E[a - rho b] has 0 (Fieller 1954); this holds for intervals and for bounds. The variance within prompts is half of
    the mean squared difference of two groups of one prompt, a polynomial of degree 2 G in the pass rate.

    Examples
    --------
    >>> from reweight.objectives import Advantage, Objective
    >>> from reweight.rollouts import Counts
    >>> counts = Counts.of([8] * 200, [8] * 118 + [0] * 6 + [5] * 76)
    >>> (row,) = spread(counts, Objective(Advantage(), 4), group_sizes=[4]).rows
    >>> print(row.per_kept, "|", row.generated_per_kept)  # 76 prompts, each in 65 of 70 groups
    0.4639 [0.4635, 0.4641] | 2.8340 [2.3872, 3.4436]
    """
    sizes = sorted({integer(size, "group size", at_least=2) for size in group_sizes})
    estimator, half = Estimator(counts, level), Estimator(counts, (1.0 + level) / 2.0)
    rows = tuple(_row(size, objective.advantage, estimator, half, compatible) for size in sizes)
    if any(row.generated_per_kept is None or row.signal_to_noise is None for row in rows):
        return Spread(level, rows, (*NOTES, "no limit: the counts do not exclude that no group is mixed, or no noise"))
    return Spread(level, rows, NOTES)


def _row(size: int, advantage: Advantage, estimator: Estimator, half: Estimator, fit: Distribution | None) -> SpreadRow:
    mean = signal(size, advantage)
    worth = mean.unbiased(size, np.arange(size + 1))
    alive = 1.0 - dead_share(size).table
    mixed = _mean(estimator, Functional(alive), fit)
    first, second = _mean(half, mean, fit), _mean(half, Functional(worth**2), fit)
    return SpreadRow(
        group_size=size,
        mixed=mixed,
        per_generated=_mean(estimator, mean, fit),
        per_kept=_ratio(estimator, worth * alive, alive, fit),
        generated_per_kept=_map(mixed, lambda share: 1.0 / share) if mixed.low > 0.0 else None,
        variance=_variance(first, second, float(np.ptp(worth))),
        within=_mean(estimator, _half_squared_difference(worth), fit),
        signal_to_noise=_signal_to_noise(first, second, size),
    )


def _mean(estimator: Estimator, functional: Functional, fit: Distribution | None) -> Quantity:
    found = estimator.mean(functional)
    return found if found.identified or fit is None else replace(found, compatible=fit.mean(functional.at))


def _map(found: Quantity, falling: Callable[[float], float]) -> Quantity:
    """A falling function of a quantity."""
    middle, fit = (None if value is None else falling(value) for value in (found.estimate, found.compatible))
    return Quantity(middle, falling(found.high), falling(found.low), found.identified, fit)


def _ratio(estimator: Estimator, top: Floats, bottom: Floats, fit: Distribution | None) -> Quantity:
    """E a / E b for tables with b >= 0 and a = 0 where b = 0: a weighted mean of a / b, hence in the range of these.

    The limits of E[a - rho b] fall with rho, so that their roots are the limits of the ratio.
    """
    from scipy.optimize import brentq

    each = top[bottom > 0] / bottom[bottom > 0]
    least, most = float(each.min()), float(each.max())
    if most <= least:
        return Quantity(least, least, least, True)

    def difference(rho: float) -> Quantity:
        return estimator.mean(Functional(top - rho * bottom))

    precision = PRECISION * (most - least)
    low, high = least, most
    if difference(least).low > 0.0 > difference(most).low:
        low = float(brentq(lambda rho: difference(rho).low, least, most, xtol=precision))
    if difference(least).high > 0.0 > difference(most).high:
        high = float(brentq(lambda rho: difference(rho).high, least, most, xtol=precision))
    share = estimator.mean(Functional(bottom))
    if share.estimate:
        return Quantity((estimator.mean(Functional(top)).estimate or 0.0) / share.estimate, low, high, True)
    alive = 0.0 if fit is None else fit.mean(Functional(bottom).at)
    one = None if fit is None or alive == 0.0 else fit.mean(Functional(top).at) / alive
    return Quantity(None, low, high, False, one)


def _half_squared_difference(worth: Floats) -> Functional:
    """Half of the squared difference of two groups' signals by the number correct of both, mean over the splits."""
    from scipy.stats import hypergeom

    size = worth.size - 1
    table = np.empty(2 * size + 1)
    for correct in range(2 * size + 1):
        first = np.arange(max(0, correct - size), min(size, correct) + 1)
        chance = hypergeom.pmf(first, 2 * size, correct, size)
        table[correct] = chance @ (worth[first] - worth[correct - first]) ** 2 / 2.0
    return Functional(table)


def _square(first: Quantity) -> tuple[float, float]:
    ends = sorted((first.low**2, first.high**2))
    return (0.0 if first.low < 0.0 < first.high else ends[0]), ends[1]


def _variance(first: Quantity, second: Quantity, width: float) -> Quantity:
    """Second moment less squared mean; nothing with values `width` apart has more than a quarter of its square."""
    least, most = _square(first)
    high = min(second.high - least, width**2 / 4.0)
    low = min(max(second.low - most, 0.0), high)
    middle = None
    if first.estimate is not None and second.estimate is not None:
        middle = max(second.estimate - first.estimate**2, 0.0)
    return Quantity(middle, low, high, middle is not None, _pair(first, second, lambda m, s: max(s - m**2, 0.0)))


def _signal_to_noise(first: Quantity, second: Quantity, size: int) -> Quantity | None:
    """Squared mean over variance, over G: it grows with the mean and falls with the second moment."""
    least, most = _square(first)
    if second.low <= most:
        return None

    def by_rollout(square: float, moment: float) -> float:
        return square / (moment - square) / size

    middle = None
    if first.estimate is not None and second.estimate is not None:
        middle = by_rollout(first.estimate**2, second.estimate)
    fit = _pair(first, second, lambda m, s: by_rollout(m**2, s))
    return Quantity(middle, by_rollout(least, second.high), by_rollout(most, second.low), middle is not None, fit)


def _pair(first: Quantity, second: Quantity, function: Callable[[float, float], float]) -> float | None:
    """A function of the values for one distribution, of an estimate where the first is identified already."""
    mean = first.compatible if first.estimate is None else first.estimate
    return None if mean is None or second.compatible is None else function(mean, second.compatible)


def _or_no_limit(found: Quantity | None) -> str:
    return "no limit" if found is None else str(found)
