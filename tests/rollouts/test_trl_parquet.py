"""TRL's completions files: real ones, and look-alikes with the traps that real ones can have."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reweight.errors import InputError
from reweight.rollouts import Group, Rollouts, read

DATA = Path(__file__).parents[1] / "data" / "trl_1.16"


def trl_advantage(rewards: np.ndarray, size: int) -> np.ndarray:
    """What the trainer writes with its default scale, in float32."""
    groups = rewards.astype(np.float32).reshape(-1, size)
    mean, std = groups.mean(1, keepdims=True), groups.std(1, ddof=1, keepdims=True)
    return ((groups - mean) / (std + np.float32(1e-4))).reshape(-1).astype(float)


def write(folder: Path, prompts: Any, advantage: Any, step: Any = 3, **rewards: Any) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    steps = step if isinstance(step, list) else [step] * len(prompts)
    columns = {"step": steps, "prompt": prompts, "completion": ["x"] * len(prompts), **rewards, "advantage": advantage}
    path = folder / "completions_00003.parquet"
    pq.write_table(pa.table({name: pa.array(list(values)) for name, values in columns.items()}), path)
    return path


def sentence(rollouts: Rollouts, beginning: str) -> str:
    (found,) = [line for line in rollouts.understood if line.startswith(beginning)]
    return found


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("00001", (Group("q", 8, 5), Group("r", 8, 2))),
        ("00050", (Group("r", 8, 5), Group("q", 8, 5))),
        ("00150", (Group("q", 8, 8), Group("r", 8, 6))),
    ],
)
def test_real_files(name: str, groups: tuple[Group, ...]) -> None:
    rollouts = read(DATA / f"completions_{name}.parquet")
    assert rollouts.groups == groups
    assert sentence(rollouts, "group size 8").endswith("with reward = accuracy_reward + format_reward")
    assert sentence(rollouts, "correctness") == (
        "correctness is judged by accuracy_reward, TRL's own verifier, and not by format_reward"
    )
    assert sentence(rollouts, "all rows").endswith(f"step {int(name)}")
    assert rollouts.left_out == ()


def test_the_other_reward_may_be_asked_for() -> None:
    rollouts = read(DATA / "completions_00001.parquet", reward="format_reward")
    assert rollouts.groups == (Group("q", 8, 4), Group("r", 8, 2))


def test_a_prompt_that_was_drawn_twice_is_two_groups_and_one_prompt(tmp_path: Path) -> None:
    rewards = np.array([1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1], float)
    path = write(tmp_path, ["q"] * 16, trl_advantage(rewards, 8), accuracy_reward=rewards)
    rollouts = read(path)
    assert rollouts.groups == (Group("q", 8, 1), Group("q", 8, 5))
    assert rollouts.counts().n.tolist() == [16]
    assert sentence(rollouts, "groups of the same prompt").endswith("are pooled (groups: 2, prompts: 1)")


def test_constant_groups_in_float32_still_tell_the_size(tmp_path: Path) -> None:
    rewards = np.array([0.7] * 4 + [1.0, 0.7, 0.7, 1.0])
    advantage = trl_advantage(rewards, 4)
    advantage[:4] = 5e-4  # the residue that the trainer leaves where a float32 mean of equal rewards is off by one unit
    rollouts = read(write(tmp_path, ["q"] * 8, advantage, reward=rewards))
    assert [group.n for group in rollouts.groups] == [4, 4]


def test_no_size_is_guessed_where_several_fit_or_none(tmp_path: Path) -> None:
    several = write(tmp_path, ["q"] * 8, [0.0] * 8, accuracy_reward=[1.0] * 8)
    assert "equally well" in sentence(read(several, threshold=0.5), "group size not known")
    none = write(tmp_path, ["q"] * 4 + ["r"] * 4, np.arange(8.0), accuracy_reward=[1.0, 0.0] * 4)
    rollouts = read(none)
    assert "no size reproduces" in sentence(rollouts, "group size not known")
    assert rollouts.groups == (Group("q", 4, 2), Group("r", 4, 2))


def test_huge_or_infinite_numbers_tell_no_size_and_disturb_no_counts(tmp_path: Path) -> None:
    infinite = write(tmp_path, ["q"] * 4, [float("inf")] * 4, accuracy_reward=[1.0, 0.0, 0.0, 0.0])
    assert sentence(read(infinite), "group size not known").endswith("gaps or infinite values")
    huge = write(tmp_path, ["q"] * 4, [0.5, -0.5] * 2, accuracy_reward=[1e308, -1e308] * 2)
    rollouts = read(huge)
    assert "no size reproduces" in sentence(rollouts, "group size not known")
    assert rollouts.groups == (Group("q", 4, 2),)


@pytest.mark.parametrize("extra", ["plain", "batch", "none"])
def test_an_extra_column_is_told_from_a_reward_by_the_advantage(tmp_path: Path, extra: str) -> None:
    rng = np.random.default_rng(5)
    rewards = rng.integers(0, 2, 16).astype(float)
    centred = (rewards.reshape(-1, 4) - rewards.reshape(-1, 4).mean(1, keepdims=True)).reshape(-1)
    scale = {"plain": None, "batch": rewards.std(ddof=1) + 1e-4, "none": 1.0}[extra]
    advantage = trl_advantage(rewards, 4) if scale is None else centred / scale
    prompts = [f"p{i // 4}" for i in range(16)]
    path = write(tmp_path, prompts, advantage, accuracy_reward=rewards, temperature=rng.random(16))
    assert sentence(read(path), "group size 4").endswith("with reward = accuracy_reward")


def test_a_missing_reward_is_left_out(tmp_path: Path) -> None:
    rewards = [1.0, 0.0, None, float("nan"), 1.0, 0.0, 1.0, 1.0]
    advantage = [0.5 / (0.5**0.5 + 1e-4), -0.5 / (0.5**0.5 + 1e-4), 0, 0, 0.5, -1.5, 0.5, 0.5]
    advantage[4:] = [0.25 / 0.5001, -0.75 / 0.5001, 0.25 / 0.5001, 0.25 / 0.5001]
    rollouts = read(write(tmp_path, ["q"] * 4 + ["r"] * 4, advantage, accuracy_reward=rewards))
    assert rollouts.groups == (Group("q", 2, 1), Group("r", 4, 3))
    assert rollouts.left_out[0].rows == 2
    assert sentence(rollouts, "group size 4")


def test_prompts_that_are_lists_of_messages(tmp_path: Path) -> None:
    chats = [[{"role": "user", "content": text}] for text in ("hello", "hello", "bye", "bye")]
    rollouts = read(write(tmp_path, chats, [0.5, -0.5] * 2, accuracy_reward=[1.0, 0.0] * 2))
    assert [(group.n, group.c) for group in rollouts.groups] == [(2, 1), (2, 1)]
    assert "hello" in rollouts.groups[0].prompt


def test_steps_are_different_policies(tmp_path: Path) -> None:
    path = write(tmp_path, ["q"] * 4, [0.5, -0.5] * 2, step=[1, 1, 2, 2], accuracy_reward=[1.0, 0.0] * 2)
    with pytest.raises(InputError, match="2 training steps"):
        read(path)
    rollouts = read(path, step=2)
    assert rollouts.groups == (Group("q", 2, 1),)
    assert (rollouts.left_out[0].reason, rollouts.left_out[0].rows) == ("rows of other steps", 2)


def test_refusals(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pytest.raises(InputError, match=r"2 reward columns .* choose one with --reward"):
        read(write(tmp_path, ["q"] * 2, [0.0, 0.0], helpful=[1.0, 0.5], polite=[0.1, 0.2]))
    with pytest.raises(InputError, match="no reward column 'x'"):
        read(DATA / "completions_00001.parquet", reward="x")
    with pytest.raises(InputError, match="there is no reward column;"):
        read(write(tmp_path, ["q"] * 2, [0.0, 0.0]))
    with pytest.raises(InputError, match="row 2: the row has no prompt"):
        read(write(tmp_path, ["q", None], [0.0, 0.0], accuracy_reward=[1.0, 0.0]))
    with pytest.raises(InputError, match="the parquet has no row"):
        read(write(tmp_path, [], [], accuracy_reward=[]))
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"id": [1], "n": [8], "c": [3]}), other)
    with pytest.raises(InputError, match="the parquet has no column step"):
        read(other, "trl-parquet")


WHEN = dt.datetime(2020, 1, 1)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"step": [[1]] * 2}, r"row 1: the training step \[1\] is not a whole number"),
        ({"step": ["\x1b[31m", "b"]}, r"row 1: the training step '\\x1b\[31m' is not a whole number"),
        ({"step": [1.0, float("nan")]}, "row 2: the training step nan is not a whole number"),
        ({"step": [1, None]}, "row 2: the row has no training step"),
        ({"advantage": ["x"] * 2}, "the column advantage holds string and not numbers"),
        ({"advantage": [[1.0]] * 2}, "the column advantage holds list<.*> and not numbers"),
        ({"advantage": [WHEN] * 2}, r"the column advantage holds timestamp\[us\] and not numbers"),
        ({"prompts": [b"a"] * 2}, "row 1: the prompt b'a' is neither a text nor a list of messages"),
        ({"prompts": [WHEN] * 2}, "row 1: the prompt datetime.* is neither a text"),
        ({"prompts": [Decimal("1.0")] * 2}, "row 1: the prompt Decimal.* is neither a text"),
        ({"prompts": [1, 2]}, "row 1: the prompt 1 is neither a text"),
        ({"prompts": [[{"role": "user", "content": b"x"}]] * 2}, "row 1: the prompt .* is neither a text"),
        ({"accuracy_reward": [2**60 + 1, 0]}, "the column accuracy_reward has more digits than a float holds"),
        ({"accuracy_reward": [float("inf"), 0.0]}, "row 1: the reward is infinite"),
    ],
)
def test_columns_of_other_types(tmp_path: Path, columns: dict[str, Any], expected: str) -> None:
    given = {"prompts": ["q"] * 2, "advantage": [0.5, -0.5], "accuracy_reward": [1.0, 0.0], **columns}
    with pytest.raises(InputError, match=expected) as caught:
        read(write(tmp_path, **given))
    assert str(caught.value).isprintable()


def test_numbers_of_any_width_are_rewards(tmp_path: Path) -> None:
    for kind in (np.float16, np.float32, np.uint64, np.int8, bool):
        rewards = np.array([1, 0, 1, 1], kind)
        path = write(tmp_path, ["q"] * 4, [0.5, -0.5, 0.5, 0.5], accuracy_reward=rewards)
        assert read(path).counts().c.tolist() == [3], kind


def test_a_column_that_is_there_twice(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = ["step", "prompt", "completion", "accuracy_reward", "accuracy_reward", "advantage"]
    path = tmp_path / "twice.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1, 2])] * len(names), names=names), path)
    with pytest.raises(InputError, match="a column name is written twice"):
        read(path)


def test_a_column_name_cannot_act_on_a_terminal(tmp_path: Path) -> None:
    path = write(tmp_path, ["q"] * 2, [0.5, -0.5], **{"r\x1b[31m\n<script>": [1.0, 0.0]})
    rollouts = read(path)
    assert all(sentence.isprintable() for sentence in rollouts.understood)
    assert r"r\x1b[31m\n<script>" in sentence(rollouts, "correctness")


@pytest.mark.parametrize("seed", range(8))
def test_a_parquet_with_flipped_bytes_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    content = bytearray((DATA / "completions_00001.parquet").read_bytes())
    rng = np.random.default_rng(seed)
    for place in rng.integers(4, len(content) - 4, 20):
        content[place] ^= int(rng.integers(1, 256))
    path = tmp_path / "x.parquet"
    path.write_bytes(content)
    try:
        samples = read(path).counts().samples
    except InputError:
        samples = 0
    assert samples <= 16
