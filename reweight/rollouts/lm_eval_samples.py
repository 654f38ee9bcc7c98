"""Samples that lm-evaluation-harness logs: one line a document and filter, with all repeats of the document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.files import File, Row
from reweight.rollouts.json_rows import json_rows
from reweight.rollouts.reader import Names, Options, unused_fields
from reweight.rollouts.shares import add_share
from reweight.rollouts.table import LeftOut, Rollouts
from reweight.rollouts.tally import Tally
from reweight.terminal import line, listed, quoted

NAME = "lm-eval-samples"
HOLDS = "doc_id, resps, filtered_resps and a metric on each line"
OPTIONS = frozenset({"reward", "filter"})

DOCUMENT, RESPONSES, FILTERED, FILTER, METRICS = "doc_id", "resps", "filtered_resps", "filter", "metrics"
HASH = "doc_hash"
KNOWN = {
    DOCUMENT, RESPONSES, FILTERED, FILTER, METRICS, HASH, "doc", "target", "arguments", "prompt_hash", "target_hash",
}  # fmt: skip
BINARY_METRICS = ("exact_match", "acc", "pass@1")


def recognises(file: File) -> bool:
    """Whether the first row has a document and its responses before and after a filter."""
    return file.kind == "json" and {DOCUMENT, RESPONSES, FILTERED} <= set(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Each document is a prompt; its metric is the mean over the repeats that went through the filter."""
    reading = _Reading(file, options)
    for row in json_rows(file):
        reading.take(row)
    return reading.rollouts()


@dataclass(frozen=True)
class _Document:
    """What one line says: how many samples went through the filter, and their metric."""

    name: str
    drawn: int
    kept: int
    value: Any
    line: int


@dataclass
class _Reading:
    """The lines so far, by filter; one of these is chosen at the end."""

    file: File
    options: Options
    names: Names = field(default_factory=lambda: Names("document"))
    seen: dict[str, None] = field(default_factory=dict)
    filters: dict[str, list[_Document]] = field(default_factory=dict)
    metric: str = ""

    def take(self, row: Row) -> None:
        """Note one line."""
        where = self.file.at(row.line)
        if not row.fields.keys() <= self.seen.keys():
            self.seen.update(dict.fromkeys(row.fields))
        self.metric = self.metric or self._metric(row, where)
        drawn, kept = _lengths(row, where)
        value = row.value(self.metric, where)
        name = self.names.of(row.value(DOCUMENT, where), where)
        chosen = row.fields.get(FILTER)
        if chosen is not None and not isinstance(chosen, str):
            raise InputError(f"{where}: the filter {quoted(chosen)} is not a name; write its name")
        self.filters.setdefault(chosen or "", []).append(_Document(name, drawn, kept, value, row.line))

    def rollouts(self) -> Rollouts:
        """The documents of the one filter that keeps every repeat, or of the one that was asked for."""
        if not self.filters:
            raise InputError(f"{self.file.name}: there is no row; give a file with at least one document")
        chosen = self._filter()
        tally = Tally(self.file, Options())
        lines: dict[str, int] = {}
        for each in self.filters[chosen]:
            where = self.file.at(each.line)
            if each.name in lines:
                raise InputError(
                    f"{where}: the document {quoted(each.name)} is on line {lines[each.name]} too; give one line a "
                    "document and filter"
                )
            lines[each.name] = each.line
            add_share(
                tally,
                each.name,
                each.value,
                each.kept,
                self.metric,
                where,
                remedy="choose another metric with --reward",
            )
        others = [name for name in self.filters if name != chosen]
        metric = line(self.metric)
        notes = [
            "a prompt is a document (doc_id); its repeats are its samples",
            f"{metric} is the mean over the samples that the filter kept, so correct = {metric} times their number",
        ]
        if chosen:
            notes.append(f"the filter {line(chosen)} is used")
        if any(each.kept < each.drawn for each in self.filters[chosen]):
            notes.append("this filter does not keep every sample: where it votes, its verdict is not that of a sample")
        left_out = []
        if others:
            rows = sum(len(self.filters[name]) for name in others)
            left_out.append(LeftOut(f"rows of the filters {listed(others)}, which judge the same samples again", rows))
        return tally.rollouts(NAME, (*notes, *unused_fields(self.seen, KNOWN | {self.metric})), left_out)

    def _metric(self, row: Row, where: str) -> str:
        given = self.options.reward
        names = row.fields.get(METRICS)
        known = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
        known = known or [name for name in row.fields if name not in KNOWN]
        if given is not None:
            if given not in row.fields:
                raise InputError(f"{where}: there is no metric {quoted(given)}; choose one of {listed(known)}")
            return given
        found = [name for name in BINARY_METRICS if name in known] or known
        if len(found) != 1:
            raise InputError(
                f"{where}: {len(found)} metrics may mean correct ({listed(found)}); choose one with --reward"
            )
        return found[0]

    def _filter(self) -> str:
        given = self.options.filter
        if given is not None:
            if given not in self.filters:
                raise InputError(
                    f"{self.file.name}: there is no filter {quoted(given)}; choose one of {listed(self.filters)}"
                )
            return given
        whole = [name for name, rows in self.filters.items() if all(each.kept == each.drawn for each in rows)]
        if len(whole) == 1:
            return whole[0]
        what = "none keeps" if not whole else f"{listed(whole)} keep"
        raise InputError(
            f"{self.file.name}: of the filters {listed(self.filters)} {what} each sample, and all judge the same ones; "
            "choose one with --filter"
        )


def _lengths(row: Row, where: str) -> tuple[int, int]:
    """Number of samples that were drawn, and of those that went through the filter."""
    found = []
    for name in (RESPONSES, FILTERED):
        value = row.value(name, where)
        inner = value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list) else value
        if not isinstance(inner, list) or not inner:
            raise InputError(f"{where}: {name} is {quoted(value)} and not a list of responses; log the samples again")
        found.append(len(inner))
    return found[0], found[1]
