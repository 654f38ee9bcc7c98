"""Two convex programs over the simplex, proposed by a solver and certified by balls on both sides.

Clarabel proposes a policy and a multiplier. Both are rounded to rationals: the policy is then feasible exactly, and the
dual function at the multiplier bounds the optimum from the other side whatever the multiplier is. So the optimum lies
between two balls, and how far the solver was off shows in their distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofs_check.checkers.convex import round_to_fractions, solver
from proofs_check.sampled_tree import ball

__all__ = ["Certified", "divergence", "largest_penalised_reward", "smallest_divergence"]

Policy = tuple[Fraction, ...]


@dataclass(frozen=True)
class Certified:
    """A feasible policy, its value, and a bound on the value of every feasible policy.

    Value and bound are balls at the caller's precision; `multiplier` is the dual variable from which the bound follows.
    """

    policy: Policy
    value: Any
    bound: Any
    multiplier: Fraction


def divergence(policy: Sequence[Fraction], base: Sequence[Fraction]) -> Any:
    """KL(policy || base) as a ball, in nats; answers without mass in the policy contribute nothing.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> str(divergence((Fraction(1), Fraction(0)), (half, half)).str(6, radius=False))
    '0.693147'
    """
    return sum(
        (ball(mass) * ball(mass / start).log() for mass, start in zip(policy, base, strict=True) if mass), ball(0)
    )


def largest_penalised_reward(rewards: Sequence[Fraction], base: Policy, beta: Fraction) -> Certified:
    """Maximise E[r] - beta KL(pi || base).

    For every number m, E[r] - beta KL(pi || base) <= m + beta sum base e^{(r - m)/beta - 1}, answer by answer.
    """
    import numpy as np

    cvxpy = solver()
    values, start = (np.array([float(x) for x in table]) for table in (rewards, base))
    policy = cvxpy.Variable(len(base))
    total = cvxpy.sum(policy) == 1
    objective = values @ policy - float(beta) * cvxpy.sum(cvxpy.rel_entr(policy, start))
    cvxpy.Problem(cvxpy.Maximize(objective), [total]).solve(solver=cvxpy.CLARABEL)
    masses = _normalised(policy.value)
    # The sign of an equality's multiplier is the solver's convention; the bound is valid for either, one is good.
    bounds = [(sign * m, _reward_bound(rewards, base, beta, sign * m)) for m in _rounded(total) for sign in (1, -1)]
    multiplier, bound = min(bounds, key=lambda pair: float(pair[1]))
    reward = sum((mass * value for mass, value in zip(masses, rewards, strict=True)), Fraction(0))
    return Certified(masses, ball(reward) - ball(beta) * divergence(masses, base), bound, multiplier)


def smallest_divergence(base: Policy, correct: Sequence[bool], pass_rate: Fraction) -> Certified:
    """Minimise KL(pi || base) over the policies of a given pass rate.

    For every number m, KL(pi || base) >= m p - log E_base[e^{m 1(correct)}] (Donsker and Varadhan).
    """
    import numpy as np

    cvxpy = solver()
    policy = cvxpy.Variable(len(base))
    start, right = np.array([float(x) for x in base]), np.array(correct, dtype=float)
    meets = right @ policy == float(pass_rate)
    problem = cvxpy.Problem(
        cvxpy.Minimize(cvxpy.sum(cvxpy.rel_entr(policy, start))), [meets, (1 - right) @ policy == 1 - float(pass_rate)]
    )
    problem.solve(solver=cvxpy.CLARABEL)
    masses = _normalised(policy.value, correct, pass_rate)
    share = sum((mass for mass, c in zip(base, correct, strict=True) if c), Fraction(0))
    # The program has one multiplier for each side; what enters the bound is their difference.
    difference = float(problem.constraints[0].dual_value - problem.constraints[1].dual_value)
    bounds = []
    for multiplier in round_to_fractions([difference, -difference]):
        moment = 1 - ball(share) + ball(share) * ball(multiplier).exp()
        bounds.append((multiplier, ball(multiplier * pass_rate) - moment.log()))
    multiplier, bound = max(bounds, key=lambda pair: float(pair[1]))
    return Certified(masses, divergence(masses, base), bound, multiplier)


def _rounded(constraint: Any) -> list[Fraction]:
    return round_to_fractions([constraint.dual_value], 10**9)


def _reward_bound(rewards: Sequence[Fraction], base: Policy, beta: Fraction, multiplier: Fraction) -> Any:
    terms = (ball(mass) * ball((r - multiplier) / beta - 1).exp() for r, mass in zip(rewards, base, strict=True))
    return ball(multiplier) + ball(beta) * sum(terms, ball(0))


def _normalised(masses: Any, correct: Sequence[bool] | None = None, pass_rate: Fraction = Fraction(1)) -> Policy:
    """Positive fractions that sum to one exactly, and to the pass rate over the correct answers if they are named."""
    rounded = [max(Fraction(1, 10**12), mass) for mass in round_to_fractions(masses, 10**9)]
    right = [True] * len(rounded) if correct is None else list(correct)
    target = {True: pass_rate, False: 1 - pass_rate}
    sums = {kind: sum((m for m, c in zip(rounded, right, strict=True) if c is kind), Fraction(0)) for kind in target}
    return tuple(m * target[kind] / sums[kind] for m, kind in zip(rounded, right, strict=True))
