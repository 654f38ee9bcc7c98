"""Details of lighteval: one row a document, with its metrics as means over the samples of the document."""

from __future__ import annotations

import re
from typing import Any

from reweight.errors import InputError
from reweight.rollouts.files import File
from reweight.rollouts.parquet_rows import parquet_rows
from reweight.rollouts.reader import Options
from reweight.rollouts.shares import add_share
from reweight.rollouts.table import Rollouts
from reweight.rollouts.tally import Tally
from reweight.terminal import line, listed, quoted

NAME = "lighteval-details"
HOLDS = "the columns doc, metric, model_response"
OPTIONS = frozenset({"reward"})

DOCUMENT, METRIC, RESPONSE = "doc", "metric", "model_response"
OF_MORE_THAN_ONE = re.compile(r"(?:pass|avg|maj|g-pass)@(?:k:(?:.*&)?k=)?(?!1(?![0-9]))[0-9]+|maj")
"""A metric that is a mean over sets of k > 1 samples, or a vote: no number of correct samples follows from it."""


def recognises(file: File) -> bool:
    """Whether the columns are those of the details."""
    return file.kind == "parquet" and {DOCUMENT, METRIC, RESPONSE} <= set(file.fields)


def read(file: File, options: Options) -> Rollouts:
    """Each document is a prompt; correct samples are its metric times its number of responses, a whole number."""
    tally = Tally(file, Options())
    metric = ""
    places: dict[str, int] = {}
    for row in parquet_rows(file):
        where = file.at(row.line)
        metrics = row.value(METRIC, where)
        if not isinstance(metrics, dict) or not metrics:
            raise InputError(f"{where}: the row has no metrics; write the details again")
        metric = metric or _metric(metrics, options, where)
        document = _name(row.value(DOCUMENT, where), where)
        if document in places:
            raise InputError(f"{where}: the document {quoted(document)} is in row {places[document]} too; keep one")
        places[document] = row.line
        answers = _answers(row.value(RESPONSE, where), where)
        share = metrics.get(metric)
        add_share(tally, document, share, len(answers), metric, where, remedy="choose another metric with --reward")
    notes = (
        "a prompt is a document",
        f"{line(metric)} is the mean over a document's responses, so correct = {line(metric)} times their number",
    )
    return tally.rollouts(NAME, notes, [])


def _metric(metrics: dict[str, Any], options: Options, where: str) -> str:
    given = options.reward
    if given is not None:
        if given not in metrics:
            raise InputError(f"{where}: there is no metric {quoted(given)}; choose one of {listed(metrics)}")
        if OF_MORE_THAN_ONE.search(given):
            raise InputError(
                f"{where}: {quoted(given)} is no mean over single samples; choose one of {listed(metrics)}"
            )
        return given
    single = [name for name in metrics if not OF_MORE_THAN_ONE.search(name)]
    if len(single) != 1:
        raise InputError(
            f"{where}: {len(single)} metrics may mean correct ({listed(metrics)}); choose one with --reward"
        )
    return single[0]


def _name(document: Any, where: str) -> str:
    """The document's id, or its query where it has none."""
    fields = document if isinstance(document, dict) else {}
    for name in ("id", "query"):
        found = fields.get(name)
        if isinstance(found, str) and found:
            return found
    raise InputError(f"{where}: the document has neither id nor query; write the details again")


def _answers(response: Any, where: str) -> list[Any]:
    texts = response.get("text") if isinstance(response, dict) else None
    if not isinstance(texts, list) or not texts:
        raise InputError(f"{where}: model_response has no list of texts; write the details again")
    return texts
