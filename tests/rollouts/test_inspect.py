"""Logs of inspect_ai: .eval and .json, epochs, failed samples, several scorers, both compressions."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from reweight.errors import InputError
from reweight.rollouts import LeftOut, read


def sample(name: object = 1, epoch: int = 1, value: object = "C", **more: object) -> dict:
    scores = {"match": {"value": value, "answer": "42", "explanation": ""}}
    return {"id": name, "epoch": epoch, "input": "?", "target": "42", "scores": scores} | more


SAMPLES = [sample(name, epoch, "C" if (name, epoch) != (2, 2) else "I") for epoch in (1, 2) for name in (1, 2)]


def log(path: Path, samples: list[dict]) -> Path:
    document = {"version": 2, "status": "success", "eval": {"dataset": {"samples": 99}}, "plan": {}, "samples": samples}
    path.write_text(json.dumps(document))
    return path


def archive(path: Path, samples: list[dict], method: int = zipfile.ZIP_DEFLATED) -> Path:
    import zipfile_zstd  # noqa: F401 - adds the compression of newer logs

    with zipfile.ZipFile(path, "w", method) as stream:
        stream.writestr("header.json", "{}")
        for each in samples:
            stream.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
        stream.writestr("summaries.json", json.dumps(samples))
        stream.writestr("_journal/start.json", "{}")
    return path


def table(path: Path, **options: object) -> dict[str, tuple[int, int]]:
    counts = read(path, **options).counts()
    return dict(zip(counts.prompts, zip(counts.n.tolist(), counts.c.tolist(), strict=True), strict=True))


@pytest.mark.parametrize("kind", ["json", "deflate", "zstandard"])
def test_epochs_are_samples_of_one_prompt(tmp_path: Path, kind: str) -> None:
    methods = {"deflate": zipfile.ZIP_DEFLATED, "zstandard": 93}
    path = tmp_path / "log"
    log(path, SAMPLES) if kind == "json" else archive(path, SAMPLES, methods[kind])
    rollouts = read(path)
    assert table(path) == {"1": (2, 2), "2": (2, 1)}
    assert rollouts.format == ("inspect-json" if kind == "json" else "inspect-eval")
    assert "correctness is judged by the scorer match" in rollouts.understood
    assert [pairs.tolist() for pairs in rollouts.answers.equal_pairs(2)] == [[1, 0], [0, 0]]


def test_the_last_member_of_a_name_is_the_valid_one(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as stream:
        stream.writestr("samples/1_epoch_1.json", json.dumps(sample(value="I")))
        with pytest.warns(UserWarning, match="Duplicate name"):
            stream.writestr("samples/1_epoch_1.json", json.dumps(sample(value="C")))
    assert table(path) == {"1": (1, 1)}


def test_failed_and_unscored_samples_are_counted(tmp_path: Path) -> None:
    failed = sample(1, 2, error={"message": "timeout"}, scores=None)
    samples = [sample(), failed, sample(1, 3, scores={}), sample(1, 4, None), sample(1, 5, float("nan"))]
    rollouts = read(log(tmp_path / "x.json", samples))
    assert table(tmp_path / "x.json") == {"1": (1, 1)}
    assert rollouts.left_out == (
        LeftOut("samples that failed (error)", 1),
        LeftOut("samples without a score", 1),
        LeftOut("samples without a reward (null or NaN)", 2),
    )


@pytest.mark.parametrize(("values", "threshold"), [(("C", "N"), None), ((True, False), None), ((1.0, 0.2), 0.5)])
def test_values_of_scores(tmp_path: Path, values: tuple[object, object], threshold: float | None) -> None:
    path = log(tmp_path / "x.json", [sample(1, i + 1, value) for i, value in enumerate(values)])
    assert table(path, threshold=threshold) == {"1": (2, 1)}


def test_partly_correct_needs_a_threshold(tmp_path: Path) -> None:
    path = log(tmp_path / "x.json", [sample(1, 1, "P"), sample(1, 2, "C"), sample(1, 3, "I")])
    with pytest.raises(InputError, match=r"1 samples are partly correct \(P\); say with --threshold"):
        read(path)
    assert table(path, threshold=0.5) == {"1": (3, 2)}


def test_several_scorers_have_to_be_chosen(tmp_path: Path) -> None:
    both = {"match": {"value": "C"}, "judge": {"value": "I"}}
    path = log(tmp_path / "x.json", [sample(scores=both), sample(2, scores=both)])
    with pytest.raises(InputError, match=r"2 scorers \(match, judge\); choose one with --reward"):
        read(path)
    with pytest.raises(InputError, match="no scorer 'x'; choose one of match, judge"):
        read(path, reward="x")
    assert {name: c for name, (_, c) in table(path, reward="match", threshold=0.5).items()} == {"1": 1, "2": 1}
    assert {name: c for name, (_, c) in table(path, reward="judge", threshold=0.5).items()} == {"1": 0, "2": 0}


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (sample(1, 1), "sample '1' of epoch 1 is there twice"),
        (sample(3, True), "the epoch True is not a whole number"),
        (sample(3, 1, "X"), "the value 'X' of match is none of C, I, P, N"),
        (sample(3, 1, {"a": 1}), "is no single number"),
        (sample(3, scores=[1]), "are not by scorer"),
        (sample(3, scores={"match": 1}), "has no value"),
        (sample(None), "the row has no sample id"),
    ],
)
def test_refusals(tmp_path: Path, bad: dict, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        read(log(tmp_path / "x.json", [sample(), bad]))


@pytest.mark.parametrize("content", [b"PK\x03\x04 no zip", None])
def test_zips_that_are_none(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "x.eval"
    if content is None:
        archive(path, SAMPLES)
        content = path.read_bytes()[:300]
    path.write_bytes(content)
    with pytest.raises(InputError, match="truncated or damaged"):
        read(path)


def test_a_zip_of_something_else(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as other:
        other.writestr("a.txt", "x")
    (tmp_path / "x.zip").write_bytes(stream.getvalue())
    with pytest.raises(InputError, match="the zip has no samples/"):
        read(tmp_path / "x.zip")


def test_a_sample_that_grows_without_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from reweight.rollouts import inspect_eval

    monkeypatch.setattr(inspect_eval, "LONGEST_LINE", 1000)
    path = archive(tmp_path / "x.eval", [sample(input="0" * 10**6)])
    with pytest.raises(InputError, match="the sample has more than"):
        read(path)
