"""The expected advantages of a prompt's answers average to zero under the policy.

Statement: sum_y pi(y) w_G(y) = 0, where w_G(y) = E[A_1 | y_1 = y].
Map: none; it is about the weights that every map uses.
Hypotheses: A_i = (r_i - b_i)/D with b_i the group's mean or the mean of the others, and one divisor D > 0 for the whole
    group (std with any ddof and eps, mean, or none). Any rewards, any policy.
Verdict and domain: PROVED for all G, all N, all rewards, all policies and all common divisors.
Source: C01, R01, R05, R28 (docs/theory.md).
Why it matters: the normaliser's term -pi(y) sum(pi w) drops out of the gradient, so answers that were not drawn do not
    drift. It fails for three settings that trainers offer: a leave-one-out standard deviation, advantages for the best
    member only, and a baseline weighted by length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

from proofs_check import enumeration
from proofs_check.checkers import property as property_search
from proofs_check.checkers import rational, smt, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome, conjunction, lemma
from proofs_check.rules import named
from reweight import Advantage
from reweight.groups.radicals import RadicalSum

LEVELS = (Fraction(0), Fraction(3, 10), Fraction(1))
CENTRED = (
    Advantage(),
    Advantage(ddof=1, eps=Fraction(1, 10)),
    Advantage(eps=Fraction(1, 10), eps_rule="inside_root"),
    Advantage(scale="none"),
    Advantage(baseline="leave_one_out", ddof=1),
    Advantage(baseline="leave_one_out", scale="none"),
    Advantage(scale="mean"),
)
ROUNDING = 1e-12
EVERYTHING = "all G, all N, all rewards, all policies, all common divisors"


@dataclass(frozen=True)
class CentredWeights:
    """sum_y measure(pi(y)) w(y) = 0 for each of the rules."""

    rules: tuple[Advantage, ...]
    measure: Callable[[Any], Any]


def policy_itself(mass: Any) -> Any:
    """Average under the policy."""
    return mass


def of_a_pair(measure: Callable[[Any], Any], mass: Any) -> Any:
    """The average over two answers of mass p and 1 - p in groups of two, whose weights are (1 - p) c and -p c (C02)."""
    return measure(mass) * (1 - mass) - measure(1 - mass) * mass


def check_symbolic(claim: CentredWeights) -> Outcome:
    """All G at once: the advantages of any one group sum to zero, by linearity of sums.

    sum_y pi(y) w(y) = E[A_1], and E[A_1] = E[A_1 + ... + A_G]/G because the members are exchangeable and a rule treats
    them alike. So it is enough that every group's advantages sum to zero. That is not necessary, so a rule that fails
    here is not refuted; a measure is, by its average over a pair.
    """
    import sympy

    mass = sympy.Symbol("p", positive=True)

    def parts() -> Iterator[Outcome]:
        yield symbolic.identity(
            of_a_pair(claim.measure, mass),
            "all p",
            "two answers, groups of two",
            points={mass: [Fraction(1, 3)]},
            also={"N": 2, "G": 2},
        )
        yield lemma(symbolic.identity(claim.measure(mass) - mass, "all p", "the average is that under the policy"))
        for rule in {_shape(rule): rule for rule in claim.rules}.values():
            yield lemma(
                symbolic.identity(
                    _sum_of_a_group(rule),
                    "all G",
                    "the members are exchangeable, so the average is E[sum_i A_i]/G; A_i = (c r_i + d)/D_i with c and d"
                    " the same for all i, so sum_i A_i = c sum_i r_i/D_i + d sum_i 1/D_i",
                )
            )

    return conjunction(parts(), EVERYTHING)


def _sum_of_a_group(rule: Advantage) -> Any:
    """sum_i A_i for symbolic G: what a rule does not say to be equal is a symbol of its own."""
    import sympy

    size, divisor = sympy.symbols("G D", positive=True)
    reward, total, best, baseline = sympy.symbols("r_i S r_best b", real=True)
    baselines = {"mean": total / size, "leave_one_out": (total - reward) / (size - 1)}
    constant, slope = sympy.Poly(reward - baselines.get(rule.baseline, baseline), reward).all_coeffs()[::-1]
    rewards, ones = total / divisor, size / divisor
    if rule.scale == "leave_one_out_std":
        rewards, ones = sympy.symbols("sum_r_i/D_i sum_1/D_i", real=True)
    if rule.selection == "best":
        rewards, ones = best / divisor, 1 / divisor
    return slope * rewards + constant * ones


def check_smt(claim: CentredWeights) -> Outcome:
    """G <= 4, rules written as formulas: no group of real rewards has advantages that do not sum to zero.

    This is necessary too: the average under pi is a form in pi whose coefficients are the group sums, and monomials of
    degree G are independent on the simplex.
    """
    import z3

    mass = z3.Real("p")

    def parts() -> Iterator[Outcome]:
        inside, domain = [mass > 0, mass < 1], "N = 2, G = 2, all p"
        yield smt.prove(
            inside,
            of_a_pair(claim.measure, mass) == 0,
            domain=domain,
            method="two answers, groups of two, p real",
            also={"N": 2, "G": 2},
        )
        # Over three answers and more the measure must be the policy itself, up to a factor.
        yield lemma(smt.prove(inside, claim.measure(mass) == mass, domain=domain, method="the average is under pi"))
        for size, rule in product((2, 3, 4), {_shape(rule): rule for rule in claim.rules}.values()):
            rewards, lengths = ([z3.Real(f"{name}_{i + 1}") for i in range(size)] for name in "rl")
            values = [z3.Real(f"A_{i + 1}") for i in range(size)]
            defined = [*_advantages_as_formulas(rule, rewards, lengths, values), z3.Not(_tie(rewards))]
            yield smt.prove(
                defined,
                sum(values) == 0,
                domain=f"G = {size}, all real rewards, all divisors",
                method="each rule and G, a group of real rewards that are not all equal",
                also={"G": size},
                second_opinion=size < 4,
            )

    return conjunction(parts(), "G <= 4, all real rewards, all policies, all common divisors")


def _shape(rule: Advantage) -> tuple[str, bool, str]:
    return rule.baseline, rule.scale == "leave_one_out_std", rule.selection


def _tie(rewards: list[Any]) -> Any:
    import z3

    return z3.And(True, *(a == b for a, b in combinations(rewards, 2)))


def _advantages_as_formulas(rule: Advantage, r: list[Any], lengths: list[Any], values: list[Any]) -> list[Any]:
    """Equations for A_i; one divisor D > 0 of any size stands for every scale that the members share."""
    import z3

    size, everyone = len(r), range(len(r))
    others = [[r[j] for j in everyone if j != i] for i in everyone]
    common = z3.Real("D")
    formulas = [common > 0, *(length > 0 for length in lengths)]
    baseline = z3.Real("b")
    if rule.baseline == "length_weighted":
        formulas.append(baseline * sum(lengths) == sum(n * x for n, x in zip(lengths, r, strict=True)))
    if rule.baseline == "second_best":
        smaller = [z3.If(a < b, a, b) for a, b in combinations(r, 2)]
        formulas += [z3.Or(*(baseline == s for s in smaller)), *(baseline >= s for s in smaller)]
    for i in everyone:
        own = {"mean": sum(r) / size, "leave_one_out": sum(others[i]) / (size - 1)}.get(rule.baseline, baseline)
        divisor = common
        if rule.scale == "leave_one_out_std":
            divisor = z3.Real(f"s_{i + 1}")
            mean = sum(others[i]) / (size - 1)
            variance = sum((x - mean) * (x - mean) for x in others[i]) / max(size - 1 - rule.ddof, 1)
            formulas += [divisor > 0, divisor * divisor == z3.If(_tie(others[i]), 1, variance)]
        counted = z3.And(*(r[i] > x for x in others[i])) if rule.selection == "best" else z3.BoolVal(True)
        formulas.append(values[i] * divisor == z3.If(counted, r[i] - own, 0))
    return formulas


def check_rational(claim: CentredWeights) -> Outcome:
    """Every small problem, with the library's exact weights and, beside them, the sum over all N^G groups."""
    return rational.check_all(
        _cases(claim),
        lambda **case: _violation(claim, **case),
        domain="N <= 3, G <= 4 (3 for N = 3), rewards in 0, 3/10, 1, pi in multiples of 1/2 to 1/4, listed rules",
        method="group_weights against enumeration over all groups, and their average",
    )


