from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import proofs_check
from claim_files import write_claim
from reweight.cli.verify import command
from reweight.errors import InputError

TEMPLATE = Path(__file__).parents[2] / "docs" / "claim_template.py"
SCHEMA = Path(proofs_check.__file__).parent / "verify.schema.json"
CALL = [sys.executable, "-c", "from reweight.cli import main; main()", "verify"]


def verify(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    words = [str(argument) for argument in arguments]
    return subprocess.run([*CALL, *words], capture_output=True, text=True, cwd=cwd, check=False, timeout=120)


def read(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    jsonschema = pytest.importorskip("jsonschema")
    content = json.loads(result.stdout)
    jsonschema.validate(content, json.loads(SCHEMA.read_text()))
    return {claim["id"]: claim for claim in content["claims"]}


def test_the_template_is_run_as_the_documentation_says() -> None:
    result = verify(TEMPLATE, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    claims = read(result)
    assert list(claims) == ["template", "template-unit-rewards"]
    template = claims["template"]
    assert (template["verdict"], template["declared"], template["domain"]) == ("proved", "proved", "all G, all K")
    assert [road["outcome"] for road in template["roads"]] == ["verified", "proved", "tested"]
    assert template["mutants"] == {"planted": 2, "killed": 2}
    assert claims["template-unit-rewards"]["witness"] == {"G": 2, "K": 1, "variance": "1", "bound": "1/4"}


def test_the_table_shows_verdict_roads_mutants_and_the_counterexample(tmp_path: Path) -> None:
    result = verify(write_claim(tmp_path), TEMPLATE, "--jobs", 2)
    assert result.returncode == 0
    for words in ("PROVED (all G, all K)", "VERIFIED (x in 1..9)", "rational, symbolic, property", "2/2", '"K": 1'):
        assert words in result.stdout


def test_a_mutant_declared_as_the_claim_exits_with_1(tmp_path: Path) -> None:
    result = verify(write_claim(tmp_path, statement="2"), "--no-mutants", "--json")
    assert result.returncode == 1
    assert read(result)["square"]["verdict"] == "refuted"
    assert "declared is verified" in result.stderr


def test_a_mutant_of_a_packaged_claim_declared_as_the_claim_exits_with_1(tmp_path: Path) -> None:
    source = Path(proofs_check.__file__).parent / "claims/group_weights/c11_advantage_bound.py"
    text = source.read_text()
    changed = text.replace('id="C11"', 'id="mine"').replace(
        "statement=Bound(samuelson, all_others)", "statement=Bound(lambda size, _: size - 1, all_others)"
    )
    assert changed.count("Bound(lambda size, _: size - 1, all_others)") == 2
    path = tmp_path / "mine.py"
    path.write_text(changed)
    result = verify(path, "--no-mutants")
    assert result.returncode == 1
    assert "mine: the symbolic road found refuted, declared is proved" in result.stdout


def test_an_undeclared_claim_exits_with_1_only_if_it_is_refuted(tmp_path: Path) -> None:
    road = 'Road("rational", check)'
    true = verify(write_claim(tmp_path, claim_id="mine", roads=road), "--json")
    assert (true.returncode, read(true)["mine"]["declared"]) == (0, None)
    false = verify(write_claim(tmp_path, claim_id="hope", roads=road, statement="2"), "--no-mutants")
    assert false.returncode == 1


def test_a_surviving_mutant_exits_with_1_and_can_be_left_out(tmp_path: Path) -> None:
    path = write_claim(tmp_path, mutants='Mutant("weaker", Fraction(1, 2)), Mutant("twice", 2)')
    result = verify(path)
    assert result.returncode == 1
    assert "the mutant 'weaker' survives" in result.stdout
    assert verify(path, "--no-mutants").returncode == 0


def test_a_required_road_must_run(tmp_path: Path) -> None:
    extra = "from proofs_check import backends\nbackends.BACKENDS['ball'] = ('no_such_module',)"
    roads = 'Road("ball", check, expected="verified"), Road("rational", check, expected="verified")'
    path = write_claim(tmp_path, roads=roads, extra=extra)
    assert verify(path).returncode == 0
    assert verify(path, "--require", "rational").returncode == 0
    for required in ("ball", "all"):
        result = verify(path, "--require", required)
        assert result.returncode == 1
        assert "is required and did not run" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["C999"], "no claim 'C999'"),
        (["--topic", "sports"], "no topic 'sports'"),
        (["nowhere.py"], "no claim file"),
        (["--show", "C999"], "no claim 'C999'"),
        ([str(TEMPLATE), "--require", "magic"], "no road 'magic'"),
        (["C11", "--forecast", "counts.csv"], "--out"),
        (["--jobs", "0"], "--jobs"),
    ],
)
def test_bad_input_exits_with_2(tmp_path: Path, arguments: list[str], words: str) -> None:
    result = verify(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_list_and_show_run_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    command(list_only=True)
    listed = capsys.readouterr().out
    assert "C58" in listed
    assert "support" in listed
    command(show="c57")
    shown = capsys.readouterr().out
    for words in ("Statement:", "Why it matters:", "VACUOUS:", "Road: smt, expected proved", "Mutant:", "c57_exact"):
        assert words in shown
    command(list_only=True, topic="support", as_json=True)
    assert {entry["topic"] for entry in json.loads(capsys.readouterr().out)["claims"]} == {"support"}
    command(show="C11")
    assert "Road: symbolic, expected proved, reads only square" in capsys.readouterr().out
    with pytest.raises(InputError):
        command(show="C999")


@pytest.mark.slow
def test_the_report_holds_claims_maps_figures_and_forecast(tmp_path: Path) -> None:
    result = verify(TEMPLATE, "--out", tmp_path / "report")
    assert result.returncode == 0, result.stderr
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    headings = [section["heading"] for section in report["sections"]]
    assert headings[:3] == ["Verdicts", "The support theorem on three maps", "Figures"]
    assert headings[-1] == "Forecast from base rollouts"
    assert any(heading.startswith("template:") for heading in headings)
    page = (tmp_path / "report" / "index.html").read_text()
    assert "http://" not in page.replace("http://www.w3.org", "")
    for name in ("weight_curve", "discovery_ceiling", "tilt_gain", "simplex_portrait", "forecast"):
        assert (tmp_path / "report" / "figures" / f"{name}.svg").stat().st_size > 0


HOSTILE = """</td></style><script>alert("x")</script><img src=http://evil.example/x onerror=alert(1)>\x1b[31m&amp;"""


@pytest.mark.slow
def test_a_hostile_file_of_rollouts_is_text_in_the_report(tmp_path: Path) -> None:
    path = tmp_path / "<script>alert(2)<|script>.jsonl"
    rows = [{"id": f"{HOSTILE}{number}", "n": 8, "c": number % 9, "note": HOSTILE} for number in range(20)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = verify(TEMPLATE, "--no-mutants", "--out", tmp_path / "report", "--forecast", path)
    assert result.returncode == 0, result.stderr
    written = [each for each in (tmp_path / "report").rglob("*") if each.is_file()]
    assert {"index.html", "report.json", "forecast.svg"} <= {each.name for each in written}
    for each in written:
        content = each.read_bytes().lower()
        if each.suffix in (".html", ".svg"):
            assert b"<script" not in content
            assert b"evil.example" not in content or b"&lt;img src=http://evil.example" in content
        if each.suffix != ".png":
            assert b"\x1b" not in content
    page = (tmp_path / "report" / "index.html").read_text()
    assert "20 prompts" in page
    assert "&lt;script&gt;alert(2)" in page


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"not json\n",
        b'{"id": "<script>\\u001b[31m", "n": 8, "c": 9}\n',
        b'{"id": "a", "n": 8, "c": 1}\n{"id": "a", "n": 8, "c": 1}\n',
        b"\xff\xfe\x00\x1b[2J",
    ],
)
def test_rollouts_that_cannot_be_used_are_refused_before_any_claim_is_run(
    tmp_path: Path, content: bytes | None
) -> None:
    rollouts, touched = tmp_path / "base.jsonl", tmp_path / "touched"
    if content is not None:
        rollouts.write_bytes(content)
    extra = f"def touch(factor):\n    open({str(touched)!r}, 'w').close()\n    return check(factor)"
    claim = write_claim(tmp_path, roads='Road("rational", touch, expected="verified")', extra=extra)
    result = verify(claim, "--out", tmp_path / "report", "--forecast", rollouts)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "\x1b" not in result.stderr
    assert not touched.exists()
    assert not (tmp_path / "report").exists()


