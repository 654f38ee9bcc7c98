"""The speed limit against exact tilts of the pass rate."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from reweight.bounds import speed_limit
from reweight.errors import InputError
from reweight.measures import fisher_rao

SETTINGS = [(0, "std", 0.0), (1, "std", 0.0), (0, "std", 0.1), (1, "std", 0.5), (0, "none", 0.0)]
LOGITS = np.linspace(-12, 12, 481)


def rate(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-logits))


def gaps(p: NDArray[np.float64], size: int, ddof: int, scale: str, eps: float) -> NDArray[np.float64]:
    """Gap as the mean over the number of successes of variance / divisor, over p q."""
    total = np.zeros_like(p)
    for wins in range(1, size):
        variance = wins * (size - wins) / size**2
        divisor = math.sqrt(variance * size / (size - ddof)) + eps if scale == "std" else 1.0
        total += math.comb(size, wins) * p ** (wins - 1) * (1 - p) ** (size - wins - 1) * variance / divisor
    return total


def turned(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """arcsin sqrt(p) after minus before, through the arc tangent of the root of the odds."""
    return np.arctan(np.exp(after / 2)) - np.arctan(np.exp(before / 2))


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("size", [2, 3, 8, 16, 64])
def test_one_finite_step_obeys_the_limit(setting: tuple[int, str, float], size: int) -> None:
    ddof, scale, eps = setting
    for step in (0.01, 0.1, 0.5, 1.0, 5.0):
        after = LOGITS + step * gaps(rate(LOGITS), size, *setting)
        limit = float(speed_limit(step, size, step=step, ddof=ddof, scale=scale, eps=eps))
        assert turned(LOGITS, after).max() <= limit * (1 + 1e-12)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("size", [2, 3, 8, 16, 64])
def test_the_flow_obeys_its_limit(setting: tuple[int, str, float], size: int) -> None:
    from scipy.integrate import solve_ivp

    ddof, scale, eps = setting

    def velocity(_: float, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        return gaps(rate(logits), size, *setting)

    for time in (0.1, 1.0, 2.0):
        path = solve_ivp(velocity, (0, time), LOGITS[::24], rtol=1e-10, atol=1e-10)
        limit = float(speed_limit(time, size, ddof=ddof, scale=scale, eps=eps))
        assert turned(LOGITS[::24], path.y[:, -1]).max() <= limit * (1 + 1e-9)


@pytest.mark.parametrize(("size", "excess"), [(8, [0.992, 0.994, 1.03, 1.08]), (16, [0.999, 1.01, 1.14, 1.33])])
def test_finite_steps_exceed_the_flow_by_the_published_factors(size: int, excess: list[float]) -> None:
    fine = np.linspace(-25, 10, 20001)
    for step, factor in zip((0.01, 0.1, 0.5, 1.0), excess, strict=True):
        after = fine + step * gaps(rate(fine), size, 0, "std", 0.0)
        worst = turned(fine, after).max() / float(speed_limit(step, size))
        assert worst == pytest.approx(factor, abs=5e-3)


def test_flow_limit_is_sharp_as_groups_grow() -> None:
    p = np.array([0.3])
    for size, slack in ((16, 0.05), (256, 0.003)):
        speed = math.sqrt(0.21) * gaps(p, size, 0, "std", 0.0)[0] / 2
        assert (1 - slack) < speed / float(speed_limit(1.0, size)) < 1


def test_published_values() -> None:
    sizes = np.array([2, 8, 64])
    share = (sizes - 1) / sizes
    np.testing.assert_allclose(speed_limit(3.0, sizes), 1.5 * np.sqrt(share), rtol=1e-15)
    np.testing.assert_allclose(speed_limit(3.0, sizes, ddof=1), 1.5 * share, rtol=1e-15)
    np.testing.assert_allclose(speed_limit(3.0, sizes, scale="none"), 0.75 * share, rtol=1e-15)
    x = 0.2 * math.sqrt(7) / 2
    expected = math.expm1(x) / x * 0.1 * math.sqrt(7 / 8)
    assert float(speed_limit(0.2, 8, step=0.2)) == pytest.approx(expected, rel=1e-14)


def test_limit_is_half_the_fisher_rao_distance() -> None:
    before, after = 0.1, 0.25
    angle = float(turned(np.log([1 / 9]), np.log([1 / 3]))[0])
    assert float(fisher_rao([after, 1 - after], [before, 1 - before])) == pytest.approx(2 * angle, rel=1e-14)


def test_edges() -> None:
    assert speed_limit(0.0, 8, step=1e5) == 0.0
    assert speed_limit(1.0, 8, step=1e5) == np.inf
    assert speed_limit(2.0, 8, step=0.0) == speed_limit(2.0, 8)
    assert speed_limit(np.ones((3, 1)), [2, 8]).shape == (3, 2)


@pytest.mark.parametrize(
    ("time", "size", "step", "message"),
    [(-1.0, 8, None, "time"), (float("nan"), 8, None, "time"), (1.0, 1, None, "group_size"), (1.0, 8, -0.1, "step")],
)
def test_bad_input_is_refused(time: float, size: int, step: float | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        speed_limit(time, size, step=step)
