"""The optimum of reward minus KL to the base multiplies the odds of a correct answer by e^{1/beta}, and no more.

Statement: pi*(y) = pi_0(y) e^{r(y)/beta}/Z with Z = 1 - Q + Q e^{1/beta} is the one maximum of
    E[r] - beta KL(pi || pi_0); p* = Q e^{1/beta}/Z; the gain p* - Q is Q (1-Q)(e^{1/beta} - 1)/Z, over all Q at most
    tanh(1/(4 beta)), attained at Q = 1/(1 + e^{1/(2 beta)}) alone; the cost is KL(pi* || pi_0) = p*/beta - log Z.
Map: none, it is an optimum; TILT with exponent 1/beta reaches it in one step.
Hypotheses: rewards 0 and 1, KL of the policy to the base, beta > 0, 0 < Q < 1, every policy allowed.
Verdict and domain: PROVED for all N, all base policies and all beta.
Source: C48 (docs/theory.md); arXiv 2510.15990, Theorem 1 (as reconstructed).
Why it matters: it says how much regularised RLVR can gain, as a function of the base pass rate alone. It is about the
    optimum, not about a run; and at beta = 0.04 it allows the odds to grow by a factor of 10^10.9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from proofs_check.checkers import rational, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome, conjunction, unknown
from proofs_check.sampled_tree import BITS, ball
from proofs_check.tilted import gain, normaliser, optimum

ACCURACY = Fraction(1, 10**12)
DOMAIN = "all N, all pi_0, all beta"


@dataclass(frozen=True)
class TiltedOptimum:
    """Formulas of Q, of u = e^{1/(2 beta)}, and for the cost of p*, 1/beta and log Z.

    The optimum multiplies the odds by factor(u) for the reward `reward`.
    """

    factor: Callable[[Any], Any] = lambda u: u**2
    gain: Callable[[Any, Any], Any] = gain
    largest: Callable[[Any], Any] = lambda u: (u - 1) / (u + 1)
    argmax: Callable[[Any], Any] = lambda u: 1 / (1 + u)
    cost: Callable[[Any, Any, Any], Any] = lambda p, exponent, log_normaliser: p * exponent - log_normaliser
    reward: Fraction = Fraction(1)


def check_symbolic(claim: TiltedOptimum) -> Outcome:
    """E[r] - beta KL(pi || pi_0) = beta log Z - beta KL(pi || pi*) for every pi, and a divergence is never negative."""
    import sympy

    base, root, mass, start = sympy.symbols("Q u pi_y pi_0y", positive=True)
    small = {base: [Fraction(1, 3), Fraction(1, 2)], root: [2, 3], mass: [Fraction(1, 2)], start: [Fraction(1, 3)]}
    factor = claim.factor(root)
    total = normaliser(base, factor)

    def equal(difference: Any, method: str) -> Outcome:
        return symbolic.identity(sympy.expand_log(difference), DOMAIN, method, points=small)

    def parts() -> Iterator[Outcome]:
        yield from _is_the_optimum(claim, mass, start, factor, total, root, equal)
        yield equal(optimum(base, factor) - base - claim.gain(base, root**2), "p* - Q is the gain")
        largest = claim.largest(root)
        tanh = sympy.tanh(sympy.log(root) / 2).rewrite(sympy.exp)
        yield equal(tanh - largest, "tanh(1/(4 beta)) with u = e^{1/(2 beta)}")
        square = (root - 1) * (1 - base / claim.argmax(root)) ** 2 / ((root + 1) * normaliser(base, root**2))
        yield equal(
            largest - claim.gain(base, root**2) - square, "largest gain - gain = (u-1)(1 - Q/argmax)^2/((u+1) Z)"
        )
        scale = (root - 1) / ((root + 1) * normaliser(base, root**2))
        least = {base: 0, root: 1}
        yield symbolic.nonnegative_terms([("factor", scale)], DOMAIN, "(u-1)/((u+1) Z) for u >= 1", least=least)
        reached, partition = sympy.symbols("p Z", positive=True)
        spent = reached * sympy.log(factor / partition) + (1 - reached) * sympy.log(1 / partition)
        claimed = claim.cost(reached, 2 * sympy.log(root), sympy.log(partition))
        yield equal(spent - claimed, "sum pi* log(pi*/pi_0) over correct and wrong answers")

    return conjunction(parts(), DOMAIN)


def _is_the_optimum(
    claim: TiltedOptimum, mass: Any, start: Any, factor: Any, total: Any, root: Any, equal: Callable[..., Outcome]
) -> Iterator[Outcome]:
    """The identity answer by answer, for either reward, and that a divergence is never negative."""
    import sympy

    beta = 1 / (2 * sympy.log(root))
    for reward, tilted in ((claim.reward, start * factor / total), (Fraction(0), start / total)):
        worth = sympy.Rational(str(reward)) - beta * sympy.log(mass / start)
        split = beta * sympy.log(total) - beta * sympy.log(mass / tilted)
        yield equal((worth - split) / beta, "r - beta log(pi/pi_0) = beta log Z - beta log(pi/pi*), answer by answer")
    x = sympy.Symbol("x", real=True)
    yield symbolic.above_tangent(
        sympy.exp(x) - 1 - x,
        x,
        0,
        DOMAIN,
        "KL(pi || pi*) >= sum pi (1 - pi*/pi) = 0, by e^x >= 1 + x at x = log(pi*/pi)",
    )


def check_convex(claim: TiltedOptimum) -> Outcome:
    """A solver's policy and multiplier, certified by balls; by strong convexity a small gap means a close pass rate."""
    bases = ((Fraction(1, 5), Fraction(4, 5)), (Fraction(1, 10), Fraction(3, 10), Fraction(3, 5)))

    def cases() -> Iterator[dict[str, Any]]:
        for base, beta in product(bases, (Fraction(1, 2), Fraction(2))):
            yield {"N": len(base), "beta": beta, "pi_0": base}

    return rational.check_all(
        cases(),
        lambda **case: _convex_violation(claim, **case),
        domain="N <= 3, beta in 1/2, 2, listed pi_0",
        method="p* and the optimal value between the solver's policy and its dual bound, to 1e-3 in p*",
        arithmetic="balls",
    )


