"""One sampled step moves no log-probability, and no log-odds of any set, by more than eta.

Statement: |log pi'(y)/pi(y)| <= eta; <= eta/2 if y is not in the group; |change of logit pi(C)| <= eta for every set C.
    Sharp: eta is reached by one correct and one wrong answer that split an even group.
Map: S-PG (flat softmax, sampled policy gradient, one inner step, one group).
Hypotheses: group-mean baseline and group standard deviation (ddof 0), any real rewards, no KL term.
Verdict and domain: PROVED for all N, all G, all rewards and all step sizes.
Source: R05, C27 (docs/theory.md).
Why it matters: moving a pass rate from a to b takes at least (logit b - logit a)/eta updates of its prompt, whatever
    the luck; a faster curve in a log means that something other than this update was at work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from proofs_check import sampled_tree as tree
from proofs_check.checkers import property as property_search
from proofs_check.checkers import rational, smt, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome, conjunction, unknown
from reweight.groups.radicals import RadicalSum
from reweight.objectives.advantage import Advantage

STANDARD = Advantage()
HALF = Fraction(1, 2)
LEVELS = (Fraction(0), HALF, Fraction(1))
ROUNDING = 1e-9


@dataclass(frozen=True)
class StepBounds:
    """Bounds in units of eta, as multiples of 1/4."""

    ratio: Fraction = Fraction(1)
    unsampled: Fraction = HALF
    log_odds: Fraction = Fraction(1)
    advantage: Advantage = STANDARD
    levels: tuple[Fraction, ...] = LEVELS

    def powers(self) -> dict[str, tuple[int, int]]:
        """For each bound the claimed power of e^{eta/4}, and the one that the extreme logits reach."""
        claimed = {"ratio": (self.ratio, 4), "unsampled": (self.unsampled, 2), "log-odds": (self.log_odds, 4)}
        return {name: (int(4 * value), reached) for name, (value, reached) in claimed.items()}


def check_symbolic(bounds: StepBounds) -> Outcome:
    """Half the absolute advantages bound every push; a normaliser lies between the extremes of what it averages.

    The extremes are approached (log-odds: reached) by one correct and one wrong answer that split an even group, the
    former with little mass: a power below the extreme one is therefore refuted, not merely unproven.
    """
    import sympy

    if bounds.advantage != STANDARD:
        return unknown("the argument is about the group mean and the group standard deviation")
    size, a, absolute, g = sympy.symbols("G a M g", positive=True)

    def parts() -> Iterator[Outcome]:
        yield symbolic.identity(
            sympy.expand((a - 1) ** 2) - (a**2 - 2 * a + 1),
            "all G",
            "sum (|A_i| - 1)^2 = sum A_i^2 - 2 sum |A_i| + G, and sum A_i^2 = G, so sum |A_i| <= G",
        )
        yield symbolic.nonnegative_terms(
            [("half the sum minus a push", HALF - (size / (size + absolute)) / 2)],
            "all G, all rewards",
            "sum A_i = 0: the positive A_i add up to (sum |A_i|)/2 <= G/2, so |change of a logit| <= eta/2",
            least={size: 2, absolute: 0},
        )
        terms = [(name, g**claimed - g**reached) for name, (claimed, reached) in bounds.powers().items()]
        yield symbolic.nonnegative_terms(
            terms,
            "all N, all step sizes",
            "with g = e^{eta/4}: e^{change} in [g^-2, g^2], so has each of its averages, among them Z",
            least={g: 1},
        )

    return conjunction(parts(), "all N, all G, all rewards, all step sizes")


def check_smt(bounds: StepBounds) -> Outcome:
    """Four answers: for the extreme power, any multipliers of the right range; for another, those of a real group."""
    if bounds.advantage != STANDARD:
        return unknown("the formula is about the group mean and the group standard deviation")
    parts = (
        _within_range(name) if claimed == reached else _at_the_extreme(name, claimed)
        for name, (claimed, reached) in bounds.powers().items()
    )
    return conjunction(parts, "N = 4, all pi, all multipliers that a step can have, all step sizes")


def _excludes(name: str, masses: list[Any], factors: list[Any], own: Any, limit: Any) -> Any:
    """The bound as a formula: `own` is the multiplier of the answer in question, sets are {1, 3} and {2, 4}."""
    pushed = [mass * factor for mass, factor in zip(masses, factors, strict=True)]
    if name == "log-odds":
        inside, outside = masses[0] + masses[2], masses[1] + masses[3]
        return (pushed[0] + pushed[2]) * outside <= limit * (pushed[1] + pushed[3]) * inside
    return own <= limit * sum(pushed)


def _within_range(name: str) -> Outcome:
    """Multipliers scaled to lie in [1, e^eta]; an answer that is not in the group then has the scaled multiplier k."""
    import z3

    k, masses, factors = z3.Real("k"), z3.Reals("pi_1 pi_2 pi_3 pi_4"), z3.Reals("s_1 s_2 s_3 s_4")
    # k is the bound itself: e^eta, or e^{eta/2} for an answer that is not in the group.
    highest, own = (k * k, k) if name == "unsampled" else (k, factors[0])
    return smt.prove(
        [k > 1, sum(masses) == 1, *(m > 0 for m in masses), *(z3.And(s >= 1, s <= highest) for s in factors)],
        _excludes(name, masses, factors, own, k),
        domain="N = 4, all pi, all eta",
        method="each bound, probabilities and multipliers real",
        also={"N": 4, "bound": name},
        second_opinion=False,
    )


def _at_the_extreme(name: str, claimed: int) -> Outcome:
    """One correct and one wrong answer split the group: multipliers g^2, g^-2, 1, 1 with g = e^{eta/4}."""
    import z3

    g, masses = z3.Real("g"), z3.Reals("pi_1 pi_2 pi_3 pi_4")
    factors, limit = [g * g, 1 / (g * g), z3.RealVal(1), z3.RealVal(1)], z3.Product([g] * claimed)
    answer = smt.prove(
        [g > 1, sum(masses) == 1, *(m > 0 for m in masses)],
        _excludes(name, masses, factors, factors[0] if name == "ratio" else factors[2], limit),
        domain="N = 4, all pi, all eta",
        method="each bound, the multipliers of an evenly split group",
        also={"N": 4, "bound": name},
        second_opinion=False,
    )
    return answer if answer.kind == "refuted" else unknown("no step of this family breaks the bound")


def check_ball(bounds: StepBounds) -> Outcome:
    """Every group on small problems; changes of logits exactly, what needs a normaliser by balls."""
    return rational.check_all(
        _cases(bounds),
        lambda **case: _violation(bounds, **case),
        domain="N <= 3, G <= 4, rewards in 0, 1/2, 1, listed pi, eta in 1/2, 2, every group and set",
        method="log-ratios and log-odds of all sets after one group, from the library's exact advantages",
        arithmetic="balls, ties decided exactly",
    )


def _cases(bounds: StepBounds) -> Iterator[dict[str, Any]]:
    skewed = ((Fraction(1, 100), Fraction(99, 100)), (Fraction(1, 1000), Fraction(998, 1000), Fraction(1, 1000)))
    for policy in (*rational.policies(2, 2), *rational.policies(3, 4), *skewed):
        answers = len(policy)
        for eta, size in product((HALF, Fraction(2)), (2, 3, 4)):
            for rewards in product(bounds.levels, repeat=answers):
                # Advantages do not change when rewards are shifted and scaled.
                if min(rewards) == 0 and max(rewards) == bounds.levels[-1]:
                    yield {"N": answers, "G": size, "eta": eta, "pi": policy, "rewards": rewards}


def _violation(
    bounds: StepBounds, N: int, G: int, eta: Fraction, pi: tuple[Fraction, ...], rewards: tuple[Fraction, ...]
) -> Mapping[str, Any] | None:
    for group, _ in tree.multisets(N, G):
        changes = tree.change_of_logits(group, rewards, bounds.advantage, pi)
        if any(changes):
            seen = _too_far(bounds, group, changes, pi, eta)
            if seen:
                return {"group": group, **seen}
    return None


def _too_far(
    bounds: StepBounds, group: tuple[int, ...], changes: tree.Changes, pi: tuple[Fraction, ...], eta: Fraction
) -> dict[str, Any] | None:
    from flint import ctx

    with ctx.workprec(tree.BITS):
        after = tree.masses(pi, changes, eta)
        total = sum(after)
        for y, mass in enumerate(pi):
            moved = (after[y] / total / tree.ball(mass)).log()
            limit = bounds.ratio if y in group else bounds.unsampled
            if not tree.surely_less(abs(moved), tree.ball(limit * eta)):
                return {"answer": y, "log ratio": str(moved.str(10, radius=False)), "bound": limit * eta}
        for members in (set(c) for k in range(1, len(pi) // 2 + 1) for c in combinations(range(len(pi)), k)):
            odds = [sum(m for y, m in enumerate(masses) if y in members) for masses in (after, pi)]
            rest = [sum(m for y, m in enumerate(masses) if y not in members) for masses in (after, pi)]
            moved = (odds[0] / rest[0] / tree.ball(odds[1] / rest[1])).log()
            exact = _exact_difference(changes, members)
            limit = tree.ball(bounds.log_odds * eta)
            holds = abs(exact) <= bounds.log_odds if exact is not None else tree.surely_less(abs(moved), limit)
            if not holds:
                shown = {"set": sorted(members), "log-odds": str(moved.str(10, radius=False))}
                return {**shown, "bound": bounds.log_odds * eta}
    return None


def _exact_difference(changes: tree.Changes, members: set[int]) -> RadicalSum | None:
    """Change of the set's log-odds in units of eta where one logit change holds inside and one outside: ties show."""
    inside = {change for y, change in enumerate(changes) if y in members}
    outside = {change for y, change in enumerate(changes) if y not in members}
    return inside.pop() - outside.pop() if len(inside) == len(outside) == 1 else None


