"""Before it is first sampled, an answer never exceeds its base share of what is not sampled-and-wrong.

Statement: while y has not been sampled, pi_t(y) <= pi_0(y) / (1 - pi_0(S)) <= pi_0(y) / p_0 for every t and every step
    size, where S is the set of wrong answers sampled so far. Sharp: no smaller constant will do.
Map: S-PG (flat softmax, sampled policy gradient, one inner step).
Hypotheses: binary rewards; advantages centred in their group with the sign of correctness; all samples from the current
    policy; no KL term, no decay, no shared parameters.
Verdict and domain: PROVED for all numbers of answers, groups, steps and all step sizes; the exact tree of the library's
    advantages agrees, and both the constant and each hypothesis are shown to be needed.
Source: C58, R06 (docs/theory.md); the version with content of arXiv 2510.15990 and of Theorem 1 of arXiv 2507.14843.
Why it matters: until luck samples a new correct answer, training makes it at most 1/p_0 times as likely as the base
    did: this, and not the KL term, is what keeps a run within the base model's reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

from proofs_check import sampled_tree as tree
from proofs_check.checkers import property as property_search
from proofs_check.checkers import rational, smt, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome, conjunction, unknown
from reweight.objectives.advantage import Advantage

ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)
CENTRED = Advantage()
ROUNDING = 1e-9
MULTIPLIERS = (
    "a sampled correct answer has A = (1 - K/G)/s >= 0, a wrong one A <= 0, an unsampled one does not move: so"
    " e^{logit change} is >= 1 outside S, >= 0 in S, and 1 for y"
)


@dataclass(frozen=True)
class Ceiling:
    """pi_t(y) <= tight(pi_0(y), pi_0(S)) <= loose(pi_0(y), p_0), for unsampled y (or `for_all` answers)."""

    tight: Callable[[Any, Any], Any]
    loose: Callable[[Any, Any], Any]
    advantage: Advantage = CENTRED
    levels: tuple[Fraction, ...] = (ZERO, ONE)
    for_all: bool = False

    @property
    def abstract(self) -> bool:
        """Whether only the two functions differ from the claim, which is all that the algebra below can see."""
        return self.advantage == CENTRED and self.levels == (ZERO, ONE) and not self.for_all


def share_of_rest(mass: Any, seen: Any) -> Any:
    """pi_0(y) over the mass of everything that is not sampled-and-wrong."""
    return mass / (1 - seen)


def share_of_correct(mass: Any, correct: Any) -> Any:
    """pi_0(y) over the base pass rate."""
    return mass / correct


def check_symbolic(ceiling: Ceiling) -> Outcome:
    """Any number of answers: everything outside S has a multiplier of at least 1, everything in S one of at least 0.

    Net multipliers e^{logit change} are relative to that of y, which is 1. Sums over many answers enter only as their
    total mass and their mean multiplier, so three masses besides y stand for any number of answers. Each point is
    approached by runs (one large step on a group of two whose correct answer has little mass), so a violation is real.
    """
    import sympy

    if not ceiling.abstract:
        return unknown("the algebra is about centred advantages, binary rewards and unsampled answers")
    y, correct, unseen, seen = sympy.symbols("y k w s", positive=True)
    rise, fall = sympy.symbols("u v", nonnegative=True)
    total = y + correct + unseen + seen
    now = y / (y + correct * (1 + rise) + unseen + seen * fall)
    tight = ceiling.tight(y / total, seen / total)

    def parts() -> Iterator[Outcome]:
        least = dict.fromkeys((y, correct, unseen, seen, rise, fall), 0)
        domain = "all N, all G, all T, all step sizes, all pi_0"
        excess = [("tight ceiling - pi_t(y)", tight - now)]
        yield symbolic.nonnegative_terms(excess, domain, MULTIPLIERS, least=least)
        for name, mass in (("y correct", correct + y), ("y wrong", correct)):
            excess = [(f"loose - tight ceiling, {name}", ceiling.loose(y / total, mass / total) - tight)]
            yield symbolic.nonnegative_terms(excess, domain, "S holds wrong answers only", least=least)

    return conjunction(parts(), "all N, all G, all T, all step sizes, all pi_0")


def check_smt(ceiling: Ceiling) -> Outcome:
    """Four answers, one by one: each of the other three is unsampled, sampled and correct, or sampled and wrong."""
    import z3

    if not ceiling.abstract:
        return unknown("the formula is about centred advantages, binary rewards and unsampled answers")

    def parts() -> Iterator[Outcome]:
        for kinds in combinations_with_replacement(("unsampled", "correct", "wrong"), 3):
            masses = [z3.Real(f"pi_{i}") for i in range(4)]
            factors = [z3.RealVal(1), *(z3.Real(f"m_{i}") for i in (1, 2, 3))]
            allowed = {
                "unsampled": lambda m: m == 1,
                "correct": lambda m: m >= 1,
                "wrong": lambda m: z3.And(m > 0, m <= 1),
            }
            # Nothing moves before a group has been mixed.
            mixed = {"correct", "wrong"} <= set(kinds)
            signs = [allowed[kind if mixed else "unsampled"](m) for kind, m in zip(kinds, factors[1:], strict=True)]
            seen = sum((mass for mass, kind in zip(masses[1:], kinds, strict=True) if kind == "wrong"), z3.RealVal(0))
            total = sum(mass * factor for mass, factor in zip(masses, factors, strict=True))
            # y is correct, unsampled answers are wrong: the least pass rate that the pattern allows.
            rate = sum((mass for mass, kind in zip(masses[1:], kinds, strict=True) if kind == "correct"), masses[0])
            tight = ceiling.tight(masses[0], seen)
            yield smt.prove(
                [*(mass > 0 for mass in masses), sum(masses) == 1, *signs],
                z3.And(masses[0] <= tight * total, tight <= ceiling.loose(masses[0], rate)),
                domain="N = 4, all pi_0, all multipliers",
                method="each pattern of unsampled, sampled correct and sampled wrong answers",
                also={"N": 4, "others": " ".join(kinds)},
                second_opinion=False,
            )

    return conjunction(parts(), "N = 4, all pi_0, all multipliers of the right sign")


def check_ball(ceiling: Ceiling) -> Outcome:
    """Every path of the exact tree with the library's advantages; ties decided exactly, the rest by balls."""
    return rational.check_all(
        _cases(ceiling),
        lambda **case: _violation(ceiling, **case),
        domain="N <= 3, G <= 4, T <= 3, listed pi_0 and step sizes",
        method="pi_t(y) on every path of exact logits, for every unsampled y",
        arithmetic="balls, ties decided exactly",
    )


