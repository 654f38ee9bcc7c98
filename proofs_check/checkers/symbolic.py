"""Computer algebra: identities, limits, and one-variable inequalities by their tangent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from proofs_check.outcome import Outcome, proved, refuted, unknown

__all__ = ["above_tangent", "identity", "limit", "nonnegative_terms"]

POINTS = (Fraction(1, 2), Fraction(2), Fraction(1, 3), Fraction(3))
"""Where a difference that does not simplify to zero is looked at, to turn "not shown" into a counterexample."""

STEPS = (0, 1, 9, 99)
"""How far above their least values symbols are, where a term that is not shown non-negative is looked at."""


def identity(
    difference: Any,
    domain: str,
    method: str,
    *,
    points: Mapping[Any, Any] | None = None,
    also: Mapping[str, Any] | None = None,
) -> Outcome:
    """Show that a SymPy expression is identically zero.

    Parameters
    ----------
    difference : sympy expression
        Left side minus right side.
    domain, method : str
        The quantifiers, and in words what the identity is.
    points : dict of symbol to values, optional
        Where to look for a counterexample, smallest first, if it does not simplify; `POINTS` for symbols not named.
    also : dict, optional
        Entries for the witness that the symbols do not carry (for example ``{"G": 3}``).

    Returns
    -------
    Outcome
        `proved` if it simplifies to 0, `refuted` at the first point where it is provably not 0, else `unknown`.

    Examples
    --------
    >>> import sympy
    >>> x = sympy.Symbol("x")
    >>> identity((x + 1) ** 2 - x**2 - 2 * x - 1, "all x", "binomial").kind
    'proved'
    >>> identity((x + 1) ** 2 - x**2 - 1, "all x", "binomial").witness
    {'x': '1/2', 'difference': '1'}
    """
    import sympy

    difference = sympy.sympify(difference)
    reduced = sympy.simplify(difference)
    if reduced == 0:
        return proved(domain, f"{method}: the difference of the two sides simplifies to 0")
    for at in _grid(sorted(difference.free_symbols, key=str), points or {}):
        value = sympy.simplify(difference.subs({symbol: sympy.nsimplify(sympy.sympify(v)) for symbol, v in at.items()}))
        if value.is_zero is False and value.is_finite:
            witness = {**(also or {}), **{str(symbol): v for symbol, v in at.items()}, "difference": str(value)}
            return refuted(witness, f"{method}: the two sides differ at this point, exactly")
    return unknown(f"{method}: the difference does not simplify to 0 and no point of the grid tells the sides apart")


def limit(
    expression: Any, symbol: Any, to: Any, value: Any, domain: str, method: str, *, direction: str = "+"
) -> Outcome:
    """Show that a SymPy expression has this limit; `unknown` if SymPy finds another one, which nobody can check again.

    Examples
    --------
    >>> import sympy
    >>> x = sympy.Symbol("x")
    >>> limit(sympy.sin(x) / x, x, 0, 1, "all x", "sinc").kind
    'proved'
    """
    import sympy

    found = sympy.limit(expression, symbol, to, direction)
    if sympy.simplify(found - value) == 0:
        return proved(domain, f"{method}: the limit at {to} is {found}")
    return unknown(f"{method}: SymPy finds the limit {found} at {to}, not {value}")


def above_tangent(function: Any, symbol: Any, at: Any, domain: str, method: str) -> Outcome:
    """Show that a convex function of one real variable is non-negative because it touches 0 at `at`.

    f(at) = 0, f'(at) = 0 and f'' > 0 everywhere make f >= 0, with equality at `at` only.

    Examples
    --------
    >>> import sympy
    >>> x = sympy.Symbol("x", real=True)
    >>> above_tangent(sympy.exp(x) - 1 - x, x, 0, "all real x", "e^x >= 1 + x").kind
    'proved'
    """
    import sympy

    value, slope = (sympy.simplify(sympy.diff(function, symbol, order).subs(symbol, at)) for order in (0, 1))
    curvature = sympy.simplify(sympy.diff(function, symbol, 2))
    if value == 0 and slope == 0 and curvature.is_positive:
        return proved(domain, f"{method}: value and slope are 0 at {at}, the second derivative {curvature} is positive")
    for point in sorted({sign * p for p in POINTS for sign in (1, -1)}, key=abs):
        seen = function.subs(symbol, sympy.sympify(point))
        if seen.is_negative:
            return refuted({str(symbol): point, "value": str(seen)}, f"{method}: negative at this point")
    return unknown(f"{method}: not shown convex with a tangent of 0 at {at}, and no point of the grid is negative")


def nonnegative_terms(
    terms: Iterable[tuple[str, Any]], domain: str, method: str, *, least: Mapping[Any, Any], strict: bool = False
) -> Outcome:
    """Show that each named term is non-negative (`strict`: positive) when its symbols are at least the given values.

    Each symbol is replaced by (least value + a non-negative symbol); the term's numerator and denominator, multiplied
    out, must then have non-negative coefficients only, which decides it for ALL values at once.

    Parameters
    ----------
    terms : iterable of (name, sympy expression)
        Rational functions of the symbols in `least`.
    least : dict of symbol to number
        The smallest value of each symbol; integer symbols are covered because the proof is for all reals above.

    Examples
    --------
    >>> import sympy
    >>> G = sympy.Symbol("G", positive=True)
    >>> nonnegative_terms([("slack", (G - 2) / G)], "all G", "slack", least={G: 2}).kind
    'proved'
    >>> nonnegative_terms([("slack", (G - 3) / G)], "all G", "slack", least={G: 2}).witness
    {'term': 'slack', 'G': '2', 'value': '-1/2'}
    """
    import sympy

    sign = "positive" if strict else "non-negative"
    for name, term in terms:
        parts = [sympy.Poly(part, *least) for part in sympy.fraction(sympy.together(sympy.sympify(term)))]
        if not _is_shown(parts, least, strict):
            return _negative_point(name, parts, least, strict) or unknown(
                f"{method}: {name} has coefficients of both signs, and no point of the grid shows that it is not {sign}"
            )
    words = f"{method}: shifted to the least values, every coefficient is non-negative"
    return proved(domain, words + (", the constant one positive" if strict else ""))


def _is_shown(parts: Sequence[Any], least: Mapping[Any, Any], strict: bool) -> bool:
    import sympy

    shifted = [sympy.Poly(part.as_expr().subs({s: s + value for s, value in least.items()}), *least) for part in parts]
    constant = shifted[0].eval((0,) * len(least))
    return all(c >= 0 for part in shifted for c in part.coeffs()) and (not strict or bool(constant > 0))


def _negative_point(name: str, parts: Sequence[Any], least: Mapping[Any, Any], strict: bool) -> Outcome | None:
    import sympy

    # A positive symbol never takes the value 0, where a ratio of masses has no value.
    starts = {s: sympy.Rational(1, 9) if s.is_positive and value == 0 else value for s, value in least.items()}
    for at in _grid(list(least), {symbol: [value + step for step in STEPS] for symbol, value in starts.items()}):
        numerator, denominator = (part.eval(tuple(at.values())) for part in parts)
        if denominator == 0:
            continue
        value = numerator / denominator
        if value < 0 or (strict and value == 0):
            witness = {"term": name, **{str(symbol): _exact(v) for symbol, v in at.items()}, "value": str(value)}
            return refuted(witness, "this term has the wrong sign at this point")
    return None


def _exact(value: Any) -> Fraction:
    return Fraction(str(value))


def _grid(symbols: Sequence[Any], points: Mapping[Any, Sequence[Any]]) -> Iterable[dict[Any, Any]]:
    return (
        dict(zip(symbols, values, strict=True))
        for values in product(*(points.get(symbol, POINTS) for symbol in symbols))
    )
