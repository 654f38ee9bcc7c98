"""From counts to a forecast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reweight.errors import InputError
from reweight.forecasting.functional import Functional, dead_share, pass_at, signal
from reweight.forecasting.quantity import Estimator, Quantity
from reweight.forecasting.questions import Questions, answer
from reweight.forecasting.result import Forecast
from reweight.rollouts import Counts, Groups, Rollouts
from reweight.terminal import line, quoted

if TYPE_CHECKING:
    from reweight.forecasting.npmle import Npmle
    from reweight.objectives.advantage import Advantage
    from reweight.objectives.objective import Objective

__all__ = ["GROUP_SIZES", "forecast"]

GROUP_SIZES = (2, 4, 8, 16, 32, 64)
DISCOVERY_GROUPS = (1, 4, 16, 64, 256)
LARGEST_GROUP = 1024
MOST_SAMPLES = 100_000
MOST_KINDS = 200
"""Different counts (n, c) up to which a distribution is fitted: that takes a second."""


def forecast(
    rollouts: Rollouts | Counts,
    objective: Objective | None = None,
    *,
    level: float = 0.95,
    group_sizes: Sequence[int] = GROUP_SIZES,
    discovery_groups: Sequence[int] = DISCOVERY_GROUPS,
    guaranteed: bool = False,
    questions: Questions | None = None,
) -> Forecast:
    """Say what base rollouts tell about a run with groups of each size.

    Where every prompt has at least G samples, the dead share, pass@G and the signal are estimated without bias and
    without a model of the pass rates. Elsewhere there are only bounds, over every distribution of pass rates that is
    compatible with the counts: neither c/n nor the mean pass rate is plugged in, and there is no prior.

    Parameters
    ----------
    rollouts : Rollouts or Counts
        Counts of P prompts.
    objective : Objective, optional
        Its advantage defines the signal, its group size that of discovery; TRL's by default.
    level : float
        Coverage of each interval, and of the bounds.
    group_sizes : sequence of int
        Group sizes G, and the k of pass@k beside k = 1.
    discovery_groups : sequence of int
        Numbers T of groups drawn from a never-solved prompt.
    guaranteed : bool
        Intervals with a finite-sample guarantee (Hoeffding and Bentkus), about half as wide again.
    questions : Questions, optional
        What else to answer; nothing by default.

    Returns
    -------
    Forecast
        Its `str` is a short table, its `to_dict` what `--json` prints.

    Raises
    ------
    InputError
        If the level, a group size or a number of groups makes no sense, or the advantage needs more than the rewards
        of one group.

    Notes
    -----
    Source: R01 (docs/theory.md) for the signal. The intervals are empirical likelihood with Poisson-calibrated
    thresholds and have no finite-sample guarantee; the bounds are linear programs with a certificate each, over
    Clopper-Pearson limits.

    Examples
    --------
    >>> from reweight.objectives import Advantage, Objective
    >>> counts = Counts.of([8] * 200, [8] * 118 + [0] * 6 + [5] * 76)
    >>> result = forecast(counts, Objective(Advantage(), 8), group_sizes=[8, 16])
    >>> print(result.dead_share[8])
    0.6200 [0.5489, 0.6873]
    >>> result.dead_share[16].identified
    False
    """
    sizes = _increasing(group_sizes, "group size", 2, LARGEST_GROUP)
    groups = _increasing(discovery_groups, "number of groups", 1, 10**9)
    if not 0.0 < level < 1.0:
        raise InputError(f"the level {level} is not between 0 and 1; give for example 0.95")
    if objective is None:
        from reweight.objectives import preset

        objective = preset("trl")
    if objective.reward.transform is not None or objective.advantage.couples_prompts:
        raise InputError("a forecast looks at the plain rewards of one prompt: leave transforms and batches out")
    counts = rollouts.counts() if isinstance(rollouts, Rollouts) else rollouts
    read = rollouts if isinstance(rollouts, Rollouts) else Rollouts("counts", "in memory", Groups.of(()))
    largest = int(counts.n.argmax())
    if counts.n[largest] > MOST_SAMPLES:
        found = f"{line(read.source)}: prompt {quoted(counts.prompts[largest])} has {counts.n[largest]} samples"
        raise InputError(f"{found} and forecasts go up to {MOST_SAMPLES}; give some of them")
    estimator = Estimator(counts, level, guaranteed)
    fit = _fit(estimator)

    def mean(functional: Functional) -> Quantity:
        found = estimator.mean(functional)
        return found if fit is None or found.identified else replace(found, compatible=fit.mean(functional.at))

    return Forecast(
        source=read.source,
        format=read.format,
        prompts=len(counts.prompts),
        samples=counts.samples,
        level=level,
        understood=read.understood,
        left_out=read.left_out,
        histogram=_histogram(counts),
        never_solved=int((counts.c == 0).sum()),
        always_solved=int((counts.c == counts.n).sum()),
        pass_rate=mean(pass_at(1)),
        pass_at_k={k: mean(pass_at(k)) for k in (1, *sizes)},
        dead_share={size: mean(dead_share(size)) for size in sizes},
        signal={size: mean(signal(size, objective.advantage)) for size in sizes},
        advantage=objective.advantage,
        discovery_group_size=objective.group_size,
        discovery={
            number: chance
            for number in groups
            if (chance := estimator.discovery(number * objective.group_size)) is not None
        },
        notes=_notes(estimator, sizes, objective.advantage, fit),
        parts={} if questions is None else answer(questions, read, counts, objective, level, fit),
    )


def _increasing(numbers: Sequence[int], name: str, least: int, most: int) -> tuple[int, ...]:
    for number in numbers:
        if isinstance(number, bool) or number % 1 or not least <= number <= most:
            raise InputError(f"{quoted(number)} is not a {name}; give a whole number from {least} to {most}")
    if not numbers:
        raise InputError(f"no {name} is given; give at least one")
    return tuple(sorted({int(number) for number in numbers}))


def _histogram(counts: Counts) -> dict[int, dict[int, int]]:
    table: dict[int, dict[int, int]] = {}
    pairs, prompts = np.unique(np.stack([counts.n, counts.c], axis=1), axis=0, return_counts=True)
    for (n, c), number in zip(pairs.tolist(), prompts.tolist(), strict=True):
        table.setdefault(n, {})[c] = number
    return table


def _fit(estimator: Estimator) -> Npmle | None:
    """The likeliest distribution of pass rates; None where none explains the counts, or where a fit takes long."""
    from reweight.forecasting.npmle import MOST_SAMPLES as MOST_FITTED
    from reweight.forecasting.npmle import npmle

    counts = estimator.counts
    kinds = np.unique(np.stack([counts.n, counts.c]), axis=1).shape[1]
    return (
        npmle(counts)
        if kinds <= MOST_KINDS and counts.n.max() <= MOST_FITTED and not estimator.incompatible()
        else None
    )


def _notes(estimator: Estimator, sizes: tuple[int, ...], advantage: Advantage, fit: Npmle | None) -> tuple[str, ...]:
    n = estimator.counts.n
    rule = f"baseline {advantage.baseline}, scale {advantage.scale}"
    if advantage.scale.endswith("std"):
        rule += f", ddof {advantage.ddof}, eps {float(advantage.eps):g}"
    notes = [
        "the prompts are taken as a random sample of those to be trained on, a prompt's samples as independent draws",
        "the signal is the mean of reward times advantage over all rollouts, at the start of the run",
        f"advantages have {rule}",
    ]
    if estimator.guaranteed:
        notes.append("intervals of the tables by group size hold their level for any number of prompts (domination)")
    if (estimator.counts.c == 0).any():
        notes.append("discovery is at the present pass rates: what other prompts teach this one is not in it")
    if n.min() < sizes[-1]:
        notes.append(f"what needs more than {n.min()} samples is not identified by {n.min()}: there are only bounds")
        if fit is not None:
            notes.append(
                "fit is the value for the likeliest distribution of pass rates; many others explain the file too"
            )
    if n.min() < n.max():
        notes.append(
            f"the prompts have {n.min()} to {n.max()} samples: those with fewer than G enter as bounds, none is dropped"
        )
    incompatible = estimator.incompatible()
    if incompatible:
        which = ", ".join(map(str, incompatible))
        notes.append(
            f"no distribution of pass rates explains the counts of prompts with {which} samples at this level, so "
            "these are hardly independent draws, and bounds fall back to the whole range"
        )
    return tuple(notes)
