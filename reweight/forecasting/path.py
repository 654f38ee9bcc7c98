"""The path of pass rate and dead share under TILT, by tilt time, with the limits that any run keeps to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from reweight.bounds.speed import speed_limit
from reweight.bounds.steps import log_odds_step_bound
from reweight.checks import real
from reweight.errors import InputError
from reweight.forecasting.flow import Flow, tilt_flow
from reweight.forecasting.functional import dead_share, pass_at
from reweight.forecasting.quantity import Estimator, Quantity, shown
from reweight.forecasting.table import Table
from reweight.measures.divergences import bernoulli_kl

if TYPE_CHECKING:
    from reweight.objectives.objective import Objective
    from reweight.rollouts import Counts

__all__ = ["TAUS", "Distribution", "TiltPath", "tilt_path"]

Floats = NDArray[np.float64]

TAUS = (0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
BUDGETS = (0.01, 0.1, 1.0)
EXPONENTS = np.geomspace(0.05, 200.0, 24)
"""Where the leash is bounded; between two of them the bounds differ by a few hundredths at most."""


class Distribution(Protocol):
    """One distribution of pass rates, such as the NPMLE."""

    def mean(self, function: Callable[[Floats], Floats], /) -> float:
        """The mean of a function of the pass rates (M,)."""


@dataclass(frozen=True)
class TiltPath:
    """What a number of tilt times do to the mean pass rate and to the share of dead groups.

    Parameters
    ----------
    group_size : int
    level : float
        Coverage of the intervals at tau 0, and of all bounds of one number of samples together.
    taus : tuple of float
        Tilt times: the sum of the step sizes that a prompt has had, never a number of steps.
    pass_rate, dead_share, kl : tuples of Quantity
        By tilt time: mean pass rate; share of groups that are all correct or all wrong; mean divergence from the base
        in nats a sequence.
    fisher_rao, log_odds : tuples of Quantity, or None
        The most that the mean pass rate can be by the speed limit of tilts, and by the largest step of a log-odds under
        policy gradients; None for an advantage that they are not proved for.
    leash : mapping float -> Quantity
        By budget in nats a sequence: the most that the mean pass rate can be for any trainer.
    compatible : mapping str -> tuple of float
        Pass rate and dead share by tilt time for one distribution that explains the counts; empty without one.
    length : float or None
        Tokens a sequence, to state budgets by token.
    notes : tuple of str
    """

    group_size: int
    level: float
    taus: tuple[float, ...]
    pass_rate: tuple[Quantity, ...]
    dead_share: tuple[Quantity, ...]
    kl: tuple[Quantity, ...]
    fisher_rao: tuple[Quantity, ...] | None
    log_odds: tuple[Quantity, ...] | None
    leash: Mapping[float, Quantity]
    compatible: Mapping[str, tuple[float, ...]]
    length: float | None
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The path as plain JSON values."""
        rows = []
        for i, tau in enumerate(self.taus):
            row: dict[str, Any] = {"tau": tau}
            for name in ("pass_rate", "dead_share", "kl", "fisher_rao", "log_odds"):
                column = getattr(self, name)
                row[name] = None if column is None else column[i].to_dict()
            row["compatible"] = {name: values[i] for name, values in self.compatible.items()}
            rows.append(row)
        return {
            "group_size": self.group_size,
            "level": self.level,
            "path": rows,
            "leash": [{"kl": budget, "pass_rate": cap.to_dict()} for budget, cap in self.leash.items()],
            "length": self.length,
            "notes": list(self.notes),
        }

    def tables(self) -> tuple[Table, ...]:
        """The path, the limits beside it, and the leash."""
        rows, limits = [], []
        for i, tau in enumerate(self.taus):
            rows.append((f"{tau:g}", self._fitted("pass_rate", i), self._fitted("dead_share", i)))
            caps = [_at_most(column[i]) for column in (self.fisher_rao, self.log_odds) if column is not None]
            limits.append((f"{tau:g}", str(self.kl[i]), *caps))
        caps_of = () if self.fisher_rao is None else ("pass rate, tilt speed", "pass rate, policy gradient")
        leash = tuple((f"{budget:g}", *self._per_token(budget), _at_most(cap)) for budget, cap in self.leash.items())
        token = () if self.length is None else (f"nats a token at {self.length:g} tokens",)
        return (
            Table("TILT by tilt time", ("tau", "pass rate", f"dead groups, G = {self.group_size}"), tuple(rows)),
            Table("Divergence and limits by tilt time", ("tau", "nats a sequence", *caps_of), tuple(limits)),
            Table("KL leash of any trainer", ("nats a sequence", *token, "pass rate"), leash),
        )

    def _fitted(self, name: str, place: int) -> str:
        """A number with its value under the distribution that was followed."""
        found: Quantity = getattr(self, name)[place]
        known = self.compatible.get(name)
        return str(found if known is None or found.identified else replace(found, compatible=known[place]))

    def _per_token(self, budget: float) -> tuple[str, ...]:
        return () if self.length is None else (f"{budget / self.length:.2g}",)

    def __str__(self) -> str:
        return "\n".join(
            "  ".join(row) for table in self.tables() for row in ((table.title,), table.header, *table.rows)
        )