def _cases(claim: CentredWeights) -> Iterator[dict[str, Any]]:
    shapes = ((2, 2, 2), (2, 3, 3), (2, 4, 3), (3, 2, 4), (3, 3, 4))
    for (answers, size, parts), rule in product(shapes, named(claim.rules)):
        for rewards in combinations_with_replacement(LEVELS, answers):
            for policy in rational.policies(answers, parts):
                if rewards[0] < rewards[-1]:
                    yield {"N": answers, "G": size, "rule": rule, "pi": policy, "rewards": rewards}


def _violation(
    claim: CentredWeights, N: int, G: int, rule: str, pi: tuple[Fraction, ...], rewards: tuple[Fraction, ...]
) -> Mapping[str, Any] | None:
    advantage, lengths = named(claim.rules)[rule], tuple(range(1, N + 1))
    by_length = advantage.baseline == "length_weighted"
    weights = enumeration.weights(rewards, pi, G, advantage, lengths if by_length else None)
    wrong = None if by_length else enumeration.disagreement(weights, rewards, pi, G, advantage)
    if wrong:
        return wrong
    average = sum((w * claim.measure(mass) for w, mass in zip(weights, pi, strict=True)), RadicalSum())
    return {"lengths": lengths, "average": str(average), "about": float(average)} if average else None


