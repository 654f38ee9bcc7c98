"""Hold a trainer's log against a model of how pass rates move: what it should show later, and whether it does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.forecasting.curve import Curve, Window
from reweight.forecasting.movement import Movement, common_shift, policy_gradient, sharpened, spread, tilted
from reweight.forecasting.prediction import Prediction, Predictor
from reweight.forecasting.quantity import Quantity, shown
from reweight.forecasting.start import Start
from reweight.forecasting.table import Table

if TYPE_CHECKING:
    from reweight.objectives.objective import Objective
    from reweight.rollouts import Counts

__all__ = ["Calibration", "calibrate"]

Floats = NDArray[np.float64]
Model = Literal["tilt", "shift", "policy_gradient"]

FEWEST_INSIDE = 0.9
RATES = np.concatenate([[0.0], np.geomspace(0.01, 2.0, 60)])


@dataclass(frozen=True)
class Calibration:
    """A log beside what a model says about it.

    Parameters
    ----------
    model : str
    declared : str
        Its declared parameter; empty without one.
    group_size : int
    level : float
        Coverage of each printed interval under the model.
    groups : (int, int)
        Fewest and most groups behind a row.
    rate : Quantity or None
        Amount of movement a step from the first rows; tilt time where the model is TILT. None where the model has no
        time.
    shapes : tuple of Prediction
        Shares of all-correct and of dead groups in each later window, given its reward mean.
    speeds : tuple of Prediction
        Reward mean in each later window at the rate of the first rows.
    shape_verdict, speed_verdict : str
        "model refuted", "model not refuted" or "not tested".
    notes : tuple of str
    """

    model: str
    declared: str
    group_size: int
    level: float
    groups: tuple[int, int]
    rate: Quantity | None
    shapes: tuple[Prediction, ...]
    speeds: tuple[Prediction, ...]
    shape_verdict: str
    speed_verdict: str
    notes: tuple[str, ...]

    @property
    def errors(self) -> dict[str, float]:
        """Mean absolute error of the predictions by quantity."""
        found: dict[str, list[float]] = {}
        for each in (*self.shapes, *self.speeds):
            found.setdefault(each.name, []).append(abs(each.expected - each.seen))
        return {name: math.fsum(values) / len(values) for name, values in found.items()}

    @property
    def inside(self) -> dict[str, float]:
        """Share of windows inside their interval, by quantity."""
        return _inside((*self.shapes, *self.speeds))

    def to_dict(self) -> dict[str, Any]:
        """The calibration as plain JSON values."""
        return {
            "model": self.model,
            "declared": self.declared,
            "group_size": self.group_size,
            "level": self.level,
            "groups": list(self.groups),
            "rate": None if self.rate is None else self.rate.to_dict(),
            "windows": [each.to_dict() for each in (*self.shapes, *self.speeds)],
            "mean_absolute_error": self.errors,
            "inside": self.inside,
            "shape_verdict": self.shape_verdict,
            "speed_verdict": self.speed_verdict,
            "notes": list(self.notes),
        }

    def tables(self) -> tuple[Table, ...]:
        """The verdicts, and the speed; `to_dict` has the windows."""
        rows = [
            (name, shown(error), f"{100 * self.inside[name]:.0f} %", self._verdict(name))
            for name, error in self.errors.items()
        ]
        header = ("quantity", "mean absolute error", f"windows inside {100 * self.level:g} %", "verdict")
        name = f"{self.model}, {self.declared}" if self.declared else self.model
        verdicts = Table(f"Calibration: {name}", header, tuple(rows))
        if self.rate is None:
            return (verdicts,)
        unit = "tilt time" if self.model == "tilt" else "movement"
        return verdicts, Table(
            "Speed in the first rows of the log", ("model", f"{unit} a step"), ((name, str(self.rate)),)
        )

    def _verdict(self, name: str) -> str:
        return self.speed_verdict if name == "reward mean" else self.shape_verdict

    def __str__(self) -> str:
        table = self.tables()[0]
        rate = () if self.rate is None else (f"movement a step: {self.rate}",)
        return "\n".join([table.title, *rate, *("  ".join(row) for row in (table.header, *table.rows))])


def calibrate(
    curve: Curve,
    objective: Objective,
    counts: Counts | None = None,
    *,
    model: Model = "tilt",
    kappa: float | None = None,
    sharpening: float | Literal["earlier"] | None = None,
    first: int = 5,
    fitted: int = 25,
    window: int = 5,
    level: float = 0.95,
) -> Calibration:
    """Fit a model to the first rows of a log, predict the later ones, and say whether it is refuted.

    Parameters
    ----------
    curve : Curve
        The log.
    objective : Objective
        Its advantage and group size define TILT and PG.
    counts : Counts, optional
        Base rollouts to start from; without them the start is fitted to the first rows.
    model : {"tilt", "shift", "policy_gradient"}
        How pass rates move if no spread or sharpening is given.
    kappa : float, optional
        Declared spread: logit p' = s + kappa logit p.
    sharpening : float or "earlier", optional
        Declared rate: logit p' = s + (1 + rate s) logit p; "earlier" fits it to all windows before the predicted one.
    first : int
        Rows that the start is fitted to, without counts; later rows are predicted.
    fitted : int
        Rows, the first ones included, that the movement a step is fitted to.
    window : int
        Rows that are pooled before they are compared.
    level : float
        Coverage of each interval if the model holds.

    Raises
    ------
    InputError
        If the log is too short, lacks what the start needs, or has another group size, or if kappa or the rate makes no
        sense.

    Notes
    -----
    Source: R07, R10. A window's interval is the range over all distributions of pass rates with the start's three means
    and all amounts that agree with the mean that was seen, widened by standard errors (delta method). The model is
    refuted where a window leaves an interval that holds for all windows and quantities together (Bonferroni), or where
    fewer than nine in ten windows are inside their own. Windows share the error of the start, so the second rule has
    false alarms nearly as often as a single window has.

    Examples
    --------
    >>> from reweight.objectives import Advantage, Objective
    >>> rng = np.random.default_rng(1)
    >>> prompts = rng.beta(1, 1, (30, 100))
    >>> correct = rng.binomial(8, prompts)  # 30 steps in which nothing moves
    >>> shares = {"all_correct": (correct == 8).mean(1), "all_wrong": (correct == 0).mean(1)}
    >>> curve = Curve.of(8, np.arange(30), correct.mean(1) / 8, groups=100, **shares)
    >>> result = calibrate(curve, Objective(Advantage(), 8), fitted=10)
    >>> result.shape_verdict, result.speed_verdict
    ('model not refuted', 'model not refuted')
    """
    _check(curve, objective, first, fitted, window, level)
    if counts is None:
        start, begin = Start.of_window(curve.window(0, first), curve.group_size), first
    else:
        start, begin = Start.of_counts(counts, curve.group_size), 0
    later = curve.windows(begin, window) if curve.dead is not None else ()
    movement = _movement(objective, model, kappa, sharpening)
    models = [movement] * len(later) if sharpening != "earlier" else _from_earlier(start, later, curve.group_size)
    shapes = tuple(
        prediction
        for each, seen in zip(models, later, strict=True)
        for prediction in Predictor(start, each, curve.group_size, level, len(later)).shares(seen)
    )
    rate, speeds = _speeds(curve, start, movement, begin, fitted, window, level)
    return Calibration(
        model=movement.name,
        declared="rate fitted to earlier windows" if sharpening == "earlier" else movement.declared,
        group_size=curve.group_size,
        level=level,
        groups=(int(curve.groups.min()), int(curve.groups.max())),
        rate=rate,
        shapes=shapes,
        speeds=speeds,
        shape_verdict=_verdict(shapes),
        speed_verdict=_verdict(speeds),
        notes=_notes(movement, counts is None, first, sharpening == "earlier"),
    )


def _check(curve: Curve, objective: Objective, first: int, fitted: int, window: int, level: float) -> None:
    if not 0.0 < level < 1.0:
        raise InputError(f"the level {level} is not between 0 and 1; give for example 0.95")
    if min(first, window) < 1 or fitted <= first:
        raise InputError(
            "first, fitted and window are numbers of rows, fitted more than first; give for example 5, 25, 5"
        )
    if objective.group_size != curve.group_size:
        found = f"the log has groups of {curve.group_size} and the objective groups of {objective.group_size}"
        raise InputError(f"{found}; give the group size of the run")
    if curve.steps.size < first + window:
        raise InputError(f"the log has {curve.steps.size} rows and {first + window} are needed; use smaller windows")


def _movement(
    objective: Objective, model: Model, kappa: float | None, sharpening: float | Literal["earlier"] | None
) -> Movement:
    if kappa is not None and sharpening is not None:
        raise InputError("a spread and a sharpening are given; choose one of them")
    if kappa is not None:
        return spread(kappa)
    if sharpening is not None:
        return sharpened(0.0 if sharpening == "earlier" else sharpening)
    size, advantage = objective.group_size, objective.advantage
    if model == "shift":
        return common_shift()
    return tilted(size, advantage) if model == "tilt" else policy_gradient(size, advantage)


def _from_earlier(start: Start, later: Sequence[Window], group_size: int) -> list[Movement]:
    """For each window the sharpening that fits the windows before it best, by squared errors of both shares."""
    candidates = [sharpened(rate) for rate in RATES.tolist()]
    losses = np.zeros(len(candidates))
    chosen = []
    for window in later:
        chosen.append(candidates[int(losses.argmin())])
        for place, movement in enumerate(candidates):
            correct, dead = Predictor(start, movement, group_size, 0.95, 1).expected(window)
            errors = (correct - window.all_correct, dead - window.dead)
            losses[place] += np.nansum(np.square(errors))  # a log may have the dead share alone
    return chosen


def _speeds(
    curve: Curve, start: Start, movement: Movement, begin: int, fitted: int, window: int, level: float
) -> tuple[Quantity | None, tuple[Prediction, ...]]:
    """The movement a step from rows `begin` to `fitted`, and the reward mean of the windows after them."""
    later = curve.windows(fitted, window)
    if not movement.timed or curve.steps.size < fitted:
        return None, ()
    predictor = Predictor(start, movement, curve.group_size, level, max(1, len(later)))
    return predictor.means(curve.window(begin, fitted), later)


def _verdict(predictions: Sequence[Prediction]) -> str:
    if not predictions:
        return "not tested"
    inside = _inside(predictions)
    refuted = any(not each.inside_all for each in predictions) or min(inside.values()) < FEWEST_INSIDE
    return "model refuted" if refuted else "model not refuted"


def _inside(predictions: Sequence[Prediction]) -> dict[str, float]:
    found: dict[str, list[bool]] = {}
    for each in predictions:
        found.setdefault(each.name, []).append(each.inside)
    return {name: sum(values) / len(values) for name, values in found.items()}


def _notes(movement: Movement, from_log: bool, first: int, earlier: bool) -> tuple[str, ...]:
    if from_log:
        source = f"the start is fitted to the first {first} rows alone: reward mean, all-correct and all-wrong share"
    else:
        source = "the start is what the rollouts allow, which are taken to be of the base model on the run's prompts"
    notes = [
        f"{movement.name}: {movement.meaning}",
        source,
        "shares are predicted from each window's own reward mean, the reward mean from the movement a step alone",
        "rewards are 1 for correct and 0 for wrong, groups of a window are independent draws of prompts",
        "intervals hold for each window by itself; a model is refuted if fewer than nine in ten windows are inside",
        "it is refuted too if one window is outside the interval that holds for all windows together",
        "expected values follow the most even distribution that agrees with the start, intervals all that do",
    ]
    if earlier:
        notes.append(
            "the rate is fitted to windows before the predicted one; what it may be off by is not in the interval"
        )
    return tuple(notes)
