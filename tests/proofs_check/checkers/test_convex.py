from __future__ import annotations

from fractions import Fraction

import numpy as np

from proofs_check.checkers.convex import round_to_fractions


def test_rounding() -> None:
    assert round_to_fractions(np.array([0.1, 2 / 3]), 100) == [Fraction(1, 10), Fraction(2, 3)]