def tilt_path(
    counts: Counts,
    objective: Objective,
    *,
    taus: Sequence[float] = TAUS,
    budgets: Sequence[float] = BUDGETS,
    length: float | None = None,
    compatible: Distribution | None = None,
    level: float = 0.95,
) -> TiltPath:
    """Follow the mean pass rate and the share of dead groups along a tilt of every prompt.

    Parameters
    ----------
    counts : Counts
        n and c of P prompts.
    objective : Objective
        Its advantage and group size define the gap Delta_G.
    taus : sequence of float
        Tilt times, at least 0.
    budgets : sequence of float
        KL(pi || base) in nats a sequence, mean over prompts.
    length : float, optional
        Tokens a sequence, for which budgets are stated by token as well.
    compatible : Distribution, optional
        One distribution that explains the counts, such as the NPMLE, to be followed too.
    level : float
        Coverage.

    Raises
    ------
    InputError
        If a tilt time, a budget or the length is negative or not a number, or the advantage depends on other prompts.

    Notes
    -----
    Source: R07 (path and divergence), R26 (speed limit), R05 and R08 (policy gradients), R27 (leash). Over prompts the
    leash is the largest E p' with E kl(p' || p) <= kappa, by the variational formula of Donsker and Varadhan
    min over x of [kappa + E log(1 - p + p e^x)] / x: each x gives a bound for every distribution.

    Examples
    --------
    >>> from reweight.objectives import Advantage, Objective
    >>> from reweight.rollouts import Counts
    >>> counts = Counts.of([8] * 200, [8] * 80 + [0] * 20 + [4] * 100)
    >>> found = tilt_path(counts, Objective(Advantage(), 8), taus=[0, 0.5])
    >>> print(found.dead_share[0])
    0.5000 [0.4288, 0.5712]
    >>> found.pass_rate[1].identified
    False
    """
    times = tuple(float(tau) for tau in np.sort(real(list(taus), "taus", at_least=0.0)))
    nats = tuple(float(budget) for budget in np.sort(real(list(budgets), "budgets", at_least=0.0)))
    if length is not None and not 0.0 < length < np.inf:
        raise InputError(f"the length {length} is not a number of tokens; give for example 1000")
    size, advantage = objective.group_size, objective.advantage
    if advantage.couples_prompts:
        raise InputError("the advantage uses statistics of a batch, which counts do not hold; choose another preset")
    moving, estimator = tilt_flow(size, advantage), Estimator(counts, level)
    dead = dead_share(size)
    present = {0.0: (estimator.mean(pass_at(1)), estimator.mean(dead), Quantity(0.0, 0.0, 0.0, True))}
    rows = [present.get(tau) or _row(estimator, moving, tau, size) for tau in times]
    stretch = _stretch(objective)
    known: dict[str, tuple[float, ...]] = {}
    if compatible is not None:
        known["pass_rate"] = tuple(compatible.mean(_risen(moving, tau)) for tau in times)
        known["dead_share"] = tuple(compatible.mean(_dead(moving, tau, size)) for tau in times)
    return TiltPath(
        group_size=size,
        level=level,
        taus=times,
        pass_rate=tuple(row[0] for row in rows),
        dead_share=tuple(row[1] for row in rows),
        kl=tuple(row[2] for row in rows),
        fisher_rao=None if stretch is None else tuple(_by_angle(estimator, objective, tau * stretch) for tau in times),
        log_odds=None if stretch is None else tuple(_by_step(estimator, objective, tau * stretch) for tau in times),
        leash=_leash(estimator, nats),
        compatible=known,
        length=length,
        notes=_notes(estimator, stretch is None, length),
    )


def _row(estimator: Estimator, moving: Flow, tau: float, size: int) -> tuple[Quantity, Quantity, Quantity]:
    return (
        estimator.bounds(_risen(moving, tau), (0.0, 1.0)),
        estimator.bounds(_dead(moving, tau, size), (0.0, 1.0)),
        estimator.bounds(_divergence(moving, tau), (0.0, tau * moving.fastest)),
    )