def check_property(bounds: StepBounds) -> Outcome:
    """The library's SampledPolicyGradient in float64, on drawn problems, policies and groups."""
    from hypothesis import strategies as st

    draws = st.tuples(st.integers(2, 6), st.integers(2, 8)).flatmap(
        lambda sizes: st.fixed_dictionaries(
            {
                "N": st.just(sizes[0]),
                "G": st.just(sizes[1]),
                "eta": st.sampled_from((Fraction(1, 4), Fraction(1), Fraction(5))),
                "parts": st.lists(st.integers(1, 1000), min_size=sizes[0], max_size=sizes[0]),
                "rewards": st.lists(st.sampled_from(bounds.levels), min_size=sizes[0], max_size=sizes[0]),
                "group": st.lists(st.integers(0, sizes[0] - 1), min_size=sizes[1], max_size=sizes[1]),
            }
        )
    )
    return property_search.search(
        draws,
        lambda **case: _float_violation(bounds, **case),
        domain="N <= 6, G <= 8, eta in 1/4, 1, 5",
        method="log pi'/pi and log-odds of each answer after one step of SampledPolicyGradient, in float64",
        examples=100,
    )


def _float_violation(
    bounds: StepBounds,
    N: int,
    G: int,
    eta: Fraction,
    parts: list[int],
    rewards: list[Fraction],
    group: list[int],
) -> Mapping[str, Any] | None:
    import numpy as np

    from reweight.objectives.objective import Objective
    from reweight.policies.flat import FlatPolicy
    from reweight.problems.problem import Problem
    from reweight.updates.sampled_policy_gradient import SampledPolicyGradient

    problem = Problem(np.array(rewards, dtype=float))
    policy = FlatPolicy.from_probabilities(np.array(parts) / sum(parts))
    update, objective = SampledPolicyGradient(float(eta)), Objective(bounds.advantage, G)
    moved = update.apply_to_draws(problem, {0: np.array([group])}, policy, objective)
    before, after = policy.log_probs(problem).total, moved.log_probs(problem).total
    ratio = np.abs(after - before) / float(eta)
    odds = np.abs((after - np.log(-np.expm1(after))) - (before - np.log(-np.expm1(before)))) / float(eta)
    unsampled = [y for y in range(N) if y not in group]
    found = {"ratio": ratio.max(), "unsampled": ratio[unsampled].max(initial=0.0), "log odds": odds.max()}
    limits = {"ratio": bounds.ratio, "unsampled": bounds.unsampled, "log odds": bounds.log_odds}
    broken = {name: float(value) for name, value in found.items() if value > float(limits[name]) + ROUNDING}
    return broken or None


CLAIM = Claim(
    id="C27",
    document=__doc__,
    statement=StepBounds(),
    hypotheses=(
        Hypothesis(
            "group std",
            "all samples are divided by one standard deviation, that of the whole group (not of the other members).",
            without=StepBounds(
                advantage=Advantage(baseline="leave_one_out", scale="leave_one_out_std"),
                levels=(Fraction(0), Fraction(1, 100), Fraction(1)),
            ),
            refuted_by=("ball",),
        ),
    ),
    roads=(
        Road("symbolic", check_symbolic, expected="proved"),
        Road("smt", check_smt, expected="proved"),
        Road("ball", check_ball, expected="verified"),
        Road("property", check_property, expected="tested"),
    ),
    mutants=(
        Mutant("a log-ratio moves by 3/4 eta at most", StepBounds(ratio=Fraction(3, 4))),
        Mutant("an unsampled answer moves by eta/4 at most", StepBounds(unsampled=Fraction(1, 4))),
        Mutant("the log-odds of a set move by 3/4 eta at most", StepBounds(log_odds=Fraction(3, 4))),
    ),
)
