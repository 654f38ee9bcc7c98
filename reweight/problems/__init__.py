"""Problems: finite answer sets with rewards."""

from reweight.problems.problem import Problem, ProblemSet

__all__ = ["Problem", "ProblemSet"]
