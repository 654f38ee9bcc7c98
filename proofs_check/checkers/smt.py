"""Satisfiability modulo the reals: z3 proves by an unsatisfiable negation, cvc5 gives a second opinion."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from proofs_check.outcome import Outcome, proved, refuted, unknown

__all__ = ["fraction", "prove"]


def prove(
    hypotheses: Sequence[Any],
    conclusion: Any,
    *,
    domain: str,
    method: str,
    seconds: float = 10.0,
    also: dict[str, Any] | None = None,
    second_opinion: bool = True,
) -> Outcome:
    """Show that the hypotheses imply the conclusion, for all values of their real variables.

    The hypotheses alone must be satisfiable (the control): a proof from a contradiction is reported as `unknown`.

    Parameters
    ----------
    hypotheses : sequence of z3 formulas
    conclusion : z3 formula
    domain, method : str
        The quantifiers, and in words what the variables are.
    seconds : float
        Time limit of each solver call.
    also : dict, optional
        Entries for the witness that the model does not carry (for example ``{"N": 4}``).
    second_opinion : bool
        Ask cvc5 too where it is installed; it can only confirm, abstain, or turn the outcome into `unknown`.

    Returns
    -------
    Outcome
        `proved` (negation unsatisfiable), `refuted` (with the model), or `unknown` (time limit, or an empty control).

    Examples
    --------
    >>> import z3
    >>> x = z3.Real("x")
    >>> prove([x >= 1], x * x >= x, domain="all real x >= 1", method="square", second_opinion=False).kind
    'proved'
    """
    import z3

    case = f"{method} {also}" if also else method
    solver = z3.Solver()
    solver.set("timeout", round(1000 * seconds))
    solver.add(*hypotheses)
    control = solver.check()
    if control != z3.sat:
        return unknown(f"{case}: the control failed, z3 finds the hypotheses alone {control}")
    solver.add(z3.Not(conclusion))
    answer = solver.check()
    if answer == z3.unknown:
        return unknown(f"{case}: z3 stopped after {seconds:g} s ({solver.reason_unknown()})")
    if answer == z3.sat:
        return refuted({**(also or {}), **_model(solver.model())}, f"{method}: z3's model of the negation")
    opinion = _cvc5(solver.to_smt2(), seconds) if second_opinion else "not asked"
    if opinion == "sat":
        return unknown(f"{case}: z3 says the negation is unsatisfiable, cvc5 says it is satisfiable")
    return proved(
        domain,
        f"{method}: hypotheses satisfiable (control), with the negated conclusion unsatisfiable (z3; cvc5: {opinion})",
    )


def fraction(value: Fraction | int) -> Any:
    """A rational as a z3 constant."""
    import z3

    exact = Fraction(value)
    return z3.Q(exact.numerator, exact.denominator)


def _model(model: Any) -> dict[str, Any]:
    import z3

    values = {}
    # z3's models also hold functions such as division by zero, which are no part of the counterexample.
    for declaration in sorted((d for d in model.decls() if d.arity() == 0), key=lambda d: d.name()):
        value = model[declaration]
        values[declaration.name()] = (
            Fraction(value.numerator_as_long(), value.denominator_as_long())
            if z3.is_rational_value(value)
            else str(value)
        )
    return values


def _cvc5(script: str, seconds: float) -> str:
    try:
        import cvc5
    except ImportError:
        return "not installed"
    solver = cvc5.Solver()
    solver.setOption("tlimit-per", str(round(1000 * seconds)))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, "(set-logic QF_NRA)\n" + script, "claim")
    symbols = parser.getSymbolManager()
    answer = "unknown"
    try:
        while not (command := parser.nextCommand()).isNull():
            answer = command.invoke(solver, symbols).strip() or answer
    except RuntimeError as error:
        return f"cannot read z3's script ({error})"
    return answer if answer in ("sat", "unsat") else "unknown"