def _cases(ceiling: Ceiling) -> Iterator[dict[str, Any]]:
    tiny = Fraction(1, 10**6)
    starts = [
        *rational.policies(2, 3),
        *rational.policies(3, 4),
        (tiny, HALF - tiny, HALF),
        (tiny, tiny, ONE - 2 * tiny),
    ]
    starts.append((Fraction(1, 100), Fraction(1, 100), Fraction(98, 100)))
    sizes = {2: [(2, 3), (3, 2)], 3: [(2, 3), (3, 2), (4, 1)]}
    centred = ceiling.advantage.baseline != "none"
    for start, eta in product(starts, (HALF, Fraction(14))):
        for rewards in product(ceiling.levels, repeat=len(start)):
            for size, steps in sizes[len(start)]:
                if min(rewards) < max(rewards):
                    depth = steps if centred else 1
                    yield {"N": len(start), "G": size, "steps": depth, "eta": eta, "pi_0": start, "rewards": rewards}


def _violation(
    ceiling: Ceiling,
    N: int,
    G: int,
    steps: int,
    eta: Fraction,
    pi_0: tuple[Fraction, ...],
    rewards: tuple[Fraction, ...],
) -> Mapping[str, Any] | None:
    correct = sum((mass for mass, reward in zip(pi_0, rewards, strict=True) if reward > 0), ZERO)
    for step, layer in enumerate(tree.layers(pi_0, rewards, G, ceiling.advantage, eta, steps)):
        for node in layer:
            seen = sum((pi_0[z] for z in node.sampled if rewards[z] == 0), ZERO)
            for y in range(N):
                if y in node.sampled and not ceiling.for_all:
                    continue
                limit = ceiling.tight(pi_0[y], seen) if seen < 1 else ONE
                if limit > ceiling.loose(pi_0[y], correct) or not _below(pi_0, node, eta, y, limit):
                    shown = {"steps": step, "groups": node.groups, "y": y, "pi_0(S)": seen, "ceiling": limit}
                    return {**shown, "pi_t(y)": _probability(pi_0, node, eta, y)}
    return None


def _below(start: tuple[Fraction, ...], node: tree.Node, eta: Fraction, y: int, limit: Fraction) -> bool:
    """Whether pi_t(y) <= limit for certain; terms whose logit has not moved are summed exactly, so ties are seen."""
    from flint import ctx

    scales = [limit * mass - (mass if z == y else 0) for z, mass in enumerate(start)]
    resting = sum((scale for scale, change in zip(scales, node.changes, strict=True) if not change), ZERO)
    if not any(node.changes):
        return resting >= 0
    with ctx.workprec(tree.BITS):
        moved = tree.masses(scales, node.changes, eta)
        slack = tree.ball(resting) + sum(m for m, change in zip(moved, node.changes, strict=True) if change)
        return tree.surely_less(tree.ball(0), slack)