def _risen(moving: Flow, tau: float) -> Callable[[Floats], Floats]:
    return lambda p: moving.pass_rate(p, tau)


def _dead(moving: Flow, tau: float, size: int) -> Callable[[Floats], Floats]:
    def share(p: Floats) -> Floats:
        theta = moving(logit(p), tau)
        return np.asarray(expit(theta) ** size + expit(-theta) ** size)

    return share


def _divergence(moving: Flow, tau: float) -> Callable[[Floats], Floats]:
    """kl(p_tau || p): a tilt keeps the conditionals, so this is the divergence of the whole policy."""

    def nats(p: Floats) -> Floats:
        theta = moving(logit(p), tau)
        moved, left = expit(theta), expit(-theta)
        return bernoulli_kl(moved, p, moved - p, left, 1.0 - p)

    return nats


def _stretch(objective: Objective) -> float | None:
    """What the step size is multiplied by to have the group-mean baseline of the proved limits; None if they fail."""
    advantage = objective.advantage
    plain = advantage.second is None and advantage.selection == "all" and advantage.eps_rule == "added"
    if not plain or advantage.scale not in ("std", "none"):
        return None
    return {"mean": 1.0, "leave_one_out": objective.group_size / (objective.group_size - 1.0)}.get(advantage.baseline)


def _by_angle(estimator: Estimator, objective: Objective, time: float) -> Quantity:
    """The speed limit of tilts: asin(sqrt p) turns by so much at most."""
    rule = objective.advantage
    turn = float(speed_limit(time, objective.group_size, ddof=rule.ddof, scale=rule.scale, eps=float(rule.eps)))
    return estimator.bounds(lambda p: np.sin(np.minimum(np.arcsin(np.sqrt(p)) + turn, np.pi / 2)) ** 2, (0.0, 1.0))


def _by_step(estimator: Estimator, objective: Objective, time: float) -> Quantity:
    """The step limit of policy gradients: the log-odds rises by so much at most."""
    rule = objective.advantage
    rise = float(log_odds_step_bound(time, objective.group_size, ddof=rule.ddof, scale=rule.scale, eps=float(rule.eps)))
    return estimator.bounds(lambda p: np.asarray(expit(logit(p) + rise)), (0.0, 1.0))


def _leash(estimator: Estimator, budgets: tuple[float, ...]) -> dict[float, Quantity]:
    """Largest mean pass rate within each budget.

    The mean of log(1 - p + p e^x) / x grows with x, which bounds it between two exponents.
    """
    tops = [estimator.bounds(_exponential_mean(x), (0.0, 1.0)) for x in EXPONENTS.tolist()]
    low = np.array([estimator.bounds(lambda p: p, (0.0, 1.0)).low, *(top.low for top in tops)])
    high = np.array([top.high for top in tops])
    next_price, price = np.append(1.0 / EXPONENTS, 0.0), 1.0 / EXPONENTS
    caps = {}
    for budget in budgets:
        most = float(min(1.0, (high + budget * price).min()))
        caps[budget] = Quantity(None, float(min(most, (low + budget * next_price).min())), most, False)
    return caps


def _exponential_mean(exponent: float) -> Callable[[Floats], Floats]:
    return lambda p: np.asarray(np.log1p(p * np.expm1(exponent)) / exponent)


def _at_most(cap: Quantity) -> str:
    return f"at most {shown(cap.high)}"


def _notes(estimator: Estimator, unlimited: bool, length: float | None) -> tuple[str, ...]:
    beyond = (
        "the speed limit of tilts is for small steps, that of policy gradients for one inner step each and one group a"
    )
    tokens = "nats a token are nats a sequence over the given length: where lengths go along with the divergence, the"
    notes = (
        "tau is tilt time, the sum of the step sizes a prompt has had; rollouts do not say how many steps that is",
        "TILT gives every prompt its expected update in small steps and one and the same tilt time",
        "on-policy groups, rewards 0 and 1, no clipping, no KL penalty, nothing carried over between prompts",
        "with groups refilled until they are mixed the path is the same, only faster",
        "beyond tau 0 there are bounds over all distributions of pass rates that the counts allow",
        "the leash holds for any trainer: KL(pi || base) of whole sequences, at the temperature of the counts",
        "no speed limit is proved for this advantage" if unlimited else f"{beyond} step, on every path",
    )
    more: tuple[str, ...] = () if length is None else (f"{tokens} leash by token is another one",)
    if estimator.incompatible():
        more += ("no distribution of pass rates explains the counts at this level, so bounds are the whole range",)
    return notes + more
