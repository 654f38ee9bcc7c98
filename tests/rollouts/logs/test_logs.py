"""Logs of trainers: means by step, what they mean, and what is left out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.forecasting.curve import groups_behind
from reweight.rollouts import LeftOut
from reweight.rollouts.logs import TrainerLog, log_formats, read_log
from rollouts.mutations import damaged_bytes, damaged_rows

DATA = Path(__file__).parents[2] / "data"
VARIANTS = int(os.environ.get("FUZZ_VARIANTS", "30"))
Row = dict[str, Any]


def trl(**more: object) -> Row:
    return {"loss": 0.1, "reward": 0.5, "reward_std": 0.5, "frac_reward_zero_std": 0.25, "step": 1} | more


def write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("name", "steps", "first"),
    [("dapo", 300, (0.5661764705882353, 0.11764705882352941, 0.08996539792387544)), ("grpo", 218, None)],
)
def test_public_curves(name: str, steps: int, first: tuple[float, float, float] | None) -> None:
    log = read_log(DATA / f"curves_gsm8k_{name}.csv")
    assert (log.format, log.steps.size) == ("curves-csv", steps)
    if first is not None:
        assert (log.pass_rate[0], log.all_correct[0], log.all_wrong[0]) == first
    assert log.left_out == ()


@pytest.mark.parametrize(("name", "groups"), [("dapo", [289, 182]), ("grpo", [267, 182, 173])])
def test_the_groups_behind_the_first_rows(name: str, groups: list[int]) -> None:
    log = read_log(DATA / f"curves_gsm8k_{name}.csv")
    columns = zip(log.pass_rate, log.all_correct, log.all_wrong, strict=True)
    assert [groups_behind(8, *row) for row, _ in zip(columns, groups, strict=False)] == groups


def test_the_history_that_trl_wrote() -> None:
    log = read_log(DATA / "trl_1.16" / "log_history.json")
    assert (log.format, log.steps.size, log.steps[-1]) == ("trl-history", 150, 150)
    assert log.pass_rate[0] == 0.4375
    assert log.dead is None  # two reward functions: the share without spread is that of their sum
    assert log.left_out == (LeftOut("rows without rewards/accuracy_reward/mean (evaluations, summaries)", 1),)
    assert log.length is not None
    assert log.length[0] == 1.875


def test_one_reward_function_says_which_groups_were_dead(tmp_path: Path) -> None:
    rows = [trl(), trl(step=2, reward=0.75), {"eval_reward": 0.9, "step": 2}, {"train_runtime": 3.0, "step": 2}]
    for document in (rows, {"best_metric": None, "log_history": rows}):
        log = read_log(write(tmp_path / "x.json", document))
        assert log.pass_rate.tolist() == [0.5, 0.75]
        assert log.dead is not None
        assert log.dead.tolist() == [0.25, 0.25]
        assert log.left_out == (LeftOut("rows without reward (evaluations, summaries)", 2),)


def test_a_resumed_run_repeats_steps_and_the_last_counts(tmp_path: Path) -> None:
    rows = [trl(step=step, reward=reward) for step, reward in ((1, 0.1), (2, 0.2), (3, 0.3), (2, 0.25), (3, 0.35))]
    log = read_log(write(tmp_path / "x.json", rows))
    assert log.steps.tolist() == [1, 2, 3]
    assert log.pass_rate.tolist() == [0.1, 0.25, 0.35]
    assert log.left_out == (LeftOut("rows of a step that comes again later (a resumed run)", 2),)


def test_rewards_of_minus_one_and_one_have_to_be_declared(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    data = [{"critic/score/mean": score, "actor/entropy": 0.5, "response_length/mean": None} for score in (-0.5, 0.5)]
    path.write_text("".join(json.dumps({"step": i + 1, "data": row}) + "\n" for i, row in enumerate(data)))
    with pytest.raises(InputError, match=r"goes from -0.5 to 0.5, beyond the rewards 0 and 1"):
        read_log(path)
    log = read_log(path, values=(-1, 1))
    assert (log.format, log.pass_rate.tolist()) == ("verl-metrics", [0.25, 0.75])
    assert log.length is None


def test_several_rewards_have_to_be_chosen(tmp_path: Path) -> None:
    rows = [trl(**{"rewards/a/mean": 0.1, "rewards/b/mean": 0.2})]
    path = write(tmp_path / "x.json", rows)
    with pytest.raises(InputError, match="2 rewards may mean correct"):
        read_log(path)
    assert read_log(path, reward="rewards/b/mean").pass_rate.tolist() == [0.2]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([trl(reward="0.5")], "row 1: reward = '0.5' is not a finite number"),
        ([trl(step=None)], "the step None is not a whole number"),
        ([trl(step=1.5)], "the step 1.5 is not a whole number"),
        ([{"loss": 1.0, "step": 1}], "no row has a number reward"),
        ([trl(), 3], "this is JSON but not an object"),
        ({"log_history": 3}, "is not an array"),
        ({"id": "a", "n": 8, "c": 3}, "no known log has the fields id, n, c"),
    ],
)
def test_refusals(tmp_path: Path, document: object, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        read_log(write(tmp_path / "x.json", document))


def test_a_log_can_be_named_and_printed() -> None:
    assert set(log_formats()) == {"trl-history", "verl-metrics", "curves-csv"}
    with pytest.raises(InputError, match="there is no format 'x'"):
        read_log(DATA / "curves_gsm8k_dapo.csv", "x")
    log = read_log(DATA / "curves_gsm8k_dapo.csv")
    assert "300 steps" in str(log)
    assert json.loads(json.dumps(log.to_dict()))["pass_rate"][0] == log.pass_rate[0]


def history(rows: list[Row]) -> bytes:
    return json.dumps({"log_history": rows}, default=repr).encode()


def verl(rows: list[Row]) -> bytes:
    moved = [{"step": row.pop("step", None), "data": row} for row in rows]
    return "".join(json.dumps(row, default=repr) + "\n" for row in moved).encode()


def curves(rows: list[Row]) -> bytes:
    keys = list(dict.fromkeys(key for row in rows for key in row))
    lines = [",".join(keys), *(",".join("" if row.get(key) is None else str(row[key]) for key in keys) for row in rows)]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


FORMATS: dict[str, tuple[Callable[[list[Row]], bytes], list[Row]]] = {
    "trl": (history, [trl(step=i, kl=0.1) for i in range(8)]),
    "verl": (verl, [{"step": i, "critic/score/mean": i / 9, "actor/entropy": 1.0} for i in range(8)]),
    "curves": (curves, [{"step": i, "reward_mean": i / 9, "frac_all_correct": 0.25, "kl": None} for i in range(8)]),
}


@pytest.mark.parametrize("seed", range(VARIANTS))
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_logs(tmp_path: Path, name: str, seed: int) -> None:
    make, rows = FORMATS[name]
    damaged = damaged_rows(rows, seed)
    path = tmp_path / "log"
    path.write_bytes(make(json.loads(json.dumps(damaged, default=repr))))
    log = _log_or_sentence(path)
    if log is not None:
        assert log.steps.size + sum(item.rows for item in log.left_out) == len(damaged)
    path.write_bytes(damaged_bytes(make([dict(row) for row in rows]), seed))
    _log_or_sentence(path)


def _log_or_sentence(path: Path) -> TrainerLog | None:
    try:
        log = read_log(path)
    except InputError as error:
        sentence = str(error)
    else:
        assert np.isfinite(log.pass_rate).all()
        return log
    assert sentence.isprintable()
    return None