def _probability(start: tuple[Fraction, ...], node: tree.Node, eta: Fraction, y: int) -> str:
    from flint import ctx

    with ctx.workprec(tree.BITS):
        weights = tree.masses(start, node.changes, eta)
        return str((weights[y] / sum(weights)).str(12, radius=False))


def check_property(ceiling: Ceiling) -> Outcome:
    """The library's SampledPolicyGradient and discovery_ceiling in float64, on drawn runs that leave an answer out."""
    from hypothesis import strategies as st

    draws = st.tuples(st.integers(3, 6), st.integers(2, 5)).flatmap(
        lambda sizes: st.fixed_dictionaries(
            {
                "N": st.just(sizes[0]),
                "G": st.just(sizes[1]),
                "eta": st.sampled_from((HALF, Fraction(2), Fraction(10))),
                "parts": st.lists(st.integers(1, 1000), min_size=sizes[0], max_size=sizes[0]),
                "correct": st.integers(1, sizes[0] - 1),
                "groups": st.lists(
                    st.lists(st.integers(1, sizes[0] - 1), min_size=sizes[1], max_size=sizes[1]), min_size=1, max_size=5
                ),
            }
        )
    )
    return property_search.search(
        draws,
        lambda **case: _float_violation(ceiling, **case),
        domain="N <= 6, G <= 5, T <= 5, eta in 1/2, 2, 10",
        method="pi_t of the never sampled answer 0 after steps of SampledPolicyGradient, in float64",
        examples=100,
    )


def _float_violation(
    ceiling: Ceiling, G: int, eta: Fraction, parts: list[int], correct: int, groups: list[list[int]], **_: Any
) -> Mapping[str, Any] | None:
    import numpy as np

    from reweight.bounds import discovery_ceiling
    from reweight.objectives.objective import Objective
    from reweight.policies.flat import FlatPolicy
    from reweight.problems.problem import Problem
    from reweight.updates.sampled_policy_gradient import SampledPolicyGradient

    rewards, base = np.array([y < correct for y in range(len(parts))], dtype=float), np.array(parts) / sum(parts)
    problem, policy = Problem(rewards), FlatPolicy.from_probabilities(base)
    update, objective = SampledPolicyGradient(float(eta)), Objective(ceiling.advantage, G)
    wrong: set[int] = set()
    for step, group in enumerate(groups, start=1):
        policy = update.apply_to_draws(problem, {0: np.array([group])}, policy, objective)
        wrong |= {y for y in group if y >= correct}
        seen, rate = base[list(wrong)].sum(), base[:correct].sum()
        tight, loose = ceiling.tight(base[0], seen), ceiling.loose(base[0], rate)
        now = policy.log_probs(problem).probabilities[0]
        if now > tight * (1 + ROUNDING) or tight > loose * (1 + ROUNDING):
            return {"steps": step, "pi_t(y)": float(now), "tight": float(tight), "loose": float(loose)}
        library = float(discovery_ceiling(base[0], rate, seen))
        if now > library * (1 + ROUNDING):
            return {"steps": step, "pi_t(y)": float(now), "discovery_ceiling": library}
    return None


CLAIM = Claim(
    id="C58",
    document=__doc__,
    statement=Ceiling(share_of_rest, share_of_correct),
    hypotheses=(
        Hypothesis(
            "centred advantages",
            "the advantages of a group sum to zero (REINFORCE without a baseline moves unsampled logits).",
            without=Ceiling(share_of_rest, share_of_correct, advantage=Advantage(baseline="none", scale="none")),
            refuted_by=("ball",),
        ),
        Hypothesis(
            "binary rewards",
            "there are two reward levels (with three, a partly right answer can lose logits without being wrong).",
            without=Ceiling(share_of_rest, share_of_correct, levels=(ZERO, HALF, ONE)),
            refuted_by=("ball",),
        ),
        Hypothesis(
            "not sampled yet",
            "y itself has not been sampled.",
            without=Ceiling(share_of_rest, share_of_correct, for_all=True),
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
        Mutant("the ceiling lower by 1%", Ceiling(lambda y, s: Fraction(99, 100) * y / (1 - s), share_of_correct)),
        Mutant(
            "only half of the sampled wrong mass is given up", Ceiling(lambda y, s: y / (1 - s / 2), share_of_correct)
        ),
        Mutant("never above the base probability", Ceiling(lambda y, _: y, share_of_correct)),
        Mutant(
            "the looser ceiling is pi_0(y)/(p_0 + 1%)", Ceiling(share_of_rest, lambda y, p: y / (p + Fraction(1, 100)))
        ),
    ),
)
