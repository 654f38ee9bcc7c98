"""TRL's files: columns, names and definitions as the trainer's own, rollouts exactly those drawn."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from reweight import rollouts
from reweight.emitting import trl
from reweight.emitting.batches import follow
from reweight.emitting.emit import emit
from reweight.errors import InputError
from reweight.objectives import Advantage, KLPenalty, Objective, preset
from reweight.updates import SampledPolicyGradient, Tilt

DATA = Path(__file__).resolve().parent.parent / "data" / "trl_1.16"
# accuracy_reward's mean and std as TRL 1.16.0 logged them for the files in DATA.
LOGGED = {1: (0.4375, 0.5123475790023804), 50: (0.625, 0.5), 150: (0.875, 0.3415650427341461)}
FLOAT32 = 3e-7
"""Two float32 sums of sixteen numbers differ by less."""


def columns(path):
    return [(field.name, field.type) for field in pq.read_schema(path)]


def groups(run, batch):
    return [(name, 4, int(c)) for name, own in zip(run.names, batch.accepted, strict=True) for c in own.sum(axis=1)]


@pytest.mark.parametrize("update", [Tilt(0.2), SampledPolicyGradient(5.0, groups=2)])
def test_each_step_is_read_back_as_it_was_drawn(spec, tmp_path, update):
    emission = emit(spec(update=update), "trl", tmp_path / "run", samples=8)
    run = emission.run
    assert len(run.batches) == 3
    for batch in run.batches:
        found = rollouts.read(tmp_path / "run" / "completions", step=batch.step)
        assert [(group.prompt, group.n, group.c) for group in found.groups] == groups(run, batch)
        assert found.left_out == ()
        assert any(text.startswith("group size 4:") for text in found.understood)
    pooled = rollouts.read(tmp_path / "run" / "completions", all_steps=True)
    assert pooled.counts().n.tolist() == [24] * 12
    total = sum(batch.accepted.sum(axis=(1, 2)) for batch in run.batches)
    assert pooled.counts().c.tolist() == total.tolist()


def test_columns_and_names_are_those_of_the_trainer(spec, tmp_path):
    emit(spec(), "trl", tmp_path / "run")
    ours = sorted((tmp_path / "run" / "completions").iterdir())
    assert [path.name for path in ours] == [f"completions_0000{i}.parquet" for i in (1, 2, 3)]
    real = [column for column in columns(DATA / "completions_00001.parquet") if column[0] != "format_reward"]
    assert columns(ours[0]) == real


def test_completions_are_the_drawn_answers_and_advantages_the_trainers(spec, tmp_path):
    run = emit(spec(), "trl", tmp_path / "run").run
    batch = run.batches[1]
    rows = pq.read_table(tmp_path / "run" / "completions" / "completions_00002.parquet").to_pydict()
    assert rows["step"] == [2] * 96
    assert rows["prompt"] == [f"prompt {i}" for i in range(12) for _ in range(8)]
    assert rows["completion"] == [run.problems[0].answers[i] for i in batch.answers.ravel()]
    rewards = np.array(rows["accuracy_reward"]).reshape(-1, 4)
    expected = (rewards - rewards.mean(1, keepdims=True)) / (rewards.std(1, ddof=1, keepdims=True) + 1e-4)
    assert np.array(rows["advantage"]) == pytest.approx(expected.ravel(), abs=1e-6)
    assert rows["advantage"] == [float(np.float32(value)) for value in rows["advantage"]]


def test_the_log_follows_from_the_completions(spec, tmp_path):
    run = emit(spec(), "trl", tmp_path / "run").run
    log = json.loads((tmp_path / "run" / "log_history.json").read_text())
    assert [row["step"] for row in log] == [1, 2, 3, 3]
    assert "reward" not in log[-1]
    lengths = {"six": 3, "seven": 5, run.problems[0].answers[2]: 2}
    for row in log[:-1]:
        path = tmp_path / "run" / "completions" / f"completions_{row['step']:05d}.parquet"
        file = pq.read_table(path).to_pydict()
        rewards = np.array(file["accuracy_reward"])
        tokens = np.array([lengths[text] for text in file["completion"]])
        dead = [len(set(group)) == 1 for group in rewards.reshape(-1, 4).tolist()]
        expected = {
            "reward": rewards.mean(),
            "reward_std": np.sqrt(((rewards - rewards.mean()) ** 2).sum() / (len(rewards) - 1)),
            "frac_reward_zero_std": np.mean(dead),
            "completions/mean_length": tokens.mean(),
            "completions/max_length": tokens.max(),
            "loss": -(np.array(file["advantage"]) * tokens).sum() / tokens.sum(),
        }
        assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-6, abs=1e-7)
        assert row["rewards/accuracy_reward/mean"] == row["reward"]


@pytest.mark.parametrize("step", LOGGED)
def test_definitions_are_those_that_the_trainer_logged(spec, step):
    file = pq.read_table(DATA / f"completions_{step:05d}.parquet").to_pydict()
    accepted = np.array(file["accuracy_reward"]).reshape(2, 1, 8) == 1.0
    batch = replace(follow(spec()).batches[0], accepted=accepted)
    row = trl.log_row(follow(spec()), batch)
    found = row["rewards/accuracy_reward/mean"], row["rewards/accuracy_reward/std"]
    assert found == pytest.approx(LOGGED[step], rel=FLOAT32)


def test_gradient_norm_is_that_of_the_drawn_groups(spec):
    run = follow(spec())
    row = trl.log_row(run, run.batches[0])
    total = 0.0
    first = run.batches[0]
    for i, batch in enumerate(zip(first.answers, first.advantages, first.lengths, strict=True)):
        pi = run.policies[0].log_probs(run.problems[i]).probabilities
        gradient = np.zeros(3)
        for answers, worth, tokens in zip(*batch, strict=True):
            for answer, value in zip(answers, worth, strict=True):
                # the tokens' gradients, each of weight 1 / tokens of the group, add up to the answer's
                gradient += value / tokens.sum() / 2 / 12 * (np.eye(3)[answer] - pi)
        total += gradient @ gradient
    assert row["grad_norm"] == pytest.approx(np.sqrt(total), rel=1e-6)
    exact = follow(spec(update=Tilt(0.1)))
    assert "grad_norm" not in trl.log_row(exact, exact.batches[0])


def test_kl_is_the_estimators_mean(spec):
    objective = preset("trl", group_size=4, kl=KLPenalty("k3", 0.1))
    run = follow(spec(objective=objective))
    rows = [trl.log_row(run, batch) for batch in run.batches]
    assert rows[0]["kl"] == 0.0
    batch = run.batches[2]
    values = []
    for problem, answers in zip(run.problems, batch.answers, strict=True):
        now, start = (policy.log_probs(problem).total for policy in (batch.policy, run.spec.policy))
        values += [np.exp(start[i] - now[i]) - (start[i] - now[i]) - 1 for i in answers.ravel()]
    assert rows[2]["kl"] == pytest.approx(np.sum(values) / batch.lengths.sum(), rel=1e-5)


def test_a_group_of_one_is_refused(spec, tmp_path):
    with pytest.raises(InputError, match="at least two completions"):
        emit(spec(objective=Objective(Advantage(baseline="none", scale="none"), 1)), "trl", tmp_path / "run")
    assert list(tmp_path.iterdir()) == []
