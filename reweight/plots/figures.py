"""The figures of the support theorem, whole: picture, caption, and the same in words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reweight.errors import InputError
from reweight.plots import style
from reweight.plots.discovery_ceiling import discovery_ceiling, discovery_ceiling_data
from reweight.plots.simplex_portrait import simplex_portrait, simplex_portrait_data
from reweight.plots.tilt_gain import tilt_gain, tilt_gain_data
from reweight.plots.weight_curve import weight_curve, weight_curve_data
from reweight.reports import Figure

__all__ = ["FIGURES", "make_figure"]

SEED = 20250101


def make_figure(name: str, venue: str = "icml") -> Figure:
    """Compute and draw a figure of the registry.

    Parameters
    ----------
    name : str
        A key of `FIGURES`.
    venue : str
        Whose column width to take, a key of `reweight.plots.style.VENUES`.

    Returns
    -------
    Figure
        A block for a report: a matplotlib figure without a title, its caption, and its description.

    Raises
    ------
    InputError
        If there is no figure of that name, or no such venue.

    Examples
    --------
    >>> make_figure("weight_curve").name
    'weight_curve'
    """
    if name not in FIGURES:
        raise InputError(f"there is no figure {name!r}; choose one of {', '.join(FIGURES)}")
    with style.use(venue):
        block = FIGURES[name](venue)
        # Ticks are made at the first drawing, and take their letters from the style that holds then.
        block.figure.draw_without_rendering()
    return block


def _weight_curve(venue: str) -> Figure:
    figure, (axes,) = style.subplots(venue)
    weight_curve(axes, weight_curve_data())
    return Figure(
        figure,
        "weight_curve",
        "Expected advantage of a correct answer minus that of a wrong one, Δ(p), in groups of G, when advantages are "
        "divided by the group's standard deviation (ddof 0, no eps). It never exceeds √(G−1), its limit at rare "
        "successes; the textbook 1/√(p(1−p)) is the limit of infinite groups. For G = 2 and 3 the division changes "
        "nothing but a constant.",
        "Curves of the gap against the pass rate for group sizes 2 to 64: each is symmetric, lowest at one half, and "
        "flat towards 0 and 1 at the square root of G minus 1, below the dashed curve for infinite groups.",
    )


def _discovery_ceiling(venue: str) -> Figure:
    figure, (axes,) = style.subplots(venue)
    data = discovery_ceiling_data(np.random.default_rng(SEED))
    discovery_ceiling(axes, data)
    found = sum(data.found)
    return Figure(
        figure,
        "discovery_ceiling",
        f"Probability of a correct answer y that has not been sampled yet, in {len(data.paths)} sampled runs (G = 4, "
        "η = 1, base probabilities .01 for y, .001 and .189 for two other correct answers, .8 for the wrong one); "
        f"{found} runs draw y within {len(data.largest) - 1} updates. No sequence of groups without y lifts it above "
        "the black line, found by visiting them all; it stays below both ceilings.",
        "Thin paths of the probability, most of them falling, under a black line that rises from 0.01 to just below "
        "the horizontal ceiling at 0.05, and under the steeper exponential ceiling.",
    )


def _tilt_gain(venue: str) -> Figure:
    figure, (axes,) = style.subplots(venue)
    data = tilt_gain_data()
    tilt_gain(axes, data)
    return Figure(
        figure,
        "tilt_gain",
        "Largest gain in pass rate under a penalty β KL(π‖π₀), rewards 0 and 1, against the base pass rate Q. "
        f"Contours: gain 0.1, 0.5, 0.9. Hatched: the gain is below {data.threshold:g} for certain, for want of base "
        "mass or of room. Red: the base pass rate with the largest gain at each β, and on the right that gain, "
        "tanh(1/(4β)).",
        "Map of the gain over base pass rate and beta: a dark region below, where beta is small and the pass rate "
        "between the two hatched zones; the line of the largest gain moves to smaller pass rates as beta falls.",
    )


def _simplex_portrait(venue: str) -> Figure:
    figure, (left, right) = style.subplots(venue, columns=2, height=0.52)
    data = simplex_portrait_data()
    simplex_portrait(left, data.tilt, data.shares, "TILT")
    simplex_portrait(right, data.gradient, data.shares, "PG")
    return Figure(
        figure,
        "simplex_portrait",
        "Two correct answers a and b and a wrong one, from base pass rate 0.1 (small dots) to the end of training "
        "(large dots); height is the pass rate. The natural gradient (TILT) keeps the base's odds between a and b; "
        "the plain gradient (PG) gives all to the one that the base prefers, and shares only an exact tie.",
        "Two triangles with the wrong answer below. Left: straight lines fan out from below and end all along the "
        "upper edge. Right: curved lines end in the two upper corners, but for one straight line in the middle.",
    )


FIGURES: dict[str, Callable[[str], Figure]] = {
    "weight_curve": _weight_curve,
    "discovery_ceiling": _discovery_ceiling,
    "tilt_gain": _tilt_gain,
    "simplex_portrait": _simplex_portrait,
}
