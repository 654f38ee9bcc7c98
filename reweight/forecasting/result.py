"""The forecast of a file, and how it reads as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from reweight.forecasting.part import Part
from reweight.forecasting.quantity import Quantity, shown
from reweight.forecasting.table import Table
from reweight.objectives.advantage import Advantage
from reweight.rollouts import LeftOut
from reweight.terminal import line

__all__ = ["Forecast"]

LONGEST_LINE = 2000


@dataclass(frozen=True)
class Forecast:
    """What base rollouts say about a run, before it is started.

    Parameters
    ----------
    source, format : str
        The file and the reader that understood it.
    prompts, samples : int
        Number of prompts P and of samples.
    level : float
        Coverage of intervals and bounds.
    understood : tuple of str
        How the file was read.
    left_out : tuple of LeftOut
        Rows that were not used.
    histogram : mapping n -> mapping c -> prompts
        The counts themselves.
    never_solved, always_solved : int
        Prompts without a correct, and without a wrong sample.
    pass_rate : Quantity
        Mean pass rate over prompts.
    pass_at_k, dead_share, signal : mapping int -> Quantity
        By k, and by group size: probability of at least one success; share of groups that are all correct or all wrong;
        expected reward times advantage of a rollout.
    advantage : Advantage
        The one that `signal` is for.
    discovery_group_size : int
    discovery : mapping int -> Quantity
        By number of groups T: chance that a never-solved prompt is solved within T groups, if nothing carries over
        to it from other prompts. Empty if every prompt was solved.
    notes : tuple of str
        What to know before relying on the numbers.
    parts : mapping of str to Part
        What else was asked for, by its key in the JSON.
    """

    source: str
    format: str
    prompts: int
    samples: int
    level: float
    understood: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    histogram: Mapping[int, Mapping[int, int]]
    never_solved: int
    always_solved: int
    pass_rate: Quantity
    pass_at_k: Mapping[int, Quantity]
    dead_share: Mapping[int, Quantity]
    signal: Mapping[int, Quantity]
    advantage: Advantage
    discovery_group_size: int
    discovery: Mapping[int, Quantity]
    notes: tuple[str, ...]
    parts: Mapping[str, Part] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The forecast as plain JSON values; reweight/forecasting/schema.json describes them."""

        def by_number(table: Mapping[int, Quantity]) -> dict[str, Any]:
            return {str(number): quantity.to_dict() for number, quantity in table.items()}

        return {
            "source": self.source,
            "format": self.format,
            "prompts": self.prompts,
            "samples": self.samples,
            "level": self.level,
            "understood": list(self.understood),
            "left_out": [asdict(item) for item in self.left_out],
            "counts": {str(n): {str(c): prompts for c, prompts in row.items()} for n, row in self.histogram.items()},
            "never_solved": {"prompts": self.never_solved, "share": self.never_solved / self.prompts},
            "always_solved": {"prompts": self.always_solved, "share": self.always_solved / self.prompts},
            "pass_rate": self.pass_rate.to_dict(),
            "pass_at_k": by_number(self.pass_at_k),
            "dead_share": by_number(self.dead_share),
            "signal": by_number(self.signal),
            "advantage": {**asdict(self.advantage), "eps": float(self.advantage.eps)},
            "discovery": {
                "group_size": self.discovery_group_size,
                "prompts": self.never_solved,
                "groups": by_number(self.discovery),
            },
            "notes": list(self.notes),
            **{name: part.to_dict() for name, part in self.parts.items()},
        }

    def summary(self) -> tuple[str, ...]:
        """The lines above the tables, safe to print whatever the file holds."""
        sizes = sorted(self.histogram)
        each = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        never, always = (_share(number, self.prompts) for number in (self.never_solved, self.always_solved))
        lost = [f"left out: {item.rows} {item.reason}" for item in self.left_out] or ["left out: nothing"]
        lines = (
            f"{line(self.source)} ({self.format})",
            *self.understood,
            *lost,
            f"{self.prompts} prompts, {self.samples} samples, {each} a prompt; intervals and bounds at {self.level}",
            f"never solved: {never}; always solved: {always}",
            f"pass rate: {self.pass_rate}",
        )
        return tuple(line(text, LONGEST_LINE) for text in lines)

    def tables(self) -> tuple[Table, ...]:
        """All tables, as text cells."""
        return (*self.core_tables(), *(table for part in self.parts.values() for table in part.tables()))

    def all_notes(self) -> tuple[str, ...]:
        """The notes of all parts, each once."""
        return tuple(dict.fromkeys((*self.notes, *(note for part in self.parts.values() for note in part.notes))))

    def core_tables(self) -> tuple[Table, ...]:
        """Groups by their size, pass@k, and what never-solved prompts may expect."""
        by_size = Table(
            "By group size G: an estimate with its interval up to the samples a prompt, bounds beyond",
            ("G", "dead groups", "signal per rollout"),
            tuple((str(size), str(self.dead_share[size]), str(self.signal[size])) for size in self.dead_share),
        )
        by_k = Table("pass@k", ("k", "pass@k"), tuple((str(k), str(value)) for k, value in self.pass_at_k.items()))
        if not self.discovery:
            return by_size, by_k
        title = (
            f"Of the {self.never_solved} never-solved prompts, solved within T groups of {self.discovery_group_size} "
            "(bounds on the expected number)"
        )
        rows = tuple(
            (
                str(groups),
                f"{shown(share.low * self.never_solved, 2)} to {shown(share.high * self.never_solved, 2)}",
                str(share),
            )
            for groups, share in self.discovery.items()
        )
        return by_size, by_k, Table(title, ("T", "prompts", "chance of one prompt"), rows)

    def __str__(self) -> str:
        from io import StringIO

        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        out = StringIO()
        console = Console(file=out, width=160, color_system=None)
        for text in self.summary():
            console.print(Text(text), soft_wrap=True)
        for table in self.tables():
            console.print(Text(f"\n{table.title}"), soft_wrap=True)
            shown = RichTable(box=None, pad_edge=False, padding=(0, 3, 0, 1))
            for name in table.header:
                shown.add_column(name, justify="right", no_wrap=True)
            for row in table.rows:
                shown.add_row(*row)
            console.print(shown)
        console.print()
        for note in self.all_notes():
            console.print(Text(f"note: {note}"), soft_wrap=True)
        return "\n".join(text.rstrip() for text in out.getvalue().splitlines())


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({shown(part / whole)})"
