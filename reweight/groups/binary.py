"""Binary rewards: the gap between a correct and a wrong answer, and the objective that it is the slope of.

With K correct members a group gives a correct one the advantage a_1(K) and a wrong one a_0(K). Given member 1, the
other members hold Bin(G - 1, p) correct ones, so for every prompt-local advantage

    Delta_G(p) = w(1) - w(0) = E_{k ~ Bin(G-1, p)} [a_1(k + 1) - a_0(k)],

a polynomial in Bernstein form. Its coefficients do not depend on p, and for centred advantages none is negative.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial
from math import comb
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from reweight.checks import SUM_TOLERANCE, choice, real, unit
from reweight.errors import InputError
from reweight.groups.advantages import float_advantages, regularised
from reweight.groups.balls import as_ball, ball_gap
from reweight.groups.bernstein_form import bernstein_form
from reweight.groups.exact_advantages import as_fraction, exact_advantages
from reweight.groups.inputs import check_needs_rewards_alone
from reweight.groups.radicals import RadicalSum
from reweight.objectives.advantage import Advantage

__all__ = ["binary_advantages", "binary_weights", "effective_objective", "fill_probability", "gap", "usable_share"]

Floats = NDArray[np.float64]
LARGEST_GROUP, LARGEST_EXACT_GROUP = 16_384, 256
KEPT, LARGEST_BLOCK = 64, 4_000_000


def binary_advantages(
    group_size: int, advantage: Advantage, *, exact: bool = False
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the advantages of a correct and of a wrong member in a group with K correct ones, each of shape (G + 1,).

    The entry for a member that does not exist (a correct one at K = 0, a wrong one at K = G) is zero.

    Examples
    --------
    >>> correct, wrong = binary_advantages(4, Advantage())
    >>> correct.round(4), wrong.round(4)
    (array([0.    , 1.7321, 1.    , 0.5774, 0.    ]), array([ 0.    , -0.5774, -1.    , -1.7321,  0.    ]))
    """
    check_needs_rewards_alone(group_size, advantage)
    largest = LARGEST_EXACT_GROUP if exact else LARGEST_GROUP
    if group_size > largest:
        where = " in exact arithmetic" if exact else ""
        raise InputError(f"group_size must be at most {largest}{where}, got {group_size}.")
    if exact:
        values = exact_advantages(_groups(group_size, np.arange(group_size + 1)).astype(object), advantage)
        correct, wrong = values[:, 0].copy(), values[:, -1].copy()
        correct[0] = wrong[-1] = RadicalSum()
        return correct, wrong
    if _is_symmetric(advantage):
        return _symmetric_advantages(group_size, advantage)
    rows = max(1, LARGEST_BLOCK // group_size)
    blocks = np.split(np.arange(group_size + 1), range(rows, group_size + 1, rows))
    pairs = np.vstack([float_advantages(_groups(group_size, block), advantage, members=[0, -1]) for block in blocks])
    pairs[0, 0] = pairs[-1, 1] = 0.0
    return pairs[:, 0], pairs[:, 1]


def _groups(group_size: int, correct: NDArray[np.intp]) -> Floats:
    """One group for each number of correct members, those first."""
    return (np.arange(group_size) < correct[:, None]).astype(np.float64)


def _symmetric_advantages(group_size: int, advantage: Advantage) -> tuple[Floats, Floats]:
    """Advantages in closed form for a centred baseline and the group's own scale, or none."""
    correct = np.arange(1.0, group_size)
    wrong = group_size - correct
    divisor = np.ones_like(correct)
    if advantage.scale == "std":
        divisor = regularised(np.sqrt(correct * wrong / (group_size * (group_size - advantage.ddof))), advantage)
    if advantage.baseline == "mean":
        divisor *= group_size
    else:
        divisor *= group_size - 1
    return np.pad(wrong / divisor, 1), np.pad(-correct / divisor, 1)


def gap(
    pass_rate: ArrayLike | Fraction | None = None,
    group_size: int = 8,
    advantage: Advantage | None = None,
    *,
    complement: ArrayLike | None = None,
    logit: ArrayLike | None = None,
    tpr: float | Fraction = 1,
    fpr: float | Fraction = 0,
    mixed_only: bool = False,
    precision: Literal["float64", "ball"] = "float64",
    radius: float | None = None,
) -> Any:
    """Compute Delta_G(p) = w(correct) - w(wrong) for binary rewards.

    Parameters
    ----------
    pass_rate : array_like or Fraction
        Probability p of a correct answer. A Fraction gives an exact RadicalSum.
    group_size : int
        Number of draws G in a group.
    advantage : Advantage, optional
        A prompt-local advantage; the group's z-score with ddof 0 by default.
    complement : array_like, optional
        1 - p, where it is known better than by subtraction (p near 1).
    logit : array_like, optional
        log(p / (1 - p)) in nats, instead of `pass_rate`.
    tpr, fpr : float or Fraction
        Probability that the verifier accepts a correct and a wrong answer; the gap is still between correct and wrong.
    mixed_only : bool
        Condition on groups with both outcomes, as dynamic sampling does; NaN where there are none.
    precision : {"float64", "ball"}
        "ball" returns an interval (python-flint `arb`) that holds the true value; a float is the binary fraction that
        it is.
    radius : float, optional
        For "ball": the largest radius, relative to the gap.

    Returns
    -------
    float, ndarray, RadicalSum or arb, shaped like the pass rate

    Raises
    ------
    InputError
        If a probability is outside [0, 1] or the group is too small for the advantage.

    Notes
    -----
    Source: H1, R01, C02; the noisy verifier is C19, the condition C17.

    Examples
    --------
    >>> float(round(gap(0.01, 8), 4)), round(1 / (0.01 * 0.99) ** 0.5, 4)  # G = 8, and the limit of infinite groups
    (2.6089, 10.0504)
    >>> print(gap(Fraction(1, 7), 3, Advantage()))
    1*sqrt(2)
    """
    chosen = Advantage() if advantage is None else advantage
    choice(precision, "precision", ("float64", "ball"))
    if (precision == "ball") != (radius is not None):
        raise InputError("radius goes with precision 'ball': give both or neither")
    if radius is not None:
        given = (pass_rate, complement, logit)
        return _ball_gaps(given, group_size, chosen, radius, (as_fraction(tpr), as_fraction(fpr)), mixed_only)
    if isinstance(pass_rate, Fraction) and complement is None and logit is None:
        return _exact_gap(pass_rate, group_size, chosen, as_fraction(tpr), as_fraction(fpr), mixed_only)
    p, q = _rates(cast(ArrayLike, pass_rate), complement, logit)
    unit(float(tpr), "TPR")
    unit(float(fpr), "FPR")
    seen_p, seen_q = _as_seen(p, q, float(tpr), float(fpr))
    correct, wrong = _coefficients(group_size, chosen, mixed_only)
    push = bernstein_form(correct - wrong, seen_p, seen_q, symmetric=_is_symmetric(chosen))
    result = (float(tpr) - float(fpr)) * push
    return _given_mixed(result, seen_p, seen_q, group_size)[()] if mixed_only else result[()]


def binary_weights(
    pass_rate: ArrayLike,
    group_size: int,
    advantage: Advantage,
    *,
    complement: ArrayLike | None = None,
    tpr: float = 1.0,
    fpr: float = 0.0,
    mixed_only: bool = False,
) -> tuple[Any, Any]:
    """Compute w(1) and w(0), the expected advantages of a correct and of a wrong answer.

    Parameters and errors are those of :func:`gap`, which is their difference without its cancellation.

    Notes
    -----
    For centred advantages w(1) = q Delta and w(0) = -p Delta (R01), with p as the verifier sees it.

    Examples
    --------
    >>> correct, wrong = binary_weights(0.25, 2, Advantage())
    >>> float(correct), float(wrong)
    (0.75, -0.25)
    """
    p, q = _rates(pass_rate, complement, None)
    unit(tpr, "TPR")
    unit(fpr, "FPR")
    seen_p, seen_q = _as_seen(p, q, tpr, fpr)
    correct, wrong = _coefficients(group_size, advantage, mixed_only)
    if _is_symmetric(advantage):
        push = bernstein_form(correct - wrong, seen_p, seen_q, symmetric=True)
        accepted, refused = seen_q * push, -seen_p * push
    else:
        accepted, refused = (bernstein_form(values, seen_p, seen_q) for values in (correct, wrong))
    weights = [rate * accepted + (1 - rate) * refused for rate in (tpr, fpr)]
    if mixed_only:
        weights = [_given_mixed(weight, seen_p, seen_q, group_size) for weight in weights]
    return weights[0][()], weights[1][()]


def effective_objective(
    pass_rate: ArrayLike | Fraction,
    group_size: int,
    advantage: Advantage | None = None,
    *,
    complement: ArrayLike | None = None,
) -> Any:
    """Compute the objective F_G of the pass rate that expected GRPO climbs: F_G' = Delta_G and F_G(0) = 0.

    Parameters and errors are those of :func:`gap`.

    Notes
    -----
    Integrating the Bernstein form term by term, F_G(p) = (1/G) sum over k of the k-th coefficient times P(Bin(G, p) >
    k), which is a Bernstein form again: its j-th coefficient is the sum of those below j. Source: H7, N04.

    Examples
    --------
    >>> float(round(effective_objective(0.5, 2), 12)), float(round(effective_objective(1.0, 4), 6))
    (0.5, 1.654701)
    """
    chosen = Advantage() if advantage is None else advantage
    if isinstance(pass_rate, Fraction):
        coefficients = _exact_coefficients(group_size, chosen)
        tails = [
            sum((_binomial(group_size, j, pass_rate) for j in range(k + 1, group_size + 1)), Fraction(0))
            for k in range(group_size)
        ]
        return RadicalSum.total(c * t for c, t in zip(coefficients, tails, strict=True)) / group_size
    p, q = _rates(pass_rate, complement, None)
    correct, wrong = _coefficients(group_size, chosen)
    below = np.append(0.0, np.cumsum(correct - wrong)) / group_size
    return bernstein_form(below, p, q)[()]


def usable_share(pass_rate: ArrayLike | Fraction, group_size: int) -> Any:
    """Compute the probability 1 - p^G - q^G that a group is mixed, without cancellation.

    Examples
    --------
    >>> float(round(usable_share(0.002, 8), 13)), usable_share(Fraction(1, 2), 3)
    (0.0158884468818, Fraction(3, 4))
    """
    if isinstance(pass_rate, Fraction):
        unit(float(pass_rate), "pass_rate")
        return 1 - pass_rate**group_size - (1 - pass_rate) ** group_size
    p, q = _rates(pass_rate, None, None)
    return _mixed_share(p, q, group_size)[()]


def fill_probability(pass_rate: float, group_size: int, batch: int, max_rounds: int) -> float:
    """Compute the probability that dynamic sampling fills a batch of mixed groups in at most `max_rounds` rounds.

    A round draws one group for each of `batch` prompts, all of the same pass rate. Source: C17, R24.

    Examples
    --------
    >>> round(fill_probability(0.02, 8, 128, 10), 9)
    0.999999921
    """
    from scipy.special import betainc

    share = float(usable_share(pass_rate, group_size))
    return float(betainc(batch, batch * (max_rounds - 1) + 1, share))


def _rates(pass_rate: ArrayLike | None, complement: ArrayLike | None, logit: ArrayLike | None) -> tuple[Floats, Floats]:
    if logit is not None:
        if pass_rate is not None or complement is not None:
            raise InputError("give the pass rate or its logit, not both")
        odds = real(logit, "logit")
        return expit(odds), expit(-odds)
    if pass_rate is None and complement is None:
        raise InputError("there is no pass rate: give pass_rate, complement or logit")
    p = 1.0 - unit(cast(ArrayLike, complement), "complement") if pass_rate is None else unit(pass_rate, "pass_rate")
    if complement is None:
        return p, 1.0 - p
    q = unit(complement, "complement")
    if (np.abs(p + q - 1.0) > SUM_TOLERANCE).any():
        raise InputError("the pass rate and its complement do not sum to 1")
    total = p + q
    return p / total, q / total


def _as_seen(p: Floats, q: Floats, tpr: float, fpr: float) -> tuple[Floats, Floats]:
    """Probabilities that the verifier accepts an answer, and that it refuses it."""
    if (tpr, fpr) == (1.0, 0.0):
        return p, q
    return tpr * p + fpr * q, (1 - tpr) * p + (1 - fpr) * q


def _is_symmetric(advantage: Advantage) -> bool:
    """Whether exchanging right and wrong turns advantages around, so that the gap is a function of p q."""
    return (
        advantage.baseline in ("mean", "leave_one_out")
        and advantage.scale in ("std", "none")
        and advantage.selection == "all"
    )


def _mixed_share(p: Floats, q: Floats, group_size: int) -> Floats:
    """1 - q^G - p^G by the rarer outcome, of which the one power is at most a third of the rest."""
    rare = np.minimum(p, q)
    return np.asarray(-np.expm1(group_size * np.log1p(-rare)) - rare**group_size if group_size > 1 else 0.0 * rare)


def _binomial(n: int, k: int, p: Fraction) -> Fraction:
    return comb(n, k) * p**k * (1 - p) ** (n - k)


def _coefficients(
    group_size: int, advantage: Advantage, mixed_only: bool = False, *, exact: bool = False
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a_1(k + 1) and a_0(k) for k = 0..G-1; zero in constant groups where only mixed ones count."""
    check_needs_rewards_alone(group_size, advantage)
    pair = binary_advantages(group_size, advantage, exact=True) if exact else _kept_advantages(group_size, advantage)
    correct, wrong = pair[0][1:], pair[1][:-1]
    if mixed_only:
        correct, wrong = correct.copy(), wrong.copy()
        correct[-1] = wrong[0] = 0 * correct[0]
    return correct, wrong


@lru_cache(maxsize=KEPT)
def _kept_advantages(group_size: int, advantage: Advantage) -> tuple[Floats, Floats]:
    pair = binary_advantages(group_size, advantage)
    for values in pair:
        values.setflags(write=False)
    return pair


def _given_mixed(values: Floats, p: Floats, q: Floats, group_size: int) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        share = _mixed_share(p, q, group_size)
        return np.asarray(np.where(share > 0, values / share, np.nan))


def _exact_coefficients(group_size: int, advantage: Advantage, mixed_only: bool = False) -> list[RadicalSum]:
    correct, wrong = _coefficients(group_size, advantage, mixed_only, exact=True)
    return [up - down for up, down in zip(correct, wrong, strict=True)]


def _ball_gaps(
    given: tuple[Any, Any, Any],
    group_size: int,
    advantage: Advantage,
    radius: float,
    noise: tuple[Fraction, Fraction],
    mixed_only: bool,
) -> Any:
    """Enclose the gap at every pass rate, given as (pass rate, complement, logit) of which some are None."""
    for rate in noise:
        unit(float(rate), "verifier rate")
    _rates(*(None if value is None else np.asarray(value, dtype=np.float64) for value in given))
    shape = np.broadcast_shapes(*(np.shape(value) for value in given if value is not None))
    columns = [
        None if value is None else np.broadcast_to(np.asarray(value, dtype=object), shape).ravel() for value in given
    ]
    result = np.empty(shape, dtype=object)
    for index in range(result.size):
        p, q, odds = (None if column is None else as_fraction(column[index]) for column in columns)
        result.ravel()[index] = ball_gap(
            partial(_ball_rates, p, q, odds),
            group_size,
            advantage,
            radius,
            tpr=noise[0],
            fpr=noise[1],
            mixed_only=mixed_only,
        )
    return result[()]


def _ball_rates(p: Fraction | None, q: Fraction | None, odds: Fraction | None) -> tuple[Any, Any]:
    """Return a pass rate and its complement at flint's working precision."""
    if odds is not None:
        up = as_ball(odds).exp()
        return up / (1 + up), 1 / (1 + up)
    if p is None:
        assert q is not None
        p = 1 - q
    return as_ball(p), as_ball(1 - p if q is None else q)


def _exact_gap(
    p: Fraction, group_size: int, advantage: Advantage, tpr: Fraction, fpr: Fraction, mixed_only: bool
) -> RadicalSum:
    for value, name in ((p, "pass_rate"), (tpr, "TPR"), (fpr, "FPR")):
        unit(float(value), name)
    seen = tpr * p + fpr * (1 - p)
    coefficients = _exact_coefficients(group_size, advantage, mixed_only)
    total = RadicalSum.total(c * _binomial(group_size - 1, k, seen) for k, c in enumerate(coefficients))
    result = total * (tpr - fpr)
    return result / usable_share(seen, group_size) if mixed_only else result
