"""What a verifier that errs does: to the counts of a file, and to the groups of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reweight.errors import InputError
from reweight.forecasting.functional import Functional, dead_share, pass_at, signal
from reweight.forecasting.quantity import Estimator, Quantity, shown
from reweight.forecasting.table import Table
from reweight.groups.binary import binary_advantages

if TYPE_CHECKING:
    from reweight.objectives.advantage import Advantage
    from reweight.objectives.objective import Objective
    from reweight.rollouts import Counts

__all__ = ["Noise", "NoiseRow", "accepted", "noise"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NoiseRow:
    """A run whose verifier errs, with groups of one size.

    Parameters
    ----------
    group_size : int
    dead_share : Quantity
        Share of groups whose verdicts are all the same.
    signal : Quantity
        Mean of true correctness times advantage of a rollout: what moves the log-odds of being correct.
    clean : Quantity
        The same with a verifier that does not err.
    """

    group_size: int
    dead_share: Quantity
    signal: Quantity
    clean: Quantity


@dataclass(frozen=True)
class Noise:
    """Both questions about a verifier with a true and a false positive rate.

    Parameters
    ----------
    tpr, fpr : float
        Chance that a correct, and a wrong, sample is accepted.
    if_file : Quantity
        True pass rate, if the file's verdicts come from this verifier.
    observed : Quantity
        Share of accepted samples in the run, if the file's verdicts are true.
    rows : tuple of NoiseRow
        The run, if the file's verdicts are true and the run's come from this verifier.
    notes : tuple of str
    """

    tpr: float
    fpr: float
    if_file: Quantity
    observed: Quantity
    rows: tuple[NoiseRow, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "tpr": self.tpr,
            "fpr": self.fpr,
            "true_pass_rate": self.if_file.to_dict(),
            "observed_pass_rate": self.observed.to_dict(),
            "groups": {
                str(row.group_size): {
                    "dead_share": row.dead_share.to_dict(),
                    "signal": row.signal.to_dict(),
                    "clean_signal": row.clean.to_dict(),
                }
                for row in self.rows
            },
            "notes": list(self.notes),
        }

    def tables(self) -> tuple[Table, ...]:
        """The noise in the file, and the noise in the run."""
        rates = f"TPR {shown(self.tpr)} and FPR {shown(self.fpr)}"
        file = (
            ("true pass rate, if the file's verdicts have this noise", str(self.if_file)),
            ("accepted in the run, if the file's verdicts are true", str(self.observed)),
        )
        rows = tuple((str(row.group_size), str(row.dead_share), str(row.signal), str(row.clean)) for row in self.rows)
        header = ("G", "dead groups", "signal on correctness", "without noise")
        return (
            Table(f"A verifier with {rates}", ("", "pass rate"), file),
            Table(f"The run with {rates}, if the file's verdicts are true", header, rows),
        )


NOTES: tuple[str, ...] = (
    "verifier errors are independent of each other and of the prompt, with the same rates everywhere",
    "the signal is on true correctness: advantages of accepted samples that are wrong count against it",
)


def noise(
    counts: Counts, objective: Objective, *, tpr: float, fpr: float, group_sizes: Sequence[int], level: float = 0.95
) -> Noise:
    """Say what a verifier's errors change.

    Parameters
    ----------
    counts : Counts
        n and c of P prompts.
    objective : Objective
        Its advantage defines the signal.
    tpr, fpr : float
        True and false positive rate of the verifier, with fpr < tpr.
    group_sizes : sequence of int
    level : float

    Raises
    ------
    InputError
        If the rates are no probabilities, or the verifier tells nothing (tpr <= fpr).

    Notes
    -----
    A sample is accepted with probability f + J p, J = t - f, so the groups of the run are those of that pass rate, and
    correct samples gain over wrong ones J times what accepted ones gain over refused ones: p q J Delta_G(f + J p)
    (N33, C19). The true pass rate is the observed one minus f, over J.

    Examples
    --------
    >>> from reweight.objectives import Advantage, Objective
    >>> from reweight.rollouts import Counts
    >>> found = noise(Counts.of([8] * 100, [4] * 100), Objective(Advantage(), 8), tpr=0.9, fpr=0.1, group_sizes=[8])
    >>> round(found.if_file.estimate, 12), round(found.observed.estimate, 12)
    (0.5, 0.5)
    """
    for value, name in ((tpr, "TPR"), (fpr, "FPR")):
        if not 0.0 <= value <= 1.0:
            raise InputError(f"the {name} {value} is not a probability; give for example 0.9")
    gain = tpr - fpr
    if gain <= 0.0:
        raise InputError(f"a verifier with TPR {tpr} and FPR {fpr} does not tell correct from wrong; give TPR > FPR")
    estimator = Estimator(counts, level)
    seen = estimator.mean(pass_at(1))
    rows = []
    for size in sorted(set(group_sizes)):
        dead = Functional(accepted(size, size, tpr, fpr) @ dead_share(size).table)
        worth = Functional(_correct_times_advantage(size, objective.advantage, tpr, fpr))
        clean = estimator.mean(signal(size, objective.advantage))
        rows.append(NoiseRow(size, estimator.mean(dead), estimator.mean(worth), clean))
    notes = NOTES
    if seen.high < fpr or seen.low > tpr:
        notes += (
            "the file's share of accepted samples lies outside these rates: its verdicts are not from this verifier",
        )
    return Noise(
        tpr,
        fpr,
        _mapped(seen, lambda rate: min(max((rate - fpr) / gain, 0.0), 1.0)),
        _mapped(seen, lambda rate: fpr + gain * rate),
        tuple(rows),
        notes,
    )


def accepted(most: int, size: int, tpr: float, fpr: float) -> Floats:
    """Probability of each number of accepted samples of `size` (columns) when 0..most of them are correct (rows).

    Examples
    --------
    >>> accepted(1, 1, 0.9, 0.2)
    array([[0.8, 0.2],
           [0.1, 0.9]])
    """
    from scipy.stats import binom

    rows = [
        np.convolve(
            binom.pmf(np.arange(right + 1), right, tpr), binom.pmf(np.arange(size - right + 1), size - right, fpr)
        )
        for right in range(most + 1)
    ]
    return np.array(rows)


def _correct_times_advantage(size: int, advantage: Advantage, tpr: float, fpr: float) -> Floats:
    """E[(1/G) sum of correctness times advantage] given the number correct, (G + 1,)."""
    of_accepted, of_refused = binary_advantages(size, advantage)
    others = accepted(size - 1, size - 1, tpr, fpr)
    own = tpr * (others @ of_accepted[1:]) + (1.0 - tpr) * (others @ of_refused[:-1])
    return np.concatenate([[0.0], np.arange(1, size + 1) / size * own])


def _mapped(found: Quantity, to: Any) -> Quantity:
    middle = None if found.estimate is None else to(found.estimate)
    return Quantity(middle, to(found.low), to(found.high), found.identified)