def _convex_violation(
    claim: TiltedOptimum, N: int, beta: Fraction, pi_0: tuple[Fraction, ...]
) -> Mapping[str, Any] | None:
    from flint import ctx

    from proofs_check.entropy_programs import largest_penalised_reward

    with ctx.workprec(BITS):
        found = largest_penalised_reward([claim.reward] + [Fraction(0)] * (N - 1), pi_0, beta)
        # value(pi*) - value(pi) = beta KL(pi || pi*) >= 2 beta (p - p*)^2, by Pinsker.
        reach = ((found.bound - found.value) / ball(2 * beta)).sqrt()
        if not reach < 1e-3:
            raise ArithmeticError("the solver's policy and multiplier are too far apart to decide")
        factor = claim.factor((1 / ball(2 * beta)).exp())
        reached = optimum(ball(pi_0[0]), factor)
        worth = ball(beta) * normaliser(ball(pi_0[0]), factor).log()
        inside = abs(reached - ball(found.policy[0])) < reach + 1e-12
        if inside and found.value - 1e-12 < worth < found.bound + 1e-12:
            return None
        shown = {"claimed p*": reached, "p of the solver": ball(found.policy[0]), "at most off by": reach}
        return {name: str(value.str(9, radius=False)) for name, value in shown.items()}


def check_ball(claim: TiltedOptimum) -> Outcome:
    """The library's functions in float64 against the formulas as balls."""
    if claim.reward != 1:
        return unknown("the library's functions are about rewards 0 and 1")

    def cases() -> Iterator[dict[str, Any]]:
        bases = (Fraction(1, 10**9), Fraction(1, 10), Fraction(1, 2), Fraction(999, 1000))
        for base, beta in product(bases, (Fraction(1, 25), Fraction(1, 2), Fraction(4))):
            yield {"Q": base, "beta": beta}

    return rational.check_all(
        cases(),
        lambda **case: _ball_violation(claim, **case),
        domain="listed Q from 1e-9 to 0.999, beta from 0.04 to 4",
        method="tilt_optimum, tilt_gain, tilt_gain_max, tilt_gain_argmax and tilt_kl, relative 1e-12",
        arithmetic="balls",
    )


def _ball_violation(claim: TiltedOptimum, Q: Fraction, beta: Fraction) -> Mapping[str, Any] | None:
    from flint import arb, ctx, fmpq

    from reweight import bounds

    q, b = float(Q), float(beta)
    library = (
        bounds.tilt_optimum(q, b),
        bounds.tilt_gain(q, b),
        bounds.tilt_gain_max(b),
        bounds.tilt_gain_argmax(b),
        bounds.tilt_kl(q, b),
    )
    with ctx.workprec(BITS):
        base, exponent = arb(fmpq(*q.as_integer_ratio())), 1 / arb(fmpq(*b.as_integer_ratio()))
        root = (exponent / 2).exp()
        factor = claim.factor(root)
        reached = optimum(base, factor)
        cost = claim.cost(reached, exponent, normaliser(base, factor).log())
        exact = (reached, claim.gain(base, root**2), claim.largest(root), claim.argmax(root), cost)
        limit = arb(fmpq(ACCURACY.numerator, ACCURACY.denominator))
        names = ("p*", "gain", "largest gain", "Q of the largest gain", "cost")
        for name, seen, value in zip(names, library, exact, strict=True):
            if not abs(arb(float(seen)) - value) < limit * abs(value):
                return {"quantity": name, "library": float(seen), "claimed": str(value.str(15, radius=False))}
    return None


CLAIM = Claim(
    id="C48",
    document=__doc__,
    statement=TiltedOptimum(),
    hypotheses=(
        Hypothesis(
            "unit reward",
            "a correct answer earns 1 more than a wrong one (for R in the place of 1 read beta/R for beta).",
            without=TiltedOptimum(reward=Fraction(2)),
            refuted_by=("symbolic", "convex"),
        ),
        Hypothesis("KL to the base", "the penalty is KL(pi || pi_0); for KL(pi_0 || pi) see C54."),
    ),
    roads=(
        Road("symbolic", check_symbolic, expected="proved"),
        Road("convex", check_convex, expected="verified", covers=("factor", "reward")),
        Road("ball", check_ball, expected="verified"),
    ),
    mutants=(
        Mutant("the odds grow by e^{1/(2 beta)}", TiltedOptimum(factor=lambda u: u)),
        Mutant("the gain without its denominator", TiltedOptimum(gain=lambda q, x: q * (1 - q) * (x - 1))),
        Mutant("the largest gain is tanh(1/(2 beta))", TiltedOptimum(largest=lambda u: (u**2 - 1) / (u**2 + 1))),
        Mutant("attained at Q = 1/(1 + e^{1/beta})", TiltedOptimum(argmax=lambda u: 1 / (1 + u**2))),
        Mutant("the cost is p*/beta", TiltedOptimum(cost=lambda p, exponent, _: p * exponent)),
    ),
)
