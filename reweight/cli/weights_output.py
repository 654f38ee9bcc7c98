"""What `reweight weights` prints of one objective, or of two, on a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reweight.cli import options

if TYPE_CHECKING:
    from reweight.cli.weights_input import Prompt
    from reweight.groups.answer_table import AnswerWeight
    from reweight.groups.binary_table import BinaryWeight
    from reweight.objectives import Objective
    from reweight.objectives.config import TrainerConfig

__all__ = ["Side", "print_weights", "side"]

ON_OCCASION = ("infinite", "draws", "length", "signal_to_noise")
TITLES = {
    "infinite": "gap, G = inf",
    "draws": "draws/kept",
    "signal_to_noise": "SNR/sample",
}
FACTS = {
    "error_bound": "largest error, relative to the expected |advantage|",
    "dead_share": "dead share",
    "draws": "generated samples a kept group",
    "expected_advantage": "expected |advantage|",
    "signal_to_noise": "signal-to-noise a generated sample",
}


@dataclass(frozen=True)
class Side:
    """One objective with its table: rows, and for the answers of one prompt what else is known of it."""

    name: str
    objective: Objective
    rows: Sequence[BinaryWeight | AnswerWeight]
    facts: dict[str, str | float | None]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "preset": self.name,
            "objective": self.objective.to_dict(),
            "weights": [row.to_dict() for row in self.rows],
        } | ({"facts": self.facts} if self.facts else {})


def side(name: str, objective: Objective, prompt: Prompt) -> Side:
    """Compute the table of an objective; errors are those of the two tables."""
    if prompt.problem is None:
        from reweight.groups.binary_table import binary_table

        rows = binary_table(objective, prompt.rates, tpr=prompt.tpr, fpr=prompt.fpr, **prompt.precision)
        return Side(name, objective, rows, {})
    from reweight.groups.answer_table import answer_table

    table = answer_table(objective, prompt.problem, prompt.masses, **prompt.precision)
    return Side(name, objective, table.rows, table.facts)


def print_weights(sides: Sequence[Side], read: TrainerConfig | None, as_json: bool) -> None:
    """Print the weights of one objective, or of two with their differences, and what a configuration said."""
    from reweight.groups.comparison import effective_differences

    first, others = sides[0], sides[1:]
    differences = effective_differences(first.objective, others[0].objective) if others else {}
    if as_json:
        result = first.to_dict()
        for other in others:
            result["against"] = other.to_dict() | {"differs_in": list(differences)}
        if read is not None:
            result["config"] = read.to_dict() | {"theorems": [each.to_dict() for each in _standing(read, first)]}
        options.print_json(result)
        return
    if read is not None:
        _print_config(read, first)
    _print_side(first)
    for other in others:
        print()
        _print_side(other)
        print()
        options.print_table(
            ["where they differ", first.name, other.name],
            [[field, *(options.shown(value) for value in pair)] for field, pair in differences.items()],
        )


def _print_side(found: Side) -> None:
    print(f"{found.name}: {options.in_short(found.objective)}")
    kept = [{name: value for name, value in row.to_dict().items() if value is not None} for row in found.rows]
    names = [name for name in found.rows[0].to_dict() if name != "value"]
    columns = [name for name in names if name not in ON_OCCASION or any(name in row for row in kept)]
    headings = [TITLES.get(name, name.replace("_", " ")) for name in columns]
    options.print_table(headings, [[options.shown(row.get(name)) for name in columns] for row in kept])
    for row in kept:
        if "value" in row:
            what = (
                f"gap at {options.shown(row['pass_rate'])}"
                if "pass_rate" in row
                else f"weight of answer {row['answer']}"
            )
            print(f"{what}, exactly: {row['value']}")
    for name, value in found.facts.items():
        if value is not None:
            print(f"{FACTS.get(name, name)}: {options.shown(value)}")


def _standing(read: TrainerConfig, found: Side) -> Sequence[Any]:
    from reweight.objectives.hypotheses import hypotheses

    return hypotheses(found.objective, inner_epochs=read.inner_epochs)


def _print_config(read: TrainerConfig, found: Side) -> None:
    print(f"{replace(read, objective=found.objective)}\n")
    theorems = _standing(read, found)
    for heading, applies in (("theorems that apply to this objective", True), ("theorems that it breaks", False)):
        print(heading)
        for each in theorems:
            if each.applies == applies:
                print(f"  {each}")
    print()