def check_property(claim: CentredWeights) -> Outcome:
    """The library's expected coefficients in float64 on drawn problems; their sum is the average of the weights."""
    from hypothesis import strategies as st

    draws = st.integers(2, 5).flatmap(
        lambda n: st.fixed_dictionaries(
            {
                "N": st.just(n),
                "G": st.integers(2, 8),
                "rule": st.sampled_from(list(named(claim.rules))),
                "pi": st.lists(st.integers(1, 1000), min_size=n, max_size=n).map(_shares),
                "rewards": st.lists(
                    st.integers(0, 100).map(lambda cents: Fraction(cents, 100)), min_size=n, max_size=n
                ),
            }
        )
    )
    return property_search.search(
        draws,
        lambda **case: _float_violation(claim, **case),
        domain="N <= 5, G <= 8, rewards in multiples of 1/100",
        method="|sum of measure times weight| <= 1e-12 G, from expected_coefficients",
        examples=40,
    )


def _shares(parts: list[int]) -> tuple[Fraction, ...]:
    return tuple(Fraction(part, sum(parts)) for part in parts)


def _float_violation(
    claim: CentredWeights, N: int, G: int, rule: str, pi: tuple[Fraction, ...], rewards: list[Fraction]
) -> Mapping[str, Any] | None:
    import numpy as np

    from reweight import FlatPolicy, Objective, Problem, expected_coefficients

    masses = np.array(pi, dtype=float)
    problem = Problem(np.array(rewards, dtype=float), lengths=np.arange(1, N + 1), correct=[True] * N)
    objective = Objective(named(claim.rules)[rule], G, aggregation="sequence_sum")
    coefficients = expected_coefficients(problem, FlatPolicy.from_probabilities(masses), objective)
    average = float((coefficients * claim.measure(masses) / masses).sum())
    return {"average": average} if abs(average) > ROUNDING * G else None


CLAIM = Claim(
    id="C01",
    document=__doc__,
    statement=CentredWeights(CENTRED, policy_itself),
    hypotheses=(
        Hypothesis(
            "one divisor",
            "all members of a group share one divisor (with a leave-one-out std each has its own).",
            without=CentredWeights(
                (Advantage(baseline="leave_one_out", scale="leave_one_out_std", ddof=1),), policy_itself
            ),
            refuted_by=("rational", "smt", "property"),
        ),
        Hypothesis(
            "every member counts",
            "every member keeps its advantage (not only the single best one).",
            without=CentredWeights((Advantage(selection="best"),), policy_itself),
            refuted_by=("rational", "smt", "property"),
        ),
        Hypothesis(
            "equal weight in the baseline",
            "the members enter the baseline with equal weight (not weighted by length).",
            without=CentredWeights((Advantage(baseline="length_weighted"),), policy_itself),
            refuted_by=("rational", "smt", "property"),
        ),
    ),
    roads=(
        Road("symbolic", check_symbolic, expected="proved"),
        Road("smt", check_smt, expected="proved"),
        Road("rational", check_rational, expected="verified"),
        Road("property", check_property, expected="tested"),
    ),
    mutants=(
        Mutant("averaged over the answers alike, not under the policy", CentredWeights(CENTRED, lambda mass: mass**0)),
        Mutant("averaged under pi^2, what PG moves", CentredWeights(CENTRED, lambda mass: mass**2)),
        Mutant(
            "also with the second best reward as baseline",
            CentredWeights((*CENTRED, Advantage(baseline="second_best")), policy_itself),
        ),
        Mutant(
            "also with the others' std for the group's mean",
            CentredWeights((*CENTRED, Advantage(scale="leave_one_out_std", ddof=1)), policy_itself),
        ),
    ),
)
