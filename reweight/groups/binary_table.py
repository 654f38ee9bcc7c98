"""The expected weights of binary prompts as a table: `reweight weights --pass-rate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from reweight.checks import choice, unit
from reweight.errors import InputError
from reweight.groups.advantages import regularised
from reweight.groups.binary import binary_weights, gap
from reweight.groups.coefficients import conditional_coefficients
from reweight.groups.table_facts import (
    Precision,
    as_text,
    draws_a_kept_group,
    finite_or_none,
    only_float64,
    signal_a_sample,
    with_wrong_answers,
)
from reweight.objectives.filter import Filter
from reweight.objectives.objective import Objective
from reweight.objectives.reward import RewardRule
from reweight.policies.flat import FlatPolicy
from reweight.problems.problem import Problem, ProblemSet
from reweight.problems.verifier import Verifier

__all__ = ["BinaryWeight", "binary_table", "gaps_over_log_odds", "in_closed_form"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BinaryWeight:
    """The push on a binary prompt.

    Attributes
    ----------
    pass_rate : float
        Probability p of a correct answer.
    correct, wrong : float or None
        w(1) and w(0), the expected advantages; None where there is no such answer or no group that counts.
    gap : float or None
        w(1) - w(0).
    signal : float or None
        p (1 - p) gap: the drift of the pass rate under a tilt, per unit of step size.
    dead_share : float or None
        Probability that a group is all correct or all wrong, as the verifier sees it; None for groups of one.
    infinite : float or None
        What the gap would be in infinite groups: 1 / (sqrt(p (1 - p)) + eps) where eps is added; for scale "std".
    draws : float or None
        Expected number of generated samples for each group that is kept, where the objective has a filter; infinite is
        None.
    signal_to_noise : float or None
        Squared norm of the expected gradient over its variance, for each generated sample, of a softmax over one
        correct and four equally likely wrong answers; None where it is not computed (noise, batches, transforms,
        limited rounds, groups above 1024) or there is no noise.
    value : str or None
        The gap as a sum of square roots or a ball, where one was asked for.
    """

    pass_rate: float
    correct: float | None
    wrong: float | None
    gap: float | None
    signal: float | None
    dead_share: float | None
    infinite: float | None
    draws: float | None
    signal_to_noise: float | None
    value: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


def binary_table(
    objective: Objective,
    pass_rates: Sequence[Fraction],
    *,
    tpr: Fraction = Fraction(1),
    fpr: Fraction = Fraction(0),
    precision: Precision = "float64",
    radius: float | None = None,
) -> list[BinaryWeight]:
    """Compute the expected push on binary prompts, one row a pass rate.

    Parameters
    ----------
    objective : Objective
        All but its lengths, bonus and KL penalty, whose reference is the policy itself; where it couples prompts, the
        pass rates are the prompts that share a batch.
    pass_rates : sequence of Fraction
        Probabilities of a correct answer.
    tpr, fpr : Fraction
        Probability that the verifier accepts a correct and a wrong answer.
    precision : {"float64", "rational", "ball"}
        Also give the gap as a sum of square roots, or as a ball.
    radius : float, optional
        For "ball", relative to the gap.

    Raises
    ------
    InputError
        If a probability is outside [0, 1], the group is too small, or another precision than float64 is asked of an
        objective that looks at more than the rewards of one prompt.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> row = binary_table(Objective(Advantage(), 2), [Fraction(1, 4)], precision="rational")[0]
    >>> row.correct, row.wrong, row.value, row.dead_share
    (0.75, -0.25, '1', 0.625)
    """
    choice(precision, "precision", get_args(Precision))
    unit([float(rate) for rate in pass_rates], "pass_rate")
    plain = _of_one_token(objective)
    if in_closed_form(plain):
        weights = [_closed_pair(plain, rate, tpr, fpr) for rate in pass_rates]
    elif precision == "float64":
        weights = _enumerated_pairs(plain, pass_rates, tpr, fpr)
    else:
        raise only_float64(precision)
    rows = []
    for rate, pair in zip(pass_rates, weights, strict=True):
        row = _binary_row(plain, rate, pair, tpr, fpr)
        if precision != "float64" and row.gap is not None:
            row = replace(row, value=_exact_gap(plain, rate, tpr, fpr, radius))
        rows.append(row)
    return rows


def gaps_over_log_odds(objective: Objective, log_odds: Floats, *, tpr: Fraction, fpr: Fraction) -> Floats:
    """Compute the gap of an objective that does not couple prompts on a grid, NaN where no group is kept.

    Parameters
    ----------
    objective : Objective
    log_odds : ndarray, shape (P,)
        Of the pass rates, in nats.
    tpr, fpr : Fraction
        Of the verifier.

    Raises
    ------
    InputError
        If the objective couples prompts or has a bonus.

    Examples
    --------
    >>> from reweight.objectives.advantage import Advantage
    >>> gaps_over_log_odds(Objective(Advantage(), 2), np.array([0.0]), tpr=Fraction(1), fpr=Fraction(0))
    array([1.])
    """
    plain = _of_one_token(objective)
    if plain.couples_prompts:
        raise InputError("a batch couples prompts: no curve of one prompt alone exists")
    if in_closed_form(plain):
        noise: dict[str, Any] = {"tpr": tpr, "fpr": fpr, "mixed_only": plain.filter is not None}
        return np.asarray(gap(None, plain.group_size, plain.advantage, logit=log_odds, **noise))
    rates = [Fraction(float(rate)) for rate in expit(log_odds)]
    return np.array([_enumerated_pairs(plain, [rate], tpr, fpr)[0][2] for rate in rates], dtype=np.float64)


def _of_one_token(objective: Objective) -> Objective:
    """Return the objective for answers of one token and one reward: all ways to average agree, but for a constant."""
    rule = objective.reward
    if rule.bonus:
        raise InputError("a bonus is about single answers: give rewards, probabilities and counts")
    reward = RewardRule(transform=rule.transform, k=rule.k)
    return replace(objective, kl=None, reward=reward, aggregation="sequence_sum", constant_length=None)


def in_closed_form(objective: Objective) -> bool:
    """Whether a binary prompt's weights are polynomials: all groups count, or mixed ones; no transform, no batch."""
    advantage = objective.advantage
    return (
        objective.filter in (None, Filter("mixed"))
        and objective.reward.transform is None
        and not advantage.couples_prompts
        and advantage.baseline != "length_weighted"
    )


