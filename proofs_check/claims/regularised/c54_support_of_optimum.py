"""Whether regularised RLVR can leave the base's support depends on which way round its KL is.

Statement: let pi_0(C) = 0. Under beta KL(pi || pi_0) the optimum has no mass on C, for every beta. Under
    beta KL(pi_0 || pi), what the k3 penalty amounts to, a stationary policy with pass rate p > 0 exists if and only if
    beta < Delta_G(0+), which is sqrt(G-1) (ddof 0) or (G-1)/sqrt(G) (ddof 1); it is then unique. For mean-only weights
    (gap c) the optimum is p = max(0, 1 - beta/c).
Map: none, it is about stationary policies (flat softmax, on-policy).
Hypotheses: rewards 0 and 1, group mean and std with eps = 0 (or mean only), no clipping.
Verdict and domain: PROVED for all G and all beta.
Source: C54, H5, R12, N03 (docs/theory.md).
Why it matters: this is the support theorem of the source paper and the place where it stops: GRPO code penalises the
    other KL, whose optimum lies outside the base's support at every practical beta. (p = 0 stays stationary too, so an
    exact run does not go there by itself; any leak of mass starts it.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from typing import Any

from proofs_check.checkers import property as property_search
from proofs_check.checkers import rational, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome, conjunction
from proofs_check.tilted import optimum
from reweight import Advantage

DOMAIN = "all G, all beta"
GRID = (Fraction(1, 10**9), *(Fraction(k, 20) for k in range(1, 20)))
ROUNDING = 1e-8


@dataclass(frozen=True)
class SupportOfOptimum:
    """Stationary p > 0 iff beta^2 < threshold_square(G, ddof); mean-only: p = root(beta/c) for beta < c."""

    threshold_square: Callable[[Any, int], Any]
    root: Callable[[Any], Any] = lambda share: 1 - share


def gap_at_zero_squared(size: Any, ddof: int) -> Any:
    """Delta_G(0+)^2."""
    return (size - 1) ** 2 / size if ddof else size - 1


def check_symbolic(claim: SupportOfOptimum) -> Outcome:
    """All G: the weight of a correct answer falls strictly from Delta_G(0+) to 0 as p goes from 0 to 1."""

    def parts() -> Iterator[Outcome]:
        yield from _to_the_base()
        yield from _falling_weight(claim)
        yield from _stationary_point()
        yield from _mean_only(claim)

    return conjunction(parts(), DOMAIN)


def _to_the_base() -> Iterator[Outcome]:
    """KL(pi || pi_0): mass on an answer that the base lacks costs without bound, and the optimum of C48 has none."""
    import sympy

    mass, start, factor = sympy.symbols("pi_y pi_0y x", positive=True)
    yield symbolic.limit(
        1 / (mass * sympy.log(mass / start)), start, 0, 0, DOMAIN, "1/(pi log(pi/pi_0)) for pi_0 to 0, at any pi > 0"
    )
    yield symbolic.identity(optimum(sympy.Integer(0), factor), DOMAIN, "the tilted optimum p* at Q = 0")


def _falling_weight(claim: SupportOfOptimum) -> Iterator[Outcome]:
    """w(1) = sum_k a_{k+1} P(Bin(G-1, p) = k), a_K the advantage of a correct member among K, strictly falling in K."""
    import sympy

    size, successes, more, p = sympy.symbols("G K m p", positive=True)
    n, k = sympy.symbols("n k", positive=True)
    for ddof in (0, 1):
        # a_K = (1 - K/G)/s_K with s_K^2 = K (G - K)/(G (G - ddof)).
        square = (1 - successes / size) ** 2 * size * (size - ddof) / (successes * (size - successes))
        yield symbolic.identity(
            claim.threshold_square(size, ddof) - square.subs(successes, 1),
            DOMAIN,
            "the threshold is a_1 = w(1) at p = 0",
            points={size: [2, 3]},
            also={"ddof": ddof},
        )
        fall = (square - square.subs(successes, successes + 1)).subs(size, successes + more)
        yield symbolic.nonnegative_terms(
            [("a_K^2 - a_(K+1)^2", fall)], DOMAIN, "G = K + m with m >= 1", least={successes: 1, more: 1}, strict=True
        )

    # Relative to B_k = C(n, k) p^k (1-p)^(n-k), the k-th term of degree n = G - 1, all is rational.
    ways = sympy.binomial(n, k)
    term = p**k * (1 - p) ** (n - k)
    one_lower = sympy.combsimp(sympy.binomial(n - 1, k - 1) / ways) / p
    same = sympy.combsimp(sympy.binomial(n - 1, k) / ways) / (1 - p)
    yield symbolic.identity(
        sympy.simplify(sympy.diff(term, p) / term) - n * (one_lower - same),
        DOMAIN,
        "B_k' = n (B_{k-1} - B_k of degree n - 1), so w(1)' = n sum_k (a_{k+2} - a_{k+1}) B_k < 0",
    )


def _stationary_point() -> Iterator[Outcome]:
    """Correct answers need w(1) = beta; the wrong ones, pi = beta pi_0/(beta - w(0)), then sum to 1 - p too."""
    import sympy

    p, gap = sympy.symbols("p Delta", positive=True)
    beta = (1 - p) * gap
    yield symbolic.identity(
        beta / (beta + p * gap) - (1 - p),
        DOMAIN,
        "pi (beta - w) = beta pi_0, summed over wrong answers, at beta = w(1)",
    )


def _mean_only(claim: SupportOfOptimum) -> Iterator[Outcome]:
    """The largest c p - beta KL(pi_0 || pi): given p, (1-p) pi_0 is best on W, and c p + beta log(1 - p) is left."""
    import sympy

    share, wrong, start, mass = sympy.symbols("b q pi_0y pi_y", positive=True)
    apart = sympy.log(start / mass) - (sympy.log(start / (mass / wrong)) - sympy.log(wrong))
    yield symbolic.identity(
        sympy.expand_log(apart),
        DOMAIN,
        "KL(pi_0 || pi) = KL(pi_0 || pi/q) - log q over the wrong answers, at least -log q",
    )
    worth = (1 - wrong) + share * sympy.log(wrong)
    best = 1 - claim.root(share)
    halves = {share: [Fraction(1, 2), Fraction(1, 3)]}
    yield symbolic.identity(
        sympy.diff(worth, wrong).subs(wrong, best),
        DOMAIN,
        "slope of p + (beta/c) log(1 - p) at the optimum",
        points=halves,
    )
    yield symbolic.above_tangent(
        worth.subs(wrong, best) - worth,
        wrong,
        best,
        DOMAIN,
        "p + (beta/c) log(1 - p) is concave, so that is its maximum",
    )
    above, below = sympy.symbols("e f", nonnegative=True)
    rise = sympy.diff(worth, wrong).subs({share: 1 + above, wrong: 1 / (1 + below)})
    yield symbolic.nonnegative_terms(
        [("slope in q", rise)],
        DOMAIN,
        "for beta >= c the worth rises in q = 1 - p up to q = 1",
        least={above: 0, below: 0},
    )


def check_rational(claim: SupportOfOptimum) -> Outcome:
    """The library's exact gap: w(1) = (1 - p) Delta_G(p) exceeds beta at some p of the grid if and only if claimed."""

    def cases() -> Iterator[dict[str, Any]]:
        for size, ddof in product(range(2, 7), (0, 1)):
            edge = Fraction(str(round(float(_weights(size, ddof)[0]), 3)))
            for part in (Fraction(1, 50), Fraction(1, 2), Fraction(99, 100), Fraction(101, 100), Fraction(3, 2)):
                yield {"N": 2, "G": size, "ddof": ddof, "beta": edge * part}

    return rational.check_all(
        cases(),
        lambda **case: _violation(claim, **case),
        domain="G <= 6, beta from 0.02 to 1.5 of the threshold, p in multiples of 1/20",
        method="exact w(1) of the library falls in p and crosses beta where claimed, for mean-only weights at the root",
    )


