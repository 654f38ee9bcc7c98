"""Problems: finite answer sets with rewards."""

from reweight.problems.problem import Problem, ProblemSet
from reweight.problems.verifier import Verifier

__all__ = ["Problem", "ProblemSet", "Verifier"]
