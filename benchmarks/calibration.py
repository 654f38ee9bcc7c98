"""Errors of models of how pass rates move on two public runs: `python -m benchmarks.calibration`.

Both runs are GSM8K with a 1.7B base model and groups of 8. The start is fitted to the first five rows alone; every
later window of five rows gives its reward mean, and its shares of all-correct and dead groups are predicted from it.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from reweight.forecasting.calibrate import Calibration, calibrate
from reweight.forecasting.curve import Curve
from reweight.objectives import Advantage, Objective

DATA = Path(__file__).parent.parent / "tests" / "data"
RUNS = ("dapo", "grpo")
OBJECTIVE = Objective(Advantage(ddof=1), 8)
MODELS: dict[str, dict[str, Any]] = {
    "common log-odds shift": {"model": "shift"},
    "TILT": {"model": "tilt"},
    "PG, two answers": {"model": "policy_gradient"},
    "spread, kappa = 1.4 declared": {"kappa": 1.4},
    "sharpening, rate from earlier windows": {"sharpening": "earlier"},
}
SHARES = ("all-correct share", "dead share")


def curve(run: str) -> Curve:
    """The rows of one run, with the numbers of groups found from the shares."""
    with (DATA / f"curves_gsm8k_{run}.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    steps, mean, correct, wrong = (
        np.array([float(row[name]) for row in rows])
        for name in ("step", "reward_mean", "frac_all_correct", "frac_all_wrong")
    )
    return Curve.of(8, steps, mean, all_correct=correct, all_wrong=wrong)


def plug_in(log: Curve) -> list[float]:
    """Mean absolute errors of m^G and m^G + (1 - m)^G for the reward mean m of each window."""
    errors = []
    for window in log.windows(5, 5):
        right, wrong = window.pass_rate**log.group_size, (1.0 - window.pass_rate) ** log.group_size
        errors.append((abs(right - window.all_correct), abs(right + wrong - window.dead)))
    return np.mean(errors, axis=0).tolist()


def main() -> None:
    """Print one row a model."""
    logs = {run: curve(run) for run in RUNS}
    for run, log in logs.items():
        print(f"{run}: {log.steps.size} rows, {log.groups.min()} to {log.groups.max()} groups a row")
    print("\nmean absolute error, all-correct / dead share [windows inside 95 %], verdict on the shares")
    print(f"{'':<38}{'dapo':<44}{'grpo':<44}mean")
    plain = [plug_in(log) for log in logs.values()]
    print(_line("plug-in of the mean", plain, ["" for _ in RUNS]))
    for name, options in MODELS.items():
        results = [calibrate(log, OBJECTIVE, **options) for log in logs.values()]
        errors = [[result.errors[share] for share in SHARES] for result in results]
        print(_line(name, errors, [_verdict(result) for result in results]), flush=True)


def _verdict(result: Calibration) -> str:
    first, second = (round(100 * result.inside[share]) for share in SHARES)
    return f"[{first} / {second} %] {result.shape_verdict}"


def _line(name: str, errors: list[list[float]], verdicts: list[str]) -> str:
    cells = [f"{_pair(pair)} {verdict}" for pair, verdict in zip(errors, verdicts, strict=True)]
    return f"{name:<38}" + "".join(f"{cell:<44}" for cell in cells) + _pair(np.mean(errors, axis=0).tolist())


def _pair(errors: list[float]) -> str:
    return " / ".join(f"{error:.3f}".removeprefix("0") for error in errors)


if __name__ == "__main__":
    main()
