"""Clipped surrogates: published cases, and the slope as a derivative."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reweight.errors import InputError
from reweight.objectives import Clip, surrogate

PLAIN, DUAL, HIGH = Clip(0.2, 0.2), Clip(0.2, 0.2, dual=3.0), Clip(0.2, 0.28)


@pytest.mark.parametrize(
    ("ratio", "advantage", "clip", "value", "slope"),
    [
        (10, -1, PLAIN, -10, -1),
        (10, -1, DUAL, -3, 0),
        (0.5, -1, PLAIN, -0.8, 0),
        (0.5, -1, DUAL, -0.8, 0),
        (1.5, 1, PLAIN, 1.2, 0),
        (1.5, 1, DUAL, 1.2, 0),
        (1.5, 1, HIGH, 1.28, 0),
        (1.25, 1, PLAIN, 1.2, 0),
        (1.25, 1, HIGH, 1.25, 1),
        (0.5, 1, PLAIN, 0.5, 1),
        (5, 2, PLAIN, 2.4, 0),
        (5, 2, HIGH, 2.56, 0),
        (5, 2, None, 10, 2),
    ],
)
def test_published_cases(ratio, advantage, clip, value, slope):
    found = surrogate(ratio, advantage, clip)
    assert float(found[0]) == pytest.approx(value, abs=1e-15)
    assert float(found[1]) == slope


@given(st.floats(0.01, 20), st.floats(-5, 5), st.sampled_from([PLAIN, DUAL, HIGH]))
def test_slope_is_the_derivative_away_from_kinks(ratio, advantage, clip):
    kinks = [1 - clip.low, 1 + clip.high, *([clip.dual] if clip.dual else [])]
    assume(min(abs(ratio - kink) for kink in kinks) > 1e-3)
    step = 1e-6
    rise = surrogate(ratio + step, advantage, clip)[0] - surrogate(ratio - step, advantage, clip)[0]
    assert float(surrogate(ratio, advantage, clip)[1]) == pytest.approx(float(rise) / (2 * step), abs=1e-7)


@given(st.floats(0, 20), st.floats(-5, 5), st.floats(0.1, 3))
def test_surrogate_is_homogeneous_in_the_advantage(ratio, advantage, factor):
    value, slope = surrogate(ratio, advantage, DUAL)
    scaled = surrogate(ratio, factor * advantage, DUAL)
    np.testing.assert_allclose(scaled, (factor * value, factor * slope), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("fields", [(-0.1, 0.2), (1.2, 0.2), (0.2, -1.0), (0.2, float("inf")), (0.2, "wide")])
def test_impossible_ranges_are_refused(fields):
    with pytest.raises(InputError):
        Clip(*fields)
    with pytest.raises(InputError):
        Clip(0.2, 0.2, dual=1.0)
