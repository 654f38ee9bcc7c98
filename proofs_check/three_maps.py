"""The support theorem on TILT, PG and S-PG side by side, computed from exact runs of one small problem.

Two correct answers, a rare one y and a common one, and a wrong one. TILT and PG have one path, followed with the
library's updates; S-PG has many, followed all with their probabilities (`proofs_check.sampled_tree`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from proofs_check import sampled_tree as tree
from reweight.objectives.advantage import Advantage

__all__ = ["BASE", "GROUP_SIZE", "REWARDS", "STEP", "STEPS", "Evidence", "reverse_kl_optimum", "side_by_side"]

BASE = (Fraction(1, 100), Fraction(19, 100), Fraction(80, 100))
REWARDS = (Fraction(1), Fraction(1), Fraction(0))
GROUP_SIZE = 4
STEP = Fraction(1)
STEPS = 5
LONG = {"Tilt": 20, "PolicyGradient": 400}
"""Steps after which each map has all but reached its limit."""
RARE = 0
ROUNDING = 1e-12
SUPPORT_THRESHOLD = Fraction(2, 100)


@dataclass(frozen=True)
class Evidence:
    """One statement, its claims, and what TILT, PG and S-PG (in this order) do about it in the exact runs."""

    statement: str
    claim: str
    found: tuple[str, ...]


def side_by_side() -> tuple[Evidence, ...]:
    """Run the three maps and say, statement by statement, what was found.

    Examples
    --------
    >>> [row.claim for row in side_by_side()]
    ['C57', 'C58', 'C24, C25', 'C28, C29', 'C65']
    """
    tilt, gradient = (_path(name, BASE, steps) for name, steps in LONG.items())
    drawn = _sampled()
    rate = float(sum(BASE[:2]))
    share, ceiling, threshold = _share(tilt[0]), float(BASE[RARE]) / rate, float(SUPPORT_THRESHOLD)
    zeros = [_zero(name) for name in (*LONG, "SampledPolicyGradient")]
    highest = [max(policy[RARE] for policy in path) for path in (tilt, gradient)]
    ends = [_share(path[-1]) for path in (tilt, gradient)]
    rates = [[policy[:2].sum() for policy in path] for path in (tilt, gradient)]
    after = [f"after {len(path) - 1} steps" for path in (tilt, gradient)]
    return (
        Evidence("an exact zero stays zero", "C57", tuple(_says(zero == 0, f"pi(y) = {zero:g}") for zero in zeros)),
        Evidence(
            f"pi_t(y) <= pi_0(y)/p_0 = {ceiling:.4g} (S-PG: while y is unsampled)",
            "C58",
            (
                *(_says(top <= ceiling + ROUNDING, f"at most {top:.4f}") for top in highest),
                _says(drawn.unsampled <= ceiling, f"at most {drawn.unsampled:.4f}; once sampled {drawn.highest:.4f}"),
            ),
        ),
        Evidence(
            f"the share of y among the correct answers stays {share:.4g}",
            "C24, C25",
            (
                *(_says(abs(e - share) <= ROUNDING, f"{e:.4f} {when}") for e, when in zip(ends, after, strict=True)),
                _says(
                    drawn.least_share == drawn.largest_share, f"{drawn.least_share:.4f} to {drawn.largest_share:.4f}"
                ),
            ),
        ),
        Evidence(
            f"the pass rate never falls (from {rate:.4g})",
            "C28, C29",
            (
                *(
                    _says(min(b - a for a, b in pairwise(path)) >= -ROUNDING, f"{path[-1]:.4f} {when}")
                    for path, when in zip(rates, after, strict=True)
                ),
                _says(_signs_agree(), f"on every path; mean {drawn.mean_rate:.4f} after {STEPS} steps"),
            ),
        ),
        Evidence(
            f"what is below {threshold:g} stays below (eps-support)",
            "C65",
            (
                *(_says(top <= threshold, f"y reaches {top:.4f}") for top in highest),
                _says(drawn.crossing == 0, f"crossed with probability {drawn.crossing:.4f} within {STEPS} steps"),
            ),
        ),
    )


def reverse_kl_optimum(beta: float, group_size: int) -> float:
    """The largest stationary pass rate under KL(ref || pi), the gradient of the k3 penalty, with base pass rate 0.

    A root of p = E[group std](p)/beta, where E[group std] = p (1 - p) gap(p); 0 is a root too (R12 of docs/theory.md).

    Examples
    --------
    >>> round(reverse_kl_optimum(0.4, 2), 12)
    0.6
    """
    from scipy.optimize import brentq

    from reweight.groups.binary import gap

    def slope(pass_rate: float) -> float:
        return (1 - pass_rate) * float(gap(pass_rate, group_size, Advantage())) - beta

    tiny = 1e-12
    return float(brentq(slope, tiny, 1 - tiny)) if slope(tiny) > 0 else 0.0


@dataclass(frozen=True)
class _Drawn:
    """S-PG: the largest pi_t(y) while y is unsampled, at any step; the rest is about the last step."""

    unsampled: float
    highest: float
    least_share: float
    largest_share: float
    mean_rate: float
    crossing: float


def _says(holds: bool, what: str) -> str:
    return f"{'holds' if holds else 'FAILS'}: {what}"


def _share(policy: Any) -> float:
    return float(policy[RARE] / policy[:2].sum())


def _signs_agree() -> bool:
    """Whether every group raises correct logits and lowers wrong ones, exactly; then no step lowers the pass rate."""
    moves = [tree.change_of_logits(g, REWARDS, Advantage()) for g, _ in tree.multisets(len(BASE), GROUP_SIZE)]
    return all(c >= 0 if reward else c <= 0 for move in moves for c, reward in zip(move, REWARDS, strict=True))


def _path(update: str, base: tuple[Fraction, ...], steps: int) -> list[Any]:
    import numpy as np

    from reweight import updates
    from reweight.objectives.objective import Objective
    from reweight.policies.flat import FlatPolicy
    from reweight.problems.problem import Problem

    problem, objective = Problem(np.array(REWARDS, dtype=float)), Objective(Advantage(), GROUP_SIZE)
    policy, rule = FlatPolicy.from_probabilities(np.array(base, dtype=float)), getattr(updates, update)(float(STEP))
    path, generator = [policy.log_probs(problem).probabilities], np.random.default_rng(0)
    for _ in range(steps):
        policy = rule.apply(problem, policy, objective, rng=generator)
        path.append(policy.log_probs(problem).probabilities)
    return path


def _zero(update: str) -> float:
    """The probability of y after a run that starts with none."""
    return float(_path(update, (Fraction(0), Fraction(1, 5), Fraction(4, 5)), STEPS)[-1][RARE])


def _sampled() -> _Drawn:
    import numpy as np

    unsampled = 0.0
    for layer in tree.layers(BASE, REWARDS, GROUP_SIZE, Advantage(), STEP, STEPS):
        chances = np.array([float(chance) for chance in layer.values()])
        policies = np.array([_policy(node) for node in layer])
        unsampled = max(unsampled, float(policies[[RARE not in node.sampled for node in layer], RARE].max()))
    rates = policies[:, :2].sum(axis=1)
    shares = policies[:, RARE] / rates
    return _Drawn(
        unsampled,
        float(policies[:, RARE].max()),
        float(shares.min()),
        float(shares.max()),
        float(chances @ rates),
        float(chances[policies[:, RARE] > float(SUPPORT_THRESHOLD)].sum()),
    )


def _policy(node: tree.Node) -> list[float]:
    weights = [float(mass) for mass in tree.masses(BASE, node.changes, STEP)]
    return [weight / sum(weights) for weight in weights]
