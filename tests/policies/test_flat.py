"""The table policy keeps the contract: log-probabilities, pull-back, replacement, tilt."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reweight import testing
from reweight.errors import InputError
from reweight.policies.flat import FlatPolicy
from reweight.policies.policy import Policy
from reweight.problems import Problem, ProblemSet


@given(st.data())
def test_pull_back_is_the_gradient_of_the_weighted_log_probabilities(data):
    problem = data.draw(testing.problems())
    policy = data.draw(testing.policies(problem))
    coefficients = np.array(data.draw(st.lists(st.floats(-3, 3), min_size=len(problem), max_size=len(problem))))
    step = 1e-6

    def value(parameters):
        return coefficients @ policy.replace(parameters).log_probs(problem).total

    units = np.eye(len(policy.parameters))
    numeric = [(value(policy.parameters + step * u) - value(policy.parameters - step * u)) / (2 * step) for u in units]
    np.testing.assert_allclose(policy.pull_back(problem, coefficients), numeric, atol=1e-7)
    np.testing.assert_array_equal(
        policy.pull_back(problem, coefficients[:, None]), policy.pull_back(problem, coefficients)
    )


def test_pull_back_of_some_answers_adds_repeats():
    problem, policy = Problem([1, 0, 0]), FlatPolicy.from_probabilities([0.5, 0.3, 0.2])
    chosen = np.array([2, 0, 2])
    whole = policy.pull_back(problem, np.array([0.5, 0.0, 3.0]))
    np.testing.assert_allclose(policy.pull_back(problem, np.array([1.0, 0.5, 2.0]), chosen), whole, atol=1e-15)
    np.testing.assert_array_equal(policy.log_probs(problem, chosen).total, policy.log_probs(problem).total[chosen])


def test_rows_of_a_set_do_not_touch_each_other():
    first, second = ProblemSet([Problem([1, 0]), Problem([1, 0, 0])])
    policy = FlatPolicy.from_probabilities([[0.25, 0.75], [0.5, 0.25, 0.25]])
    gradient = policy.pull_back(second, np.array([1.0, 0.0, 0.0]))
    assert (gradient[:2] == 0).all()
    tilted = policy.tilt(second, np.array([1.0, 0.0, 0.0]))
    np.testing.assert_array_equal(tilted.log_probs(first).total, policy.log_probs(first).total)


@given(st.data())
def test_tilt_multiplies_and_normalises(data):
    problem = data.draw(testing.problems())
    policy = data.draw(testing.policies(problem))
    exponents = np.array(data.draw(st.lists(st.floats(-30, 30), min_size=len(problem), max_size=len(problem))))
    expected = policy.log_probs(problem).probabilities * np.exp(exponents)
    found = policy.tilt(problem, exponents).log_probs(problem).probabilities
    np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-11)


def test_exact_zeros_stay_and_tiny_probabilities_survive():
    problem, policy = Problem([1, 0, 0]), FlatPolicy.from_probabilities([0.0, 1e-300, 1.0])
    assert policy.log_probs(problem).probabilities[0] == 0
    assert policy.tilt(problem, np.array([700.0, 0.0, 0.0])).log_probs(problem).probabilities[0] == 0
    assert policy.log_probs(problem).probabilities[1] == pytest.approx(1e-300, rel=1e-12)
    assert isinstance(policy, Policy)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.5, 0.6], "sum to 1 .* got 1.1"),
        ([1.5, -0.5], "at least 0 .* got 1.5"),
        ([float("nan"), 1.0], "got nan"),
        ([float("inf"), 1.0], "got inf"),
        ([[]], "at least one answer"),
    ],
)
def test_what_is_no_distribution_is_refused(row, message):
    with pytest.raises(InputError, match=message):
        FlatPolicy.from_probabilities(row)


def test_an_empty_list_is_refused():
    with pytest.raises(InputError, match="at least one answer"):
        FlatPolicy.from_probabilities([])


def test_shapes_must_fit():
    policy = FlatPolicy.from_probabilities([0.5, 0.5])
    with pytest.raises(InputError, match="one probability an answer"):
        policy.log_probs(Problem([1, 0, 0]))
    with pytest.raises(InputError, match="a row a prompt"):
        policy.log_probs(ProblemSet([Problem([1, 0]), Problem([1, 0])]).problems[1])
    with pytest.raises(InputError, match="parameters have shape"):
        policy.replace(np.zeros(3))
