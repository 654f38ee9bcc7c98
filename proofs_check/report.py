"""The report of `reweight verify`: verdicts, the support theorem on three maps, figures, each claim, a forecast."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from proofs_check.verdict import ClaimResult, RoadResult

if TYPE_CHECKING:
    from reweight.forecasting import Forecast
    from reweight.reports import Report, Section

__all__ = ["build_report"]

PRACTICAL_BETAS = (0.1, 0.04, 0.01, 0.001)
REVERSE_KL = ((0.04, 8), (0.5, 8), (1.0, 8), (2.0, 8), (3.0, 8))


def build_report(results: Sequence[ClaimResult], forecast: Forecast) -> Report:
    """Put what was found into a report.

    Parameters
    ----------
    results : sequence of ClaimResult
        From `proofs_check.runner.run_claims`.
    forecast : Forecast
        What ends the report, as an example of use.

    Returns
    -------
    Report
        Not written yet; ``report.write(folder)`` does.
    """
    from reweight.reports import Report

    problems = [problem for result in results for problem in result.problems()]
    killed, planted = sum(result.killed for result in results), sum(len(result.mutants) for result in results)
    return Report(
        "What GRPO can and cannot do: claims, checked",
        [
            _verdicts(results, problems),
            _three_maps(),
            _figures(),
            *(_claim(result) for result in results),
            _forecast(forecast),
        ],
        subtitle="Each claim with its verdict, its domain, how it was shown, and the false siblings that were refuted.",
        facts={
            "claims": len(results),
            "verdicts that differ from the declared ones, mutants that survive or are upheld": len(problems),
            "mutants told from their claims": f"{killed} of {planted}",
        },
    )


def _verdicts(results: Sequence[ClaimResult], problems: Sequence[str]) -> Section:
    from reweight.reports import Section, Table, Text, verdict_badge

    rows: list[list[Any]] = [
        [
            result.claim.id,
            result.claim.title,
            verdict_badge(result.verdict, as_declared=not result.problems()),
            "VACUOUS" if result.claim.vacuous else "",
            ", ".join(road.name for road in result.roads if road.ran),
            f"{result.killed}/{len(result.mutants)}",
        ]
        for result in results
    ]
    columns = ["claim", "statement", "verdict", "mark", "roads", "mutants killed"]
    legend = (
        "**PROVED**: for the infinite ranges that are named. **VERIFIED**: every case of a finite domain, exactly. "
        "**TESTED**: sampled. **REFUTED**: with the smallest counterexample found. **VACUOUS**: true, but it bounds "
        "nothing at practical values. A claim without one of its hypotheses is an entry of its own, and is refuted."
    )
    alarms = [Table(["problem"], [[problem] for problem in problems], "What is not as declared")] if problems else []
    return Section("Verdicts", [Text(legend), Table(columns, rows, "All claims that were checked"), *alarms])


def _claim(result: ClaimResult) -> Section:
    from reweight.reports import Section, Table, Text, verdict_badge

    claim = result.claim
    facts: list[list[Any]] = [[name, text] for name, text in claim.doc.fields.items()]
    facts.append(["Verdict found", verdict_badge(result.verdict, as_declared=not result.problems())])
    facts += [["Vacuous in practice", claim.vacuous]] if claim.vacuous else []
    facts += [[f"Hypothesis: {hypothesis.name}", hypothesis.text] for hypothesis in claim.hypotheses]
    if result.outcome.witness:
        facts.append(["Counterexample", _text(result.outcome.witness)])
    roads = [_road(road) for road in result.roads]
    blocks: list[Any] = [
        Table(["", ""], facts),
        Table(["road", "outcome", "expected", "certificate", "seconds"], roads, "How it was checked"),
    ]
    mutants: list[list[Any]] = [
        [m.name, str(m) if m.killed_by else f"SURVIVES; {m}", _text(m.witness) if m.witness else None]
        for m in result.mutants
    ]
    if mutants:
        kind = "True siblings, which" if claim.declared == "refuted" else "False siblings, which"
        verb = "must not refute" if claim.declared == "refuted" else "must refute"
        columns = ["mutant", "what the roads say of it", "counterexample"]
        blocks.append(Table(columns, mutants, f"{kind} the same roads {verb}"))
    else:
        blocks.append(Text("Mutants not run."))
    return Section(claim.title if claim.parent else f"{claim.id}: {claim.title}", blocks)


def _road(road: RoadResult) -> list[Any]:
    from proofs_check.verdict import headline

    return [road.name, headline(road.outcome), road.expected, road.outcome.certificate, round(road.seconds, 2)]


def _text(witness: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in witness.items())


def _three_maps() -> Section:
    from proofs_check import three_maps
    from reweight.reports import Section, Table, Text

    rows: list[list[str]] = [[row.statement, row.claim, *row.found] for row in three_maps.side_by_side()]
    base = ", ".join(str(mass) for mass in three_maps.BASE)
    setting = (
        f"Exact runs of one problem: base probabilities {base} of a rare correct answer y, a common correct one and a "
        f"wrong one; G = {three_maps.GROUP_SIZE}, step {three_maps.STEP}, group std (ddof 0), no KL term. "
        "TILT is the natural gradient, PG the population gradient of the logits, S-PG what a trainer does with sampled "
        "groups; for S-PG all paths are followed with their probabilities."
    )
    amplification: list[list[Any]] = [[beta, f"10^{1 / beta / math.log(10):.1f}"] for beta in PRACTICAL_BETAS]
    reverse: list[list[Any]] = [
        [beta, size, 0.0, three_maps.reverse_kl_optimum(beta, size)] for beta, size in REVERSE_KL
    ]
    return Section(
        "The support theorem on three maps",
        [
            Text(setting),
            Table(["statement", "claim", "TILT", "PG", "S-PG"], rows, "What holds, and what fails"),
            Text(
                "What is vacuous: under KL(pi || ref) the optimum is the base times e^(r/beta), so support is kept, "
                "but the factor that is allowed is beyond any base probability of interest; and a softmax has no "
                "exact zeros that could be kept."
            ),
            Table(["beta", "largest factor e^(1/beta)"], amplification, "What the KL term allows (C48, C57)"),
            Text(
                "What fails: the k3 penalty of GRPO code has, on-policy, the gradient of KL(ref || pi). Under it there "
                "is a stationary policy with mass on correct answers where the base has none, as soon as "
                "beta < sqrt(G-1) (C54). Training cannot find it from an exact zero, but any leak leads there."
            ),
            Table(
                ["beta", "G", "KL(pi || ref)", "KL(ref || pi), k3"],
                reverse,
                "Largest stationary pass rate where the base pass rate is exactly 0",
            ),
        ],
    )


def _figures() -> Section:
    from reweight.plots.figures import FIGURES, make_figure
    from reweight.reports import Section

    return Section("Figures", [make_figure(name) for name in FIGURES])


def _forecast(found: Forecast) -> Section:
    from reweight.forecasting.report import sections
    from reweight.reports import Section, Text

    intro = "What the base model's own samples say about a run, before it is started (`reweight forecast`)."
    return Section("Forecast from base rollouts", [Text(intro), *sections(found)])
