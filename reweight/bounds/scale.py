"""The divisor of the group advantage, on which every bound about groups depends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reweight.checks import Floats, choice, real, whole

__all__ = ["GroupScale"]


@dataclass(frozen=True)
class GroupScale:
    """A_i = (r_i - mean) / divisor, where the divisor is a function of the group's biased variance.

    `size` is G, an array; `ddof` and `eps` matter for scale "std" only, whose divisor is std + eps.
    """

    size: Floats
    ddof: int
    scale: str
    eps: Floats

    @classmethod
    def checked(cls, group_size: ArrayLike, ddof: int, scale: str, eps: ArrayLike) -> GroupScale:
        """The same, after refusing what no group advantage can be."""
        choice(ddof, "ddof", (0, 1))
        choice(scale, "scale", ("std", "none"))
        size = whole(group_size, "group_size", at_least=2)
        return cls(size, ddof, scale, real(eps, "eps", at_least=0.0))

    @property
    def share(self) -> Floats:
        """(G - 1) / G: the gap without any divisor."""
        return (self.size - 1.0) / self.size

    @property
    def largest_variance(self) -> Floats:
        """Biased variance of the most divided group of zeros and ones: 1/4 for even G, a little less for odd G."""
        half = np.floor(self.size / 2.0)
        return half * (self.size - half) / self.size**2

    @property
    def smallest_variance(self) -> Floats:
        """Biased variance of a group with a single success, or a single failure."""
        return (self.size - 1.0) / self.size**2

    def divisor(self, variance: Floats) -> Floats:
        """What the centred reward is divided by in a group of this biased variance."""
        if self.scale == "none":
            return np.ones_like(variance)
        return np.sqrt(variance * (self.size / (self.size - self.ddof))) + self.eps

    def push(self, variance: Floats) -> Floats:
        """Sum of the positive advantages over G in a zero-one group: variance over divisor, concave and increasing."""
        return variance / self.divisor(variance)

    @property
    def largest_gap(self) -> Floats:
        """Supremum of the gap over pass rates, approached as p tends to 0 or 1."""
        return self.share / self.divisor(self.smallest_variance)

    @property
    def mean_push(self) -> Floats:
        """Cap on p q gap(p) over all p, by Jensen: E[variance] = p q (G - 1) / G is largest at p = 1/2."""
        return self.push(self.share / 4.0)
