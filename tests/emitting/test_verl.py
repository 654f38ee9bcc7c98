"""verl's files: fields and names as the trainer's own, rollouts exactly those drawn."""

import json
from pathlib import Path

import numpy as np
import pytest

from reweight import rollouts
from reweight.emitting.emit import emit
from reweight.errors import InputError
from reweight.updates import SampledPolicyGradient, Tilt

DATA = Path(__file__).resolve().parent.parent / "data" / "verl_0.9.1" / "10.jsonl"


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("scores", [None, (0.0, 1.0)])
@pytest.mark.parametrize("update", [Tilt(0.2), SampledPolicyGradient(5.0, groups=2)])
def test_each_step_is_read_back_as_it_was_drawn(spec, tmp_path, update, scores):
    run = emit(spec(update=update), "verl", tmp_path / "run", samples=8, scores=scores).run
    for batch in run.batches:
        for reward in (None, "score"):
            found = rollouts.read(tmp_path / "run" / "rollouts", step=batch.step, reward=reward)
            assert found.left_out == ()
            counts = found.counts()
            assert counts.prompts == tuple(f"user\nprompt {i}\nassistant\n" for i in range(12))
            assert counts.n.tolist() == [8] * 12
            assert counts.c.tolist() == batch.accepted.sum(axis=(1, 2)).tolist()
    answers = rollouts.read(tmp_path / "run" / "rollouts", step=1).answers
    assert answers is not None
    drawn = run.batches[0].answers
    names = run.problems[0].answers
    found = {
        (int(prompt), text): int(count)
        for prompt, text, count in zip(answers.prompt, answers.text, answers.count, strict=True)
    }
    expected = {(i, names[k]): int((drawn[i] == k).sum()) for i in range(12) for k in range(3) if (drawn[i] == k).any()}
    assert found == expected


def test_fields_and_their_kinds_are_those_of_the_trainer(spec, tmp_path):
    emit(spec(), "verl", tmp_path / "run")
    assert sorted(path.name for path in (tmp_path / "run" / "rollouts").iterdir()) == ["1.jsonl", "2.jsonl", "3.jsonl"]
    real, ours = lines(DATA)[0], lines(tmp_path / "run" / "rollouts" / "2.jsonl")
    assert list(ours[0]) == list(real)
    assert {name: type(value) for name, value in ours[0].items() if name != "pred"} == {
        name: type(value) for name, value in real.items() if name != "pred"
    }
    assert {row["score"] for row in ours} == {-1.0, 1.0}
    assert all(row["acc"] is (row["score"] == 1.0) for row in ours)
    assert all((row["pred"] == row["gts"]) is row["acc"] for row in ours)


def test_metrics_follow_from_the_dump(spec, tmp_path):
    run = emit(spec(), "verl", tmp_path / "run").run
    for row, batch in zip(lines(tmp_path / "run" / "metrics.jsonl"), run.batches, strict=True):
        scores = np.array([line["score"] for line in lines(tmp_path / "run" / "rollouts" / f"{batch.step}.jsonl")])
        tokens = np.repeat(batch.advantages.ravel(), batch.lengths.ravel().astype(int))
        expected = {
            "critic/score/mean": scores.mean(),
            "critic/rewards/max": scores.max(),
            "critic/advantages/mean": tokens.mean(),
            "critic/advantages/min": tokens.min(),
            "response_length/mean": batch.lengths.mean(),
            "training/global_step": batch.step,
        }
        assert row["step"] == batch.step
        assert {name: row["data"][name] for name in expected} == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "scores", "message"), [("verl", (0.0, 2.0), "neither"), ("trl", (0.0, 1.0), "leave")])
def test_other_scores_are_refused(spec, tmp_path, name, scores, message):
    with pytest.raises(InputError, match=message):
        emit(spec(), name, tmp_path / "run", scores=scores)
    assert list(tmp_path.iterdir()) == []
