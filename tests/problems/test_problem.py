"""Problems: what is understood of rewards, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.problems import Problem, ProblemSet


def test_the_larger_of_two_rewards_is_correct():
    assert Problem([1, -1, -1]).correct.tolist() == [True, False, False]
    assert Problem([Fraction(1, 3), Fraction(1, 2)]).correct.tolist() == [False, True]


def test_more_or_fewer_than_two_rewards_need_a_word():
    for rewards in ([1, 0.5, 0], [1, 1]):
        problem = Problem(rewards)
        assert not problem.has_correct_set
        with pytest.raises(InputError, match="correct="):
            _ = problem.correct
    assert Problem([1, 0.5, 0], correct=[True, True, False]).correct.sum() == 2


def test_a_problem_cannot_be_changed():
    problem = Problem([1, 0])
    with pytest.raises(ValueError, match="read-only"):
        problem.rewards[0] = 5
    with pytest.raises(AttributeError):
        problem.prompt = 3


def test_a_set_numbers_its_prompts_and_normalises_weights():
    prompts = ProblemSet([Problem([1, 0], lengths=[3, 4]), Problem([1, 0.5, 0], correct=[True, False, False])], [1, 3])
    assert [problem.prompt for problem in prompts] == [0, 1]
    assert prompts.weights.tolist() == [0.25, 0.75]
    assert len(prompts) == 2
    assert prompts.problems[0].lengths.tolist() == [3.0, 4.0]
    assert prompts.problems[1].correct.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Problem([]), "at least one"),
        (lambda: Problem([[[1, 0]]]), "one reward an answer"),
        (lambda: Problem(["a", "b"]), "not a number"),
        (lambda: Problem([1, float("nan")]), "not finite"),
        (lambda: Problem([1, 0], answers=["x"]), "one name a reward"),
        (lambda: Problem([1, 0], lengths=[1]), "one length an answer"),
        (lambda: Problem([1, 0], lengths=[1, 0]), "positive number of tokens"),
        (lambda: Problem([1, 0], lengths=[1.5, 1]), "give whole numbers from 1 on"),
        (lambda: Problem([1, 0], correct=[1, 0]), "one bool an answer"),
        (lambda: Problem([1, 0], correct=[True]), "one bool an answer"),
        (lambda: ProblemSet([]), "at least one problem"),
        (lambda: ProblemSet([Problem([1, 0])], [1, 2]), "one weight a problem"),
        (lambda: ProblemSet([Problem([1, 0])], [0]), "not all zero"),
        (lambda: ProblemSet([Problem([1, 0])], [float("nan")]), "finite"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_object_rewards_keep_their_fractions():
    assert Problem(np.array([Fraction(1, 3), Fraction(0)], dtype=object)).rewards[0] == Fraction(1, 3)
