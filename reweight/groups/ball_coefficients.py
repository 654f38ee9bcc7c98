"""Expected coefficients of one prompt, enclosed in balls: the same three numbers, ratios and KL slopes as in floats.

Exact inputs are the policies' log-probabilities by token and the rewards, as the floats that they are; decimal options
mean their decimals.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.groups.balls import Ball, Term, as_ball, mass_of, refined, terms_of, value_of
from reweight.groups.prompt import Prompt
from reweight.objectives.clip import Clip
from reweight.objectives.objective import Objective
from reweight.policies.policy import LogProbs

__all__ = ["ball_coefficients"]

ONE = Fraction(1)


def ball_coefficients(prompt: Prompt, radius: float) -> NDArray[np.object_]:
    """Enclose what multiplies grad log pi, shape (N,) or (N, T), in balls of radius at most `radius` times E|A W|.

    Raises
    ------
    InputError
        If the objective has an option whose terms are not rational, the radius is not reached, or a ratio is too near
        an end of the clip range to tell on which side it is.
    """
    objective = prompt.objective
    _check(objective)
    rewards = [Fraction(float(reward)) for reward in prompt.outcomes.rewards]
    lengths = [Fraction(float(length)) for length in prompt.outcomes.lengths]
    terms = terms_of(rewards, objective.group_size, objective.advantage, lengths)
    shape = prompt.current.mask.shape

    def compute() -> tuple[list[Ball], Ball]:
        drawn = _drawn(prompt.old)
        types = [as_ball(Fraction(0))] * len(rewards)
        for y, row in enumerate(prompt.outcomes.types):
            for kind, chance in zip(row.tolist(), prompt.outcomes.chances[y].tolist(), strict=True):
                types[kind] = types[kind] + drawn[y] * as_ball(Fraction(chance))
        weighed = [[(mass_of(term, types), term) for term in row] for row in terms]
        scale = as_ball(Fraction(0))
        for mass, row in zip(types, weighed, strict=True):
            for chance, term in row:
                weight = _weight(term, lengths, objective)
                scale += mass * chance * abs(value_of(term, objective.advantage)) * as_ball(weight)
        result = [
            drawn[y] * _coefficient(prompt, y, t, weighed, lengths) if prompt.drawable[y, t] else as_ball(Fraction(0))
            for y in range(shape[0])
            for t in range(shape[1])
        ]
        return result, scale if scale != 0 else as_ball(ONE)

    table = np.empty(shape, dtype=object)
    table.ravel()[:] = refined(compute, radius)
    return table[:, 0] if shape[1] == 1 else table


def _check(objective: Objective) -> None:
    kl, rule = objective.kl, objective.reward
    for wrong, what in (
        (objective.filter is not None, "a filter"),
        (objective.couples_prompts or objective.advantage.second is not None, "a batch"),
        (rule.transform is not None or rule.order == "normalise_then_sum", "transformed or separate channels"),
        (kl is not None and kl.beta > 0 and kl.place != "loss", "a KL term outside the loss"),
    ):
        if wrong:
            raise InputError(f"balls of coefficients are not computed with {what}: use float64")


def _drawn(old: LogProbs) -> list[Ball]:
    """Return the probability of each answer, divided by their sum."""
    totals = []
    for row, mask in zip(old.tokens, old.mask, strict=True):
        exponent = sum((as_ball(Fraction(float(x))) for x in row[mask] if np.isfinite(x)), as_ball(Fraction(0)))
        totals.append(exponent.exp() if np.isfinite(row[mask]).all() else as_ball(Fraction(0)))
    whole = sum(totals, as_ball(Fraction(0)))
    return [each / whole for each in totals]


def _weight(term: Term, lengths: Sequence[Fraction], objective: Objective) -> Fraction:
    """Return the aggregation weight of the first member, but for its own length under a sequence mean."""
    if objective.aggregation in ("token_mean", "prompt_token_mean"):
        total = lengths[term.own] + sum((c * n for c, n in zip(term.counts, lengths, strict=True)), Fraction(0))
        return objective.group_size / total
    if objective.aggregation == "constant":
        return 1 / Fraction(repr(float(objective.constant_length or 1)))
    return ONE


def _coefficient(
    prompt: Prompt,
    y: int,
    t: int,
    weighed: list[list[tuple[Ball, Term]]],
    lengths: Sequence[Fraction],
) -> Ball:
    """Return the coefficient of one token given that its answer was drawn."""
    objective = prompt.objective
    zero = as_ball(Fraction(0))
    positive, negative, weight = zero, zero, zero
    for kind, chance in zip(prompt.outcomes.types[y].tolist(), prompt.outcomes.chances[y].tolist(), strict=True):
        for mass, term in weighed[kind]:
            share = as_ball(Fraction(chance)) * mass * as_ball(_weight(term, lengths, objective))
            value = value_of(term, objective.advantage)
            weight += share
            if term.numerator > 0:
                positive += share * value
            elif term.numerator < 0:
                negative -= share * value
    if objective.aggregation == "sequence_mean":
        own = as_ball(1 / Fraction(float(prompt.lengths[y])))
        positive, negative, weight = positive * own, negative * own, weight * own
    up, down = _slopes(prompt, y, t)
    result = positive * up - negative * down
    kl = objective.kl
    if kl is not None and prompt.reference is not None:
        gap = _token_difference(prompt.current, prompt.reference, y, t)
        importance = _token_difference(prompt.current, prompt.old, y, t).exp()
        slopes = {
            ("autograd", "k1"): lambda: as_ball(ONE),
            ("autograd", "k2"): lambda: gap,
            ("autograd", "k3"): lambda: -(-gap).expm1(),
            ("ratio_weighted", "k1"): lambda: importance * (gap + 1),
            ("ratio_weighted", "k2"): lambda: importance * (gap**2 / 2 + gap),
            ("ratio_weighted", "k3"): lambda: importance * gap,
        }
        slope = gap if kl.gradient == "straight_through" else slopes[kl.gradient, kl.estimator]()
        result -= as_ball(Fraction(repr(float(kl.beta)))) * weight * slope
    return result


def _slopes(prompt: Prompt, y: int, t: int) -> tuple[Ball, Ball]:
    """Return what multiplies the positive and the negative part: ratio times the slope of the clipped term."""
    level, clip = prompt.objective.ratio.level, prompt.objective.clip
    tokens = np.flatnonzero(prompt.current.mask[y]).tolist()
    log_ratio, repeats = _token_difference(prompt.current, prompt.old, y, t), as_ball(ONE)
    if level in ("sequence_product", "sequence_mean"):
        log_ratio = sum((_token_difference(prompt.current, prompt.old, y, k) for k in tokens), as_ball(Fraction(0)))
        length = as_ball(Fraction(float(prompt.lengths[y])))
        if level == "sequence_mean":
            log_ratio = log_ratio / length
        else:
            repeats = length
    ratio = log_ratio.exp()
    if level == "detached_weight":
        weight = _clamped(ratio, clip)
        return weight, weight
    return repeats * ratio * _active(ratio, clip, 1), repeats * ratio * _active(ratio, clip, -1)


def _active(ratio: Ball, clip: Clip | None, sign: int) -> int:
    """Return 1 where the clipped term still moves with the ratio for advantages of this sign, 0 where it does not."""
    if clip is None:
        return 1
    low, high = _ends(clip)
    least: list[Any] = [low] if sign < 0 else []
    most: list[Any] = [high] if sign > 0 else [Fraction(repr(float(x))) for x in (clip.dual, clip.ratio_cap) if x]
    inside = all(not _surely_less(ratio, end) for end in least) and all(not _surely_less(end, ratio) for end in most)
    if clip.log_ratio_limit is not None:
        inside = inside and not abs(ratio.log()) > as_ball(Fraction(repr(float(clip.log_ratio_limit))))
    return int(inside)


def _ends(clip: Clip) -> tuple[Fraction, Fraction]:
    high = Fraction(repr(float(clip.high)))
    return 1 - Fraction(repr(float(clip.low))), high if clip.high_is == "absolute" else 1 + high


def _clamped(ratio: Ball, clip: Clip | None) -> Ball:
    if clip is None:
        return ratio
    low, high = _ends(clip)
    if _surely_less(ratio, low):
        return as_ball(low)
    return as_ball(high) if _surely_less(high, ratio) else ratio


def _surely_less(left: Any, right: Any) -> bool:
    """Compare a ball with a rational, decidedly; equal counts as not less."""
    a, b = (as_ball(x) if isinstance(x, Fraction) else x for x in (left, right))
    if a < b:
        return True
    if a >= b or (a.is_exact() and b.is_exact()):
        return False
    raise InputError("a ratio is too near an end of the clip range to tell on which side it is: use float64")


def _token_difference(left: LogProbs, right: LogProbs, y: int, t: int) -> Ball:
    return as_ball(Fraction(float(left.tokens[y, t])) - Fraction(float(right.tokens[y, t])))
