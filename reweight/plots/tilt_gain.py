"""What KL-regularised training can gain at best, over base pass rate and beta, with its two dead zones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from reweight.bounds import tilt_gain as gain
from reweight.bounds import tilt_gain_argmax, tilt_gain_bounds, tilt_gain_max
from reweight.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

__all__ = ["TiltGain", "tilt_gain", "tilt_gain_data"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TiltGain:
    """Gains on a grid.

    Attributes
    ----------
    pass_rates : ndarray, shape (Q,)
        Base pass rates, increasing.
    betas : ndarray, shape (B,)
        Weights of the KL penalty in reward units a nat, increasing.
    gains : ndarray, shape (B, Q)
        Pass rate of the optimum minus that of the base.
    best_pass_rates : ndarray, shape (B,)
        Base pass rate with the largest gain, 1 / (1 + e^{1/(2 beta)}).
    largest : ndarray, shape (B,)
        That gain, tanh(1 / (4 beta)).
    threshold : float
        A gain below it counts as none.
    low_mass, saturation : ndarray, shape (B, Q)
        The two bounds on the gain, Q (e^{1/beta} - 1) and 1 - Q.
    """

    pass_rates: Floats
    betas: Floats
    gains: Floats
    best_pass_rates: Floats
    largest: Floats
    threshold: float
    low_mass: Floats
    saturation: Floats


def tilt_gain_data(points: int = 201, threshold: float = 0.01) -> TiltGain:
    """Compute the gains for base pass rates from 1e-12 to 1 - 1e-4 and beta from 0.03 to 3.

    Parameters
    ----------
    points : int
        Number of grid points on each side.
    threshold : float
        A gain below it counts as none.

    Returns
    -------
    TiltGain
        Gains, their maximum and the dead zones (C48, C49).

    Examples
    --------
    >>> data = tilt_gain_data(points=3)
    >>> data.gains.shape, data.largest.round(3).tolist()
    ((3, 3), [1.0, 0.682, 0.083])
    """
    pass_rates = expit(np.linspace(logit(1e-12), -logit(1e-4), points))
    betas = np.geomspace(0.03, 3.0, points)
    bounds = tilt_gain_bounds(pass_rates[None, :], betas[:, None])
    low_mass, saturation = np.broadcast_arrays(bounds.low_mass, bounds.saturation)
    return TiltGain(
        pass_rates=pass_rates,
        betas=betas,
        gains=gain(pass_rates[None, :], betas[:, None]),
        best_pass_rates=tilt_gain_argmax(betas),
        largest=tilt_gain_max(betas),
        threshold=threshold,
        low_mass=low_mass,
        saturation=saturation,
    )


def tilt_gain(axes: Axes, data: TiltGain) -> list[Artist]:
    """Draw the gain as shades, the dead zones as hatching, and the line of the largest gain.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw; its scales are set here.
    data : TiltGain
        What to draw.

    Returns
    -------
    list of Artist
        Shades, zones, lines and labels.
    """
    axes.set_xscale("logit")
    axes.set_yscale("log")
    grid = data.pass_rates, data.betas
    artists: list[Artist] = [
        axes.pcolormesh(*grid, data.gains, cmap="Blues", vmin=0, vmax=1.4, shading="gouraud", rasterized=True)
    ]
    for bound in (data.low_mass, data.saturation):
        edge = float(np.log10(data.threshold))
        zone = axes.contourf(*grid, np.log10(bound), levels=[-np.inf, edge], colors="none", hatches=["////"])
        zone.set(edgecolor=style.GREY, linewidth=0)
        artists += [zone, axes.contour(*grid, np.log10(bound), levels=[edge], colors=style.GREY, linewidths=0.6)]
    lines = axes.contour(*grid, data.gains, levels=[0.1, 0.5, 0.9], colors=style.BLACK, linewidths=0.5)
    artists += [lines, *axes.clabel(lines, fmt="%g", fontsize=6)]
    artists += axes.plot(data.best_pass_rates, data.betas, color=style.RED)
    _label(axes, data, artists)
    _largest_gain_axis(axes)
    return artists


def _label(axes: Axes, data: TiltGain, artists: list[Artist]) -> None:
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    low = f"too little base mass:\n$Q\\,(e^{{1/\\beta}}-1)<{data.threshold:g}$"
    artists.append(axes.text(1e-8, 0.7, low, ha="center", va="center", bbox=box, linespacing=1.4))
    saturated = f"saturated: $1-Q<{data.threshold:g}$"
    artists.append(axes.text(1 - 1e-3, 0.3, saturated, ha="center", va="center", rotation=90, bbox=box))
    ticks = [1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 0.5, 0.99]
    names = ["$10^{-12}$", "", "$10^{-8}$", "", "$10^{-4}$", "", "0.5", "0.99"]
    axes.set_xticks(ticks, names)
    axes.set_xticks([], minor=True)
    axes.set_yticks([0.03, 0.1, 0.3, 1, 3], ["0.03", "0.1", "0.3", "1", "3"])
    axes.set_yticks([], minor=True)
    axes.set_xlabel("base pass rate $Q$ (log-odds scale)")
    axes.set_ylabel(r"KL weight $\beta$")


def _largest_gain_axis(axes: Axes) -> None:
    """Read the height of the ridge at the right: each beta has its largest gain."""
    twin = axes.twinx()
    twin.set_yscale("log")
    twin.set_ylim(axes.get_ylim())
    gains = np.array([0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999])
    twin.set_yticks(1.0 / (4.0 * np.arctanh(gains)), [f"{value:g}" for value in gains])
    twin.set_yticks([], minor=True)
    twin.spines["right"].set_visible(True)
    twin.spines["right"].set_color(style.RED)
    twin.tick_params(colors=style.RED)
    twin.set_ylabel(r"largest gain $\tanh(1/4\beta)$", color=style.RED)