@cache
def _weights(size: int, ddof: Any) -> list[Any]:
    from reweight import gap

    return [gap(p, size, Advantage(ddof=ddof)) * (1 - p) for p in GRID]


def _violation(claim: SupportOfOptimum, G: int, ddof: int, beta: Fraction, **_: Any) -> Mapping[str, Any] | None:
    from reweight import gap

    weights = _weights(G, ddof)
    falls = all(a > b for a, b in pairwise(weights))
    reached = {p: weight for p, weight in zip(GRID, weights, strict=True) if weight >= beta}
    claimed = bool(beta**2 < claim.threshold_square(Fraction(G), ddof))
    if not falls or claimed != bool(reached):
        last = max(reached, default=GRID[0])
        found = {"w(1) >= beta up to p": last if reached else None, "w(1) there": str(reached.get(last))}
        return {"a stationary p > 0 is claimed": claimed, **found}
    slope = gap(Fraction(1, 2), G, Advantage(scale="none")).rational
    if beta < slope:
        root = claim.root(beta / slope)
        weight = gap(root, G, Advantage(scale="none")) * (1 - root)
        return None if weight == beta else {"mean-only p": root, "its w(1)": str(weight)}
    return None


def check_property(claim: SupportOfOptimum) -> Outcome:
    """The library's expected gradient with a k3 penalty vanishes at the stationary policy, and points down without."""
    from hypothesis import strategies as st

    draws = st.fixed_dictionaries(
        {
            "G": st.integers(2, 16),
            "ddof": st.sampled_from([0, 1]),
            "percent": st.sampled_from([2, 20, 50, 80, 99, 101, 120, 300]),
            "share": st.integers(1, 9),
        }
    )
    return property_search.search(
        draws,
        lambda **case: _float_violation(claim, **case),
        domain="N = 3, G <= 16, beta from 0.02 to 3 of the threshold",
        method="expected_coefficients with KLPenalty k3, pulled back to the logits, in float64",
        examples=100,
    )


