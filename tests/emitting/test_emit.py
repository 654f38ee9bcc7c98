"""A folder is written as a whole or not at all."""

import hashlib
import subprocess
import sys

import pytest

from reweight.emitting import emit as module
from reweight.emitting.emit import FORMATS, emit
from reweight.errors import InputError
from reweight.updates import SampledPolicyGradient, Tilt


def names(folder):
    return [path.name for path in folder.iterdir()]


def hashes(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("update", [Tilt(0.1), SampledPolicyGradient(5.0)])
def test_a_seed_gives_the_same_bytes(spec, tmp_path, name, update):
    first, second, other = (
        hashes(emit(spec(update=update, seed=seed), name, tmp_path / folder).folder)
        for folder, seed in (("a", 4), ("b", 4), ("c", 5))
    )
    assert first == second
    assert first.keys() == other.keys()
    assert all(first[path] != other[path] for path in first)


def test_a_folder_that_is_not_empty_is_left_as_it_is(spec, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("mine")
    for folder in ("run", "run/mine.txt"):
        with pytest.raises(InputError, match="is not an empty folder; name a new one"):
            emit(spec(), "trl", tmp_path / folder)
    assert hashes(tmp_path).keys() == {"run/mine.txt"}


def test_an_empty_folder_is_filled(spec, tmp_path):
    (tmp_path / "run").mkdir()
    emit(spec(), "verl", tmp_path / "run")
    assert (tmp_path / "run" / "truth.json").is_file()
    assert names(tmp_path) == ["run"]


def test_the_folder_one_is_in_is_not_replaced(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="the folder that you are in"):
        emit(spec(), "trl", ".")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_breaks_off_leaves_nothing(spec, tmp_path, monkeypatch, error):
    written = []

    def fail(path, content):
        if len(written) == 2:
            raise error
        written.append(path)
        return write(path, content)

    write = module.write_atomic
    monkeypatch.setattr(module, "write_atomic", fail)
    expected = InputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected, match="cannot be written to" if isinstance(error, OSError) else None):
        emit(spec(), "trl", tmp_path / "run")
    assert len(written) == 2
    assert names(tmp_path) == []


KILLED = """
import sys, time
from reweight import cli
from reweight.emitting import emit
write, calls = emit.write_atomic, []
def slow(path, content):
    calls.append(path)
    if len(calls) == 3:
        print("third", flush=True)
        time.sleep(60)
    return write(path, content)
emit.write_atomic = slow
sys.argv = ["reweight", "simulate", "--world", "uniform", "--prompts", "3", "--steps", "4", "--emit", "trl"]
sys.argv += ["--out", sys.argv0]
cli.main()
"""


@pytest.mark.slow
def test_a_killed_process_leaves_no_folder_of_that_name(tmp_path):
    code = KILLED.replace("sys.argv0", repr(str(tmp_path / "run")))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "third\n"
        process.kill()
        process.wait()
    assert not (tmp_path / "run").exists()
    assert all(name.startswith(".run-") and name.endswith(".tmp") for name in names(tmp_path))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"format_name": "csv"}, "csv"),
        ({"samples": 6}, "6 samples of a prompt are no whole groups of 4: give a multiple of 4"),
        ({"samples": 4}, "the run draws 2 groups a prompt and 1 are asked for"),
        ({"samples": 0}, "at least 1"),
    ],
)
def test_what_cannot_be_written_is_refused(spec, tmp_path, fields, message):
    with pytest.raises(InputError, match=message):
        emit(spec(), **({"format_name": "trl", "folder": tmp_path / "run"} | fields))
    assert names(tmp_path) == []


def test_the_summary_is_short(spec, tmp_path):
    lines = str(emit(spec(), "verl", tmp_path / "run")).splitlines()
    assert lines[0].endswith("run: verl, 3 files of rollouts and truth.json")
    assert lines[1] == "12 prompts x 8 rollouts a file"
    assert lines[2].startswith("after 0 updates: pass rate 0.5, ")
