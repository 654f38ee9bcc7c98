"""All presets, and the difference of two of them, as `reweight weights --list` and `--diff` print them."""

from __future__ import annotations

from fractions import Fraction

from reweight.cli import options

__all__ = ["print_difference", "print_presets"]

LIST_WIDTH = 100


def print_presets(as_json: bool) -> None:
    """Print every preset with its advantage, where it was read, and what it leaves open."""
    from reweight.objectives.presets import presets

    found = presets()
    if as_json:
        rows = [
            {
                "name": each.name,
                "version": each.version,
                "in_short": options.in_short(each.objective),
                "source": each.source,
                "note": each.note,
                "objective": each.objective.to_dict(),
            }
            for each in found
        ]
        options.print_json({"presets": rows})
        return
    options.print_table(
        ["preset", "version", "in short"],
        [[each.name, each.version, options.in_short(each.objective)] for each in found],
        width=LIST_WIDTH,
    )
    print()
    options.print_table(
        ["preset", "source, and what to know"],
        [[each.name, f"{each.source}. {each.note}".rstrip()] for each in found],
        width=LIST_WIDTH,
    )


def print_difference(pair: tuple[str, str], group_size: int | None, rates: list[Fraction], as_json: bool) -> None:
    """Print on which fields two presets differ, and what that does to gradients and weights."""
    from reweight.groups.comparison import PASS_RATES, compare

    sides = [options.changed(options.objective_from(name), group_size=group_size) for name in pair]
    found = compare(*sides, pass_rates=[float(rate) for rate in rates] or PASS_RATES)
    if as_json:
        options.print_json({"presets": list(pair), **found.to_dict()})
        return
    options.print_table(
        ["where they differ", *pair],
        [[name, *(options.shown(value) for value in values)] for name, values in found.differences.items()],
    )
    print("\nexpected gradient of one group in the logits (0.4, -0.3, 0.1), rewards 1, 0, 0")
    options.print_table(
        ["preset", "answer 0", "answer 1", "answer 2"],
        [[name, *(options.shown(float(v)) for v in row)] for name, row in zip(pair, found.directions, strict=True)],
    )
    print(f"their difference is {options.shown(found.gap_in_direction)} of the first")
    print("\nexpected advantage of a correct and a wrong answer")
    rows = []
    for index, rate in enumerate(found.pass_rates.tolist()):
        cells = [options.shown(rate)]
        for table in found.weights:
            cells += ["-", "-"] if table is None else [options.shown(float(value)) for value in table[index]]
        rows.append(cells)
    options.print_table(["pass rate", *(f"{name}, {what}" for name in pair for what in ("correct", "wrong"))], rows)