def test_a_road_that_upholds_a_false_mutant_exits_with_1(tmp_path: Path) -> None:
    extra = "def believe(factor):\n    return verified('x in 1..9', 'believed')"
    roads = 'Road("rational", check, expected="verified"), Road("smt", believe, expected="verified")'
    result = verify(write_claim(tmp_path, roads=roads, extra=extra))
    assert result.returncode == 1
    assert "the smt road upholds the mutant 'twice', which is refuted by rational" in result.stdout


@pytest.mark.skipif(os.name != "posix", reason="pipes of this kind are POSIX")
def test_a_pipe_that_nobody_reads_is_not_a_verdict(tmp_path: Path) -> None:
    for arguments in (["--list"], [str(write_claim(tmp_path)), "--json"]):
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = subprocess.run([*CALL, *arguments], stdout=write_end, stderr=subprocess.PIPE, text=True, check=False)
        os.close(write_end)
        assert (done.returncode, "Traceback" in done.stderr) == (141, False)


@pytest.mark.kill
@pytest.mark.skipif(os.name != "posix", reason="signals of this kind are POSIX")
def test_ctrl_c_ends_all_workers_and_leaves_no_file(tmp_path: Path) -> None:
    extra = "def sleep(factor):\n    time.sleep(600)"
    path = write_claim(tmp_path, roads='Road("rational", sleep, expected="verified", limit=600)', extra=extra)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    # A shell starts background jobs with SIGINT ignored, and children inherit that.
    call = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from reweight.cli import main; main()"
    )
    words = [sys.executable, "-c", call, "verify", str(path), "--out", str(tmp_path / "report")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    try:
        deadline = time.monotonic() + 30
        while not workers(path) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert workers(path)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 3
    assert b"Traceback" not in errors
    assert workers(path) == []
    assert list((tmp_path / "report").iterdir()) == []  # made at the start, to see whether it can be written to
    assert list(scratch.iterdir()) == []


def workers(path: Path) -> list[str]:
    """Processes that check this claim file."""
    found = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if "proofs_check.worker" in line and str(path) in line]