def _float_violation(claim: SupportOfOptimum, G: int, ddof: Any, percent: int, share: int) -> Mapping[str, Any] | None:
    from scipy.optimize import brentq

    from reweight import gap
    from reweight.bounds import tilt_optimum

    advantage = Advantage(ddof=ddof)
    beta = float(gap(0.0, G, advantage)) * percent / 100
    claimed = bool(beta**2 < claim.threshold_square(G, ddof))
    if claimed != (percent < 100) or tilt_optimum(0.0, beta) != 0.0:
        return {"beta": beta, "claimed": claimed}
    if not claimed:
        slopes = [_slope(p, beta, share, G, advantage)[0] for p in (1e-6, 0.1, 0.5, 0.9)]
        return {"slopes": slopes} if max(slopes) >= 0 else None
    root = brentq(lambda p: (1 - p) * gap(p, G, advantage) - beta, 0.0, 1.0, xtol=1e-14)
    slope = max(abs(value) for value in _slope(root, beta, share, G, advantage))
    return {"p": root, "slope": slope} if slope > ROUNDING else None


def _slope(p: float, beta: float, share: int, size: int, advantage: Advantage) -> list[float]:
    """Expected gradient at the policy with pass rate p and wrong answers as in the base, which has no correct one."""
    import numpy as np

    from reweight import FlatPolicy, KLPenalty, Objective, Problem, expected_coefficients

    base = np.array([0.0, share / 10, 1 - share / 10])
    problem, policy = Problem([1.0, 0.0, 0.0]), FlatPolicy.from_probabilities(np.array([p, 0, 0]) + (1 - p) * base)
    objective = Objective(advantage, size, kl=KLPenalty("k3", beta))
    reference = FlatPolicy.from_probabilities(base)
    slope: list[float] = policy.pull_back(
        problem, expected_coefficients(problem, policy, objective, reference=reference)
    ).tolist()
    return slope


CLAIM = Claim(
    id="C54",
    document=__doc__,
    statement=SupportOfOptimum(gap_at_zero_squared),
    hypotheses=(
        Hypothesis(
            "direction of the KL",
            "the penalty is KL(pi || pi_0), or beta is at least Delta_G(0+).",
            without=SupportOfOptimum(lambda size, _: 0 * size),
            refuted_by=("symbolic", "rational", "property"),
        ),
        Hypothesis("binary rewards", "the rewards are 0 and 1, eps is 0."),
    ),
    roads=(
        Road("symbolic", check_symbolic, expected="proved"),
        Road("rational", check_rational, expected="verified"),
        Road("property", check_property, expected="tested", covers=("threshold_square",)),
    ),
    mutants=(
        Mutant("the threshold of ddof 0 for ddof 1 too", SupportOfOptimum(lambda size, _: size - 1)),
        Mutant("the threshold is 1% lower", SupportOfOptimum(lambda n, d: gap_at_zero_squared(n, d) * 98 / 100)),
        Mutant("always leaves, as for infinite groups", SupportOfOptimum(lambda size, _: size**4)),
        Mutant("mean-only: p = 1/(1 + (beta/c)^2)", SupportOfOptimum(gap_at_zero_squared, lambda b: 1 / (1 + b**2))),
    ),
    vacuous="the first half: a softmax has no exact zeros, and at beta = 0.04 the odds may grow by 10^10.9",
)
