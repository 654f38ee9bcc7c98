"""Which theorems apply to an objective, and which option breaks which hypothesis of the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from reweight.objectives.objective import Objective

__all__ = ["Standing", "hypotheses"]

Broken = Callable[[Objective, int], str | None]


@dataclass(frozen=True)
class Standing:
    """Whether a theorem's hypotheses on the objective hold.

    Attributes
    ----------
    label : str
        Its labels in docs/theory.md.
    statement : str
    broken_by : tuple of str
        The options that break a hypothesis, and how; empty where the theorem applies.
    """

    label: str
    statement: str
    broken_by: tuple[str, ...]

    @property
    def applies(self) -> bool:
        """Whether no option breaks a hypothesis."""
        return not self.broken_by

    def __str__(self) -> str:
        return f"{self.label}: {self.statement}" + "".join(f"\n    not here: {why}" for why in self.broken_by)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {**asdict(self), "applies": self.applies, "broken_by": list(self.broken_by)}


def _uncentred(objective: Objective, epochs: int) -> str | None:
    advantage = objective.advantage
    if advantage.selection == "best":
        return "selection best: the advantages of a group do not sum to zero"
    if advantage.baseline not in ("mean", "leave_one_out"):
        return f"baseline {advantage.baseline}: the advantages of a group do not sum to zero"
    if advantage.scale == "leave_one_out_std":
        return "scale leave_one_out_std: every member is divided by another number"
    return None


def _unbounded(objective: Objective, epochs: int) -> str | None:
    if objective.advantage.baseline != "mean" or objective.advantage.scale != "std":
        return f"baseline {objective.advantage.baseline}, scale {objective.advantage.scale}: not the group's z-score"
    return None


def _batch(objective: Objective, epochs: int) -> str | None:
    if objective.couples_prompts:
        return "batch: what one prompt gets depends on the others"
    return "second: advantages are standardised over the batch" if objective.advantage.second else None


def _epochs(objective: Objective, epochs: int) -> str | None:
    return f"{epochs} inner epochs: from the second on, unsampled answers move" if epochs > 1 else None


def _kl(objective: Objective, epochs: int) -> str | None:
    kl = objective.kl
    return (
        f"kl {kl.estimator} in the {kl.place}: it moves answers that were not sampled" if kl and kl.beta > 0 else None
    )


def _forward_kl(objective: Objective, epochs: int) -> str | None:
    kl = objective.kl
    if kl is None or kl.beta == 0:
        return "no kl: there is no reference to stay near"
    if kl.place != "loss":
        return f"kl in the {kl.place}: it is divided and clipped with the reward"
    reverse = kl.gradient == "straight_through" or kl.estimator == "k2"
    reverse = reverse or (kl.gradient == "ratio_weighted" and kl.estimator != "k2")
    if reverse and not (kl.gradient == "ratio_weighted" and kl.estimator == "k2"):
        return None
    falls = {
        "k1": "nothing: its expected gradient is zero",
        "k2": "neither divergence",
        "k3": "KL(reference || policy)",
    }
    return f"kl {kl.estimator} with gradient {kl.gradient} descends {falls[kl.estimator]}"


def _own_length(objective: Objective, epochs: int) -> str | None:
    mean = objective.aggregation == "sequence_mean"
    return "aggregation sequence_mean: each answer is divided by its own length" if mean else None


def _any_length(objective: Objective, epochs: int) -> str | None:
    if objective.aggregation in ("token_mean", "prompt_token_mean", "sequence_mean"):
        return f"aggregation {objective.aggregation}: answers of unequal lengths get unequal weights"
    return None


def _changed_rewards(objective: Objective, epochs: int) -> str | None:
    rule = objective.reward
    if rule.transform:
        return f"transform {rule.transform}: rewards are replaced within the group"
    if rule.bonus or rule.length_penalty:
        return "a bonus or length penalty: rewards are not the correctness alone"
    return "channels are normalised apart" if rule.order == "normalise_then_sum" else None


def _unfiltered(objective: Objective, epochs: int) -> str | None:
    return None if objective.filter and objective.filter.keep == "mixed" else "filter: all groups count"


def _filtered(objective: Objective, epochs: int) -> str | None:
    return f"filter {objective.filter.keep}: groups are not a plain sample" if objective.filter else None


THEOREMS: tuple[tuple[str, str, tuple[Broken, ...]], ...] = (
    ("C01", "expected weights sum to zero: no drift where rewards do not differ", (_uncentred, _batch)),
    ("R03, C11", "advantages are at most sqrt(G - 1) (ddof 1: (G - 1)/sqrt(G))", (_unbounded, _batch)),
    (
        "R01, H1",
        "the gap is a polynomial in the pass rate, far below 1/sqrt(pq) at the ends",
        (_unbounded, _batch, _filtered, _changed_rewards),
    ),
    (
        "C17",
        "dynamic sampling: the gap is divided by the share of mixed groups",
        (_unfiltered, _uncentred, _batch),
    ),
    (
        "H7",
        "binary rewards: the expected direction is the gradient of a function of the pass rate",
        (_uncentred, _batch, _any_length),
    ),
    ("R04, C14", "a higher reward never gets a lower weight", (_unbounded, _batch, _changed_rewards)),
    (
        "R05, C27",
        "one update moves no log-odds by more than the step size",
        (_unbounded, _batch, _epochs, _kl, _own_length),
    ),
    (
        "R06, C58",
        "an answer that was never sampled stays below its base share of the correct ones",
        (_uncentred, _batch, _epochs, _kl, _own_length, _changed_rewards),
    ),
    (
        "C28",
        "the pass rate of a table never falls on any path",
        (_uncentred, _batch, _epochs, _kl, _own_length, _changed_rewards),
    ),
    ("R26, C78", "the speed limit of the tilt flow", (_unbounded, _batch, _kl, _filtered, _any_length)),
    ("C54", "the optimum stays in the support of the reference", (_forward_kl,)),
    ("R27, C79", "a logged KL of whole answers caps the pass rate", ()),
)


def hypotheses(objective: Objective, *, inner_epochs: int = 1) -> tuple[Standing, ...]:
    """Say of each theorem whether the objective keeps its hypotheses.

    Parameters
    ----------
    objective : Objective
    inner_epochs : int
        How often one batch is used.

    Returns
    -------
    tuple of Standing
        What they assume beside the objective (a table, binary rewards, one token an answer) is on the page of
        statements.

    Examples
    --------
    >>> from reweight.objectives.presets import preset
    >>> standing = {each.label: each for each in hypotheses(preset("nemo_rl"))}
    >>> standing["R03, C11"].applies
    False
    """
    return tuple(
        Standing(label, statement, tuple(why for check in checks if (why := check(objective, inner_epochs))))
        for label, statement, checks in THEOREMS
    )
