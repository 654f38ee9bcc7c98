"""The curl of the expected direction: known values, closedness proved, and finite differences."""

from fractions import Fraction

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.groups.potential import is_gradient
from reweight.groups.radicals import RadicalSum, square_root
from reweight.groups.weights import group_weights
from reweight.objectives import Advantage

HALF = Fraction(1, 2)


@pytest.mark.parametrize("levels", [[0, HALF, 1], [0, Fraction(1, 10), 1], [-3, 2, 7]])
def test_groups_of_two_have_curl_two(levels):
    found = is_gradient(levels, 2, Advantage())
    assert not found
    assert found.curl[0, 1] == RadicalSum.of(2)
    assert "curl" in str(found)


@pytest.mark.parametrize("middle", [Fraction(1, 4), HALF, Fraction(1, 7)])
def test_groups_of_three(middle):
    masses = [HALF * (1 - middle), middle, HALF * (1 - middle)]
    found = is_gradient([0, HALF, 1], 3, Advantage(), masses)
    wanted = square_root(6) - square_root(6) * 3 * middle + square_root(2) * 6 * middle
    assert found.curl[0, 1] == wanted
    assert found.curl[1, 0] == -wanted


@pytest.mark.parametrize("advantage", [Advantage(scale="none"), Advantage("leave_one_out", "none")])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_without_a_scale_it_is_a_gradient(advantage, size):
    found = is_gradient([0, Fraction(1, 3), HALF, 1], size, advantage)
    assert found.is_gradient
    assert not any(found.curl.ravel())


def test_binary_rewards_have_an_objective():
    assert is_gradient([0, 1, 1, 0], 8, Advantage(ddof=1, eps=1e-4))
    assert is_gradient([1, 1], 8, Advantage())


@pytest.mark.parametrize(("size", "advantage"), [(4, Advantage()), (3, Advantage(ddof=1, eps=0.25))])
def test_the_curl_is_that_of_finite_differences(size, advantage):
    levels, masses = [0.0, 0.2, 0.5, 1.0], np.array([0.1, 0.2, 0.3, 0.4])
    found = is_gradient(levels, size, advantage, [Fraction(1, 10), Fraction(1, 5), Fraction(3, 10), Fraction(2, 5)])
    assert not found
    step = 1e-5

    def one_form(point):
        weights = group_weights(levels, point, size, advantage)
        return weights[:-1] - weights[-1]

    def moved(k, by):
        point = masses.copy()
        point[k] += by
        point[-1] -= by
        return one_form(point)

    jacobian = np.array([(moved(k, step) - moved(k, -step)) / (2 * step) for k in range(3)])
    np.testing.assert_allclose(found.curl.astype(float), jacobian - jacobian.T, atol=1e-7)
    assert found.to_dict()["is_gradient"] is False


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: is_gradient([0, 1, 2], 1, Advantage("none", "none")), "compares nothing"),
        (lambda: is_gradient(list(range(9)), 16, Advantage()), "smaller group"),
        (lambda: is_gradient([0, 1, 2], 3, Advantage(), [HALF, HALF]), "give one each"),
        (lambda: is_gradient([0, 1, 2], 3, Advantage("batch_mean")), "couples prompts"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
