"""One forecast number: an estimate with its interval where the counts identify it, bounds where they do not."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import NDArray

from reweight.forecasting.domination import guaranteed_interval
from reweight.forecasting.functional import Functional
from reweight.forecasting.likelihood import mean_interval
from reweight.forecasting.mixture import MixtureBounds, PassRateFunction
from reweight.forecasting.region import count_region
from reweight.forecasting.sandwich import sandwich_interval
from reweight.rollouts import Counts

__all__ = ["Estimator", "Quantity", "shown"]

MOST_STRATA = 8


def shown(value: float, decimals: int = 4) -> str:
    """A number with some decimals, but never as a 0 or a 1 that it is not.

    Examples
    --------
    >>> shown(0.62), shown(1.0), shown(0.99998), shown(0.00002)
    ('0.6200', '1.0000', '1 - 2e-05', '2e-05')
    """
    text = f"{value:.{decimals}f}"
    if float(text) == 0.0 and value != 0.0:
        return f"{value:.2g}"
    if float(text) == 1.0 and value != 1.0:
        return f"1 {'-' if value < 1.0 else '+'} {abs(1.0 - value):.2g}"
    return text


@dataclass(frozen=True)
class Quantity:
    """A number with its interval; where it is not identified the estimate is None, and low and high are bounds.

    `compatible` is its value for one distribution of pass rates that explains the counts, where one was fitted.

    Examples
    --------
    >>> print(Quantity(None, 0.21, 0.64, False, compatible=0.53))
    0.2100 to 0.6400 (bounds, fit 0.5300)
    """

    estimate: float | None
    low: float
    high: float
    identified: bool
    compatible: float | None = None

    def to_dict(self) -> dict[str, float | bool | None]:
        """The fields; `compatible` only where there is one."""
        fields = asdict(self)
        if self.compatible is None:
            del fields["compatible"]
        return fields

    def __str__(self) -> str:
        low, high = shown(self.low), shown(self.high)
        if self.estimate is not None:
            return f"{shown(self.estimate)} [{low}, {high}]"
        fit = "" if self.compatible is None else f", fit {shown(self.compatible)}"
        return f"{low} to {high} (bounds{fit})"


@dataclass(frozen=True, eq=False)
class Estimator:
    """Estimates and bounds for the prompts of a file.

    The number of samples n may depend on how hard a prompt is, so it is held fixed: prompts with enough samples are
    estimated, and the others, for as many prompts as they are, enter through bounds by each n. No prompt is dropped.

    Parameters
    ----------
    counts : Counts
        n and c of each prompt.
    level : float
        Coverage of each interval, and of all bounds of one number of samples together.
    guaranteed : bool
        Intervals whose coverage is proved for every number of prompts, and which are wider.
    """

    counts: Counts
    level: float
    guaranteed: bool = False
    _cache: dict[tuple[int, float], MixtureBounds] = field(default_factory=dict, init=False, repr=False)

    def mean(self, functional: Functional) -> Quantity:
        """The mean of a functional over the prompts."""
        n, c = self.counts.n, self.counts.c
        enough = n >= functional.degree
        if enough.all():
            values, low, high = _estimates(functional, n, c)
            # fsum does not depend on the order of the prompts.
            return Quantity(math.fsum(values) / values.size, *self._interval(values, low, high, self.level), True)
        strata = _largest_strata(n[~enough])
        level = self._split(len(strata) + bool(enough.any()))
        parts = [(int((~enough & ~np.isin(n, strata)).sum()), functional.range)]
        if enough.any():
            values, low, high = _estimates(functional, n[enough], c[enough])
            parts.append((values.size, self._interval(values, low, high, level)))
        for size in strata:
            bounds = self._bounds(size, level).mean(functional.at, functional.range)
            parts.append((int((n == size).sum()), bounds))
        return _combine(parts)

    def bounds(self, function: PassRateFunction, span: tuple[float, float]) -> Quantity:
        """Bounds for the mean over the prompts of any function of the pass rate whose values lie in `span`.

        Both the linear program and the polynomials of :mod:`reweight.forecasting.sandwich` bound it, each with half of
        what may go wrong; the second are the narrower ones where the function is nearly a polynomial.
        """
        n, c = self.counts.n, self.counts.c
        strata = _largest_strata(n)
        level = self._split(2 * len(strata))
        parts = [(int((~np.isin(n, strata)).sum()), span)]
        for size in strata:
            low, high = self._bounds(size, level).mean(function, span)
            least, most = sandwich_interval(function, span, size, c[n == size], level)
            parts.append((int((n == size).sum()), (max(low, least), max(low, least, min(high, most)))))
        return _combine(parts)

    def discovery(self, samples: int) -> Quantity | None:
        """Chance that a prompt without a correct sample gets one in `samples` further ones at its present pass rate.

        The mean over the never-solved prompts; None if there is none.
        """
        return self.unsolved(_found_within(samples))

    def unsolved(self, function: PassRateFunction) -> Quantity | None:
        """Mean of a function with values in [0, 1] over the prompts without a correct sample; None if there is none.

        Only bounds: a prompt that was never solved may be impossible, or have been unlucky, and its own samples do not
        tell.
        """
        unsolved = self.counts.n[self.counts.c == 0]
        if unsolved.size == 0:
            return None
        strata = _largest_strata(unsolved)
        level = self._split(len(strata))
        parts = [(int((~np.isin(unsolved, strata)).sum()), (0.0, 1.0))]
        for size in strata:
            never = _never_found(size)
            bounds = self._bounds(size, level).ratio(_product(never, function), never)
            parts.append((int((unsolved == size).sum()), bounds))
        return _combine(parts)

    def incompatible(self) -> tuple[int, ...]:
        """Numbers of samples n whose counts no distribution of pass rates explains at this level."""
        sizes = _largest_strata(self.counts.n)
        return tuple(n for n in sizes if not self._bounds(n, self._split(len(sizes))).compatible)

    def _interval(self, values: NDArray[np.float64], low: float, high: float, level: float) -> tuple[float, float]:
        return (guaranteed_interval if self.guaranteed else mean_interval)(values, low, high, level)

    def _split(self, parts: int) -> float:
        return 1.0 - (1.0 - self.level) / parts

    def _bounds(self, n: int, level: float) -> MixtureBounds:
        key = (n, level)
        if key not in self._cache:
            self._cache[key] = MixtureBounds.of(count_region(n, self.counts.c[self.counts.n == n], level))
        return self._cache[key]


def _estimates(
    functional: Functional, n: NDArray[np.int64], c: NDArray[np.int64]
) -> tuple[NDArray[np.float64], float, float]:
    """The unbiased value of each prompt, and the smallest and largest value that any c could have had.

    A value for n + 1 samples is a mean of values for n of them, so the fewest samples have the widest range.
    """
    fewest = int(n.min())
    possible = functional.unbiased(fewest, np.arange(fewest + 1))
    low, high = float(possible.min()), float(possible.max())
    base = int(n.max()) + 1
    pairs, of_prompt = np.unique(n * base + c, return_inverse=True)
    values = np.clip(functional.unbiased(*np.divmod(pairs, base)), low, high)
    return values[of_prompt], low, high


def _largest_strata(n: NDArray[np.int64]) -> list[int]:
    """The most frequent numbers of samples; rarer ones get the whole range, which costs their share of the prompts."""
    sizes, prompts = np.unique(n, return_counts=True)
    return [int(size) for size in sizes[np.argsort(-prompts, kind="stable")][:MOST_STRATA]]


def _combine(parts: list[tuple[int, tuple[float, float]]]) -> Quantity:
    total = sum(prompts for prompts, _ in parts)
    low = sum(prompts * bounds[0] for prompts, bounds in parts) / total
    high = sum(prompts * bounds[1] for prompts, bounds in parts) / total
    return Quantity(None, low, high, False)


def _never_found(n: int) -> PassRateFunction:
    return lambda p: (1.0 - p) ** n


def _found_within(samples: int) -> PassRateFunction:
    with_certainty = np.nextafter(1.0, 0.0)
    return lambda p: np.asarray(-np.expm1(samples * np.log1p(-np.minimum(p, with_certainty))))


def _product(first: PassRateFunction, second: PassRateFunction) -> PassRateFunction:
    return lambda p: first(p) * second(p)
