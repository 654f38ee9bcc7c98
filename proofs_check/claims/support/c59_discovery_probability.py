"""The chance that training ever samples a given correct answer is bounded, in two ways.

Statement: P(y sampled within T groups) <= min( 1 - (1 - pi_0(y)/p_0)^{G T},
    G pi_0(y) (e^{eta T/2} - 1)/(e^{eta/2} - 1) ).
Map: S-PG (flat softmax, sampled policy gradient, one inner step, one group an update).
Hypotheses: those of the discovery ceiling (C58), y correct; for the second bound also those of the step bounds (C27).
Verdict and domain: PROVED for all N, G, T and step sizes, given C58 and C27; the whole exact tree agrees.
Source: C59, R06 (docs/theory.md).
Why it matters: it turns a base probability into a budget: with pi_0(y)/p_0 = 1e-4 and G = 8, a thousand groups of a
    prompt find y with probability 0.55 at most, whatever the learning rate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, product
from typing import Any

from proofs_check import sampled_tree as tree
from proofs_check.checkers import rational, symbolic
from proofs_check.claim import Claim, Mutant, Road
from proofs_check.outcome import Outcome, conjunction, lemma
from reweight.objectives.advantage import Advantage

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class DiscoveryBounds:
    """The ceiling form is 1 - (1 - share)^{G (T - late)}, share = pi_0(y)/p_0 or pi_0(y).

    The growth form sums (draws G) pi_0(y) e^{rate eta t} over the updates t before each group.
    """

    by_pass_rate: bool = True
    late: int = 0
    rate: Fraction = HALF
    draws: Fraction = Fraction(1)


def check_symbolic(bounds: DiscoveryBounds) -> Outcome:
    """Induction over T with all quantities as symbols.

    D(T) is the probability of discovery by T, x the probability of y in a state where it is undiscovered; the chance
    that the next group finds it is h(x) = 1 - (1 - x)^G. C58 gives x <= c = pi_0/p_0, C27 gives x <= pi_0 e^{eta T/2}.
    A step that fails refutes nothing, as the bound may hold for another reason; the first group, which is drawn from
    the base, can.
    """
    import sympy

    size, steps, eta, base, rate = sympy.symbols("G T eta pi_0 p_0", positive=True)
    x = sympy.Symbol("x", positive=True)
    share = base / rate if bounds.by_pass_rate else base
    c = sympy.Symbol("c", positive=True)

    def ceiling(t: Any) -> Any:
        return 1 - (1 - c) ** (size * (t - bounds.late))

    def parts() -> Iterator[Outcome]:
        yield symbolic.identity(share - base / rate, "all pi_0, all p_0", "c is the ceiling of C58 on x")
        growing = sympy.simplify(sympy.diff(1 - (1 - x) ** size, x) / (size * (1 - x) ** (size - 1)))
        yield symbolic.identity(growing - 1, "all G", "h' = G (1 - x)^(G-1) >= 0: h(x) <= h(c)")
        points: dict[Any, Any] = {c: [HALF], size: [2]}
        yield symbolic.identity(ceiling(0), "all G", "the bound B holds at T = 0: D(0) = 0", points=points)
        step = ceiling(steps + 1) - (ceiling(steps) + (1 - ceiling(steps)) * (1 - (1 - c) ** size))
        yield symbolic.identity(
            sympy.powsimp(sympy.expand(step), force=True),
            "all T",
            "D(T+1) <= D(T) + (1 - D(T)) h(c), which grows with D(T) since 1 - h(c) >= 0; B(T+1) is that of B(T)",
            points={**points, steps: [1]},
        )
        yield from _growth(bounds, size, steps, eta, base, x)

    return conjunction(
        chain(_first_group(bounds), map(lemma, parts())), "all N, all G, all T, all step sizes, all pi_0"
    )


def _first_group(bounds: DiscoveryBounds) -> Iterator[Outcome]:
    """T = 1, G = 2: y is found with probability 1 - (1 - pi_0)^2, whatever the step size."""
    import sympy

    y, correct, wrong = sympy.symbols("y k w", positive=True)
    base = y / (y + correct + wrong)
    share = y / (y + correct) if bounds.by_pass_rate else base
    found, draws = 1 - (1 - base) ** 2, sympy.Rational(bounds.draws.numerator, bounds.draws.denominator)
    terms = {"ceiling form": 1 - (1 - share) ** (2 * (1 - bounds.late)), "growth form": 2 * draws * base}
    yield symbolic.nonnegative_terms(
        [(f"{name} - P(y in the first group of two)", bound - found) for name, bound in terms.items()],
        "all pi_0",
        "T = 1, G = 2, where pi_0 = y/(y + k + w) and p_0 = (y + k)/(y + k + w)",
        least={y: 0, correct: 0, wrong: 0},
    )


def _growth(bounds: DiscoveryBounds, size: Any, steps: Any, eta: Any, base: Any, x: Any) -> Iterator[Outcome]:
    import sympy

    rate, draws = (sympy.Rational(v.numerator, v.denominator) for v in (bounds.rate, bounds.draws))
    q = sympy.Symbol("q", positive=True)
    slack = sympy.diff(size * x - (1 - (1 - x) ** size), x) - size * (1 - (1 - x) ** (size - 1))
    yield symbolic.identity(
        sympy.simplify(slack), "all G", "G x - h(x) starts at 0 with slope G (1 - (1-x)^(G-1)) >= 0: h(x) <= G x"
    )
    closed = (q ** (steps + 1) - 1) / (q - 1) - (q**steps - 1) / (q - 1)
    yield symbolic.identity(
        closed - q**steps, "all T", "(q^T - 1)/(q - 1), which is 0 at T = 0, grows by q^T: it sums q^t over t < T"
    )
    term = draws * size * base * sympy.exp(rate * eta * steps)
    yield symbolic.identity(
        term - size * base * sympy.exp(eta * steps / 2),
        "all T",
        "D(T+1) <= D(T) + G pi_0 e^{eta T/2}, the next term of the bound",
        points={steps: [1], size: [2], eta: [1], base: [Fraction(1, 100)]},
    )


def check_ball(bounds: DiscoveryBounds) -> Outcome:
    """The probability of discovery, summed over every path of the exact tree."""
    return rational.check_all(
        _cases(),
        lambda **case: _violation(bounds, **case),
        domain="N <= 3, G <= 3, T <= 3, listed pi_0, eta in 1/10, 2, every correct y",
        method="P(y sampled by T) from all groups and the library's exact advantages",
        arithmetic="balls",
    )


def _cases() -> Iterator[dict[str, Any]]:
    tiny = Fraction(1, 100)
    starts = [(HALF, HALF), *rational.policies(3, 4), (tiny, tiny, 1 - 2 * tiny), (tiny, 1 - 2 * tiny, tiny)]
    starts.append((Fraction(1, 5), Fraction(1, 10**4), 1 - Fraction(1, 5) - Fraction(1, 10**4)))
    for start, eta, size in product(starts, (Fraction(1, 10), Fraction(2)), (2, 3)):
        for correct in range(1, len(start)):
            rewards = tuple(Fraction(int(y < correct)) for y in range(len(start)))
            yield {"N": len(start), "G": size, "steps": 3, "eta": eta, "pi_0": start, "rewards": rewards}


def _violation(
    bounds: DiscoveryBounds,
    G: int,
    steps: int,
    eta: Fraction,
    pi_0: tuple[Fraction, ...],
    rewards: tuple[Fraction, ...],
    **_: Any,
) -> Mapping[str, Any] | None:
    rate = sum((mass for mass, reward in zip(pi_0, rewards, strict=True) if reward), Fraction(0))
    undecided = None
    for step, layer in enumerate(tree.layers(pi_0, rewards, G, Advantage(), eta, steps)):
        for y in [y for y, reward in enumerate(rewards) if reward and step]:
            try:
                seen = _too_likely(bounds, layer, (G, step), eta, (y, pi_0[y], rate))
            except rational.Undecided as reason:
                undecided = reason
                continue
            if seen:
                return {"steps": step, "y": y, **seen}
    if undecided:
        raise undecided
    return None


def _too_likely(
    bounds: DiscoveryBounds,
    layer: Mapping[tree.Node, Any],
    group_and_step: tuple[int, int],
    eta: Fraction,
    answer: tuple[int, Fraction, Fraction],
) -> dict[str, str] | None:
    from flint import ctx

    (size, step), (y, mass, rate) = group_and_step, answer
    share = mass / rate if bounds.by_pass_rate else mass
    with ctx.workprec(tree.BITS):
        missed = sum(chance for node, chance in layer.items() if y not in node.sampled)
        ceiling = tree.ball((1 - share) ** (size * (step - bounds.late)))
        growth = tree.ball(bounds.rate * eta).exp()
        terms = sum(growth**t for t in range(step)) * tree.ball(bounds.draws * size * mass)
        # A share of 1 (y alone is correct) makes the first bound 1, which no probability exceeds.
        first = share == 1 or tree.surely_less(ceiling, missed)
        if first and tree.surely_less(1 - terms, missed):
            return None
        shown = {"P(found)": 1 - missed, "ceiling form": 1 - ceiling, "growth form": terms}
        return {name: value.str(10, radius=False) for name, value in shown.items()}


CLAIM = Claim(
    id="C59",
    document=__doc__,
    statement=DiscoveryBounds(),
    roads=(
        Road("symbolic", check_symbolic, expected="proved"),
        Road("ball", check_ball, expected="verified"),
    ),
    mutants=(
        Mutant("as if the policy stayed at the base: 1 - (1 - pi_0(y))^{G T}", DiscoveryBounds(by_pass_rate=False)),
        Mutant("the first group does not count", DiscoveryBounds(late=1)),
        Mutant("without growth: at most G T pi_0(y)", DiscoveryBounds(rate=Fraction(0))),
        Mutant("the growth form smaller by 1%", DiscoveryBounds(draws=Fraction(99, 100))),
    ),
)
