"""In groups of two or three the standard deviation does nothing but rescale: the gap is the same at every pass rate.

Statement: Delta_2(p) = 1 and Delta_3(p) = sqrt(2) for all p (ddof 0); 1/sqrt(2) and 2/sqrt(3) for ddof 1.
Map: none; it is about the weights that every map uses.
Hypotheses: rewards 0 and 1, group mean and standard deviation, eps = 0.
Verdict and domain: PROVED for all pass rates.
Source: C04, R01, H1 (docs/theory.md).
Why it matters: with G <= 3 dividing by the std is a constant factor on the step size: no emphasis on hard prompts can
    come from it. From G = 4 on the gap depends on p.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from proofs_check.checkers import rational, symbolic
from proofs_check.claim import Claim, Hypothesis, Mutant, Road
from proofs_check.outcome import Outcome, conjunction, proved
from reweight import Advantage


@dataclass(frozen=True)
class ConstantGaps:
    """Delta_G(p)^2 = square(G, ddof) for each of the group sizes and every p."""

    square: Callable[[int, int], Fraction]
    sizes: tuple[int, ...] = (2, 3)
    eps: Fraction = Fraction(0)

    @property
    def domain(self) -> str:
        """The quantifiers."""
        return f"G = {' or '.join(map(str, self.sizes))}, all p"


def known_squares(size: int, ddof: int) -> Fraction:
    """The square of the constant, 1 and 2, times (G-1)/G for ddof 1."""
    return (size - 1) * (Fraction(size - 1, size) if ddof else Fraction(1))


def check_symbolic(claim: ConstantGaps) -> Outcome:
    """The gap from its definition: all 2^(G-1) completions of a group, with p as a symbol."""
    import sympy

    p = sympy.Symbol("p", real=True)
    grid = {p: [Fraction(1, 2), Fraction(1, 3)]}

    def parts() -> Iterator[Outcome]:
        for size, ddof in product(claim.sizes, (0, 1)):
            claimed = sympy.sqrt(sympy.Rational(str(claim.square(size, ddof))))
            yield symbolic.identity(
                sympy.expand(_gap(size, ddof, sympy.Rational(str(claim.eps)), p)) - claimed,
                "all p",
                "E[A_1 | correct] - E[A_1 | wrong] over all completions, as a polynomial in p",
                points=grid,
                also={"N": 2, "G": size, "ddof": ddof},
            )

    return conjunction(parts(), claim.domain)


def _gap(size: int, ddof: int, eps: Any, p: Any) -> Any:
    import sympy

    total = sympy.Integer(0)
    for others in product((0, 1), repeat=size - 1):
        chance = sympy.prod([p if other else 1 - p for other in others])
        for first, sign in ((1, 1), (0, -1)):
            group = (first, *others)
            mean = sympy.Rational(sum(group), size)
            variance = sum((r - mean) ** 2 for r in group) / (size - ddof)
            if variance:
                total += sign * chance * (first - mean) / (sympy.sqrt(variance) + eps)
    return total


def check_rational(claim: ConstantGaps) -> Outcome:
    """The library's exact gap at G pass rates, which settles every pass rate: its degree in p is at most G - 1."""

    def violation(G: int, ddof: Any, p: Fraction, **_: Any) -> Mapping[str, Any] | None:
        from reweight import gap

        seen = gap(p, G, Advantage(ddof=ddof, eps=claim.eps))
        return None if (seen * seen).rational == claim.square(G, ddof) and seen > 0 else {"gap": str(seen)}

    def cases() -> Iterator[dict[str, Any]]:
        for size, ddof in product(claim.sizes, (0, 1)):
            for part in range(1, size + 1):
                yield {"N": 2, "G": size, "ddof": ddof, "p": Fraction(part, size + 1)}

    table = rational.check_all(
        cases(), violation, domain=claim.domain, method="exact gap of the library at G pass rates"
    )
    if table.kind != "verified":
        return table
    return proved(claim.domain, f"{table.certificate}; a polynomial of degree at most G - 1 is fixed by G values")


CLAIM = Claim(
    id="C04",
    document=__doc__,
    statement=ConstantGaps(known_squares),
    hypotheses=(
        Hypothesis(
            "no eps",
            "eps is 0 (the gap stays constant in p with an eps, at a smaller value).",
            without=ConstantGaps(known_squares, eps=Fraction(1, 100)),
            refuted_by=("symbolic", "rational"),
        ),
    ),
    roads=(
        Road("symbolic", check_symbolic, expected="proved"),
        Road("rational", check_rational, expected="proved"),
    ),
    mutants=(
        Mutant("also in groups of four, sqrt(3)", ConstantGaps(known_squares, sizes=(2, 3, 4))),
        Mutant("the ddof makes no difference", ConstantGaps(lambda size, _: Fraction(size - 1))),
        Mutant(
            "ddof 1 divides by G/(G-1) once more",
            ConstantGaps(lambda size, ddof: (size - 1) * Fraction(size - 1, size) ** (2 * ddof)),
        ),
    ),
)