def _closed_pair(objective: Objective, rate: Fraction, tpr: Fraction, fpr: Fraction) -> tuple[float, float, float]:
    """Return w(1), w(0) and their difference, which keeps its digits; NaN where no group counts."""
    noise: dict[str, Any] = {"complement": float(1 - rate), "tpr": float(tpr), "fpr": float(fpr)}
    noise["mixed_only"] = objective.filter is not None
    place = (float(rate), objective.group_size, objective.advantage)
    correct, wrong = binary_weights(*place, **noise)
    return float(correct), float(wrong), float(gap(*place, **noise))


def _enumerated_pairs(
    objective: Objective, rates: Sequence[Fraction], tpr: Fraction, fpr: Fraction
) -> list[tuple[float, float, float]]:
    """Return the same by composition of all groups, or of the whole batch."""
    noisy = tpr != 1 or fpr != 0
    verifier = Verifier.binary([True, False], tpr=float(tpr), fpr=float(fpr)) if noisy else None
    problems = ProblemSet([Problem([1.0, 0.0], verifier=verifier) for _ in rates])
    policy = FlatPolicy.from_probabilities([[float(rate), float(1 - rate)] for rate in rates])
    found = conditional_coefficients(problems, policy, objective)
    pairs = []
    for rate, (correct, wrong) in zip(rates, found, strict=True):
        pair = (correct if rate > 0 else np.nan, wrong if rate < 1 else np.nan)
        pairs.append((float(pair[0]), float(pair[1]), float(pair[0] - pair[1])))
    return pairs


def _binary_row(
    objective: Objective, rate: Fraction, weights: tuple[float, float, float], tpr: Fraction, fpr: Fraction
) -> BinaryWeight:
    size, advantage, rule = objective.group_size, objective.advantage, objective.filter
    p, q = float(rate), float(1 - rate)
    accepted, refused = tpr * rate + fpr * (1 - rate), (1 - tpr) * rate + (1 - fpr) * (1 - rate)
    seen = np.array([float(refused), float(accepted)])
    draws = None if rule is None else draws_a_kept_group(seen, np.array([0.0, 1.0]), size, rule)
    correct, wrong, difference = (None if draws == np.inf else finite_or_none(value) for value in weights)
    measured = tpr == 1 and fpr == 0 and in_closed_form(objective)
    limited = measured and advantage.scale == "std" and 0 < p < 1 and rule is None
    return BinaryWeight(
        pass_rate=p,
        correct=correct,
        wrong=wrong,
        gap=difference,
        signal=None if difference is None else p * q * difference,
        dead_share=float(accepted) ** size + float(refused) ** size if size > 1 else None,
        infinite=float(1 / regularised(np.sqrt(p * q), advantage)) if limited else None,
        draws=None if draws is None else finite_or_none(draws),
        signal_to_noise=signal_a_sample(*with_wrong_answers(p, q), objective)[1] if measured else None,
    )


def _exact_gap(objective: Objective, rate: Fraction, tpr: Fraction, fpr: Fraction, radius: float | None) -> str:
    noise: dict[str, Any] = {"tpr": tpr, "fpr": fpr, "mixed_only": objective.filter is not None}
    if radius is not None:
        noise |= {"precision": "ball", "radius": radius}
    return as_text(gap(rate, objective.group_size, objective.advantage, **noise), radius)
