"""Whole forecasts: the real files, what a forecast must not do, and what must not change it."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reweight import rollouts
from reweight.errors import InputError
from reweight.forecasting import Forecast
from reweight.forecasting.files import to_json, write_files
from reweight.forecasting.forecast import forecast
from reweight.forecasting.questions import Questions
from reweight.objectives.advantage import Advantage
from reweight.objectives.objective import Objective

DATA = Path(__file__).parents[1] / "data"
TRL = Objective(Advantage(ddof=1, eps=1e-4), 8)
SCHEMA = json.loads((files("reweight.forecasting") / "schema.json").read_text())
REAL = {
    "gsm8k": (rollouts.example(), 0.62, (0.548935, 0.687289), 6),
    "countdown medium": (DATA / "countdown_base_k8_medium.jsonl", 0.12, (0.078622, 0.173263), 23),
    "countdown sparse": (DATA / "countdown_base_k8_sparse.jsonl", 0.82, (0.759638, 0.870294), 164),
}


def of(n: list[int], c: list[int], *sizes: int, **options: object) -> Forecast:
    return forecast(rollouts.Counts.of(n, c), TRL, group_sizes=sizes or (2, 4, 8), discovery_groups=[4], **options)


def check_json(result: Forecast) -> dict:
    import jsonschema

    document = json.loads(to_json(result), parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    jsonschema.validate(document, SCHEMA)
    return document


@pytest.mark.parametrize(("path", "dead", "interval", "never"), REAL.values(), ids=REAL)
def test_real_counts(path: Path, dead: float, interval: tuple[float, float], never: int) -> None:
    result = forecast(rollouts.read(path), TRL)
    eight = result.dead_share[8]
    assert eight.estimate == pytest.approx(dead, abs=1e-12)
    assert (eight.low, eight.high) == pytest.approx(interval, abs=5e-7)
    assert (result.prompts, result.samples, result.never_solved) == (200, 1600, never)
    document = check_json(result)
    assert document["dead_share"]["16"]["estimate"] is None
    assert document["dead_share"]["16"]["identified"] is False
    assert document["never_solved"] == {"prompts": never, "share": never / 200}
    for size in (16, 32, 64):
        assert 0 <= result.dead_share[size].low < result.dead_share[size].high <= 1


def test_the_pass_rate_of_the_shipped_file() -> None:
    result = forecast(rollouts.read(rollouts.example()), TRL, group_sizes=[8], discovery_groups=[1])
    assert result.pass_rate.estimate == pytest.approx(0.874375, abs=1e-12)
    assert (result.pass_rate.low, result.pass_rate.high) == pytest.approx((0.836744, 0.903310), abs=5e-7)
    assert result.pass_at_k[1] == result.pass_rate


@pytest.mark.parametrize("name", ["00001", "00050", "00150"])
def test_real_completions(name: str) -> None:
    result = forecast(rollouts.read(DATA / "trl_1.16" / f"completions_{name}.parquet"), TRL)
    assert (result.prompts, result.samples) == (2, 16)
    assert result.dead_share[8].estimate == pytest.approx(0.5 if name == "00150" else 0.0, abs=1e-12)
    check_json(result)


def test_neither_the_mean_pass_rate_nor_c_over_n_is_plugged_in() -> None:
    """CASE-06: 90 % of prompts at .002, 10 % at .5; the plug-in of the mean predicts three times the usable groups."""
    from scipy.stats import binom

    prompts, n = 1_000_000, 8
    law = 0.9 * binom.pmf(range(n + 1), n, 0.002) + 0.1 * binom.pmf(range(n + 1), n, 0.5)
    c = np.repeat(np.arange(n + 1), np.round(prompts * law).astype(int))
    result = of([n] * c.size, c.tolist(), 4, 8, 16)
    usable = {size: 0.9 * (1 - 0.998**size - 0.002**size) + 0.1 * (1 - 2 * 0.5**size) for size in (4, 8, 16)}
    assert usable[8] == pytest.approx(0.113518352193611, abs=1e-15)
    assert 1 - result.dead_share[8].estimate == pytest.approx(usable[8], abs=2e-6)
    assert 1 - result.dead_share[4].estimate == pytest.approx(usable[4], abs=2e-6)
    mean = c.mean() / n
    assert 1 - mean**8 - (1 - mean) ** 8 == pytest.approx(0.346569190299578, abs=1e-4)
    plugged_in = 1 - np.mean((c / n) ** 4 + (1 - c / n) ** 4)
    assert abs(plugged_in - usable[4]) > 0.002
    beyond = result.dead_share[16]
    assert beyond.estimate is None
    assert beyond.low <= 1 - usable[16] <= beyond.high
    assert beyond.high - beyond.low > 0.001


def test_no_prior_decides_about_prompts_that_were_never_solved() -> None:
    """Two worlds that look alike in eight samples: either nearly all, or hardly any, of the six are solved later."""
    result = of([8] * 200, [0] * 6 + [8] * 194, 8)
    chance = result.discovery[4]
    assert chance.estimate is None
    assert chance.low < 0.01
    assert chance.high > 0.9


def test_prompts_with_fewer_samples_enter_as_bounds_and_are_not_dropped() -> None:
    """The hard half was sampled less: an estimate from the easy half alone would be wrong for the file."""
    n, c = [8] * 100 + [4] * 100, [8] * 100 + [0] * 6 + [1] * 25 + [2] * 38 + [3] * 25 + [4] * 6
    result = of(n, c, 2, 4, 8)
    assert result.dead_share[4].identified
    assert result.dead_share[4].estimate == pytest.approx(0.56)
    eight = result.dead_share[8]
    assert not eight.identified
    assert eight.low <= 0.5 * 1 + 0.5 * 2 * 0.5**8 <= eight.high < 1
    assert any("none is dropped" in note for note in result.notes)
    check_json(result)


def test_one_short_prompt_costs_its_share_and_no_more() -> None:
    whole = of([8] * 200, [3] * 100 + [8] * 100, 8).dead_share[8]
    short = of([8] * 199 + [7], [3] * 100 + [8] * 99 + [7], 8).dead_share[8]
    assert short.estimate is None
    assert whole.low - 0.05 < short.low < whole.estimate < short.high < whole.high + 0.05


def test_many_different_numbers_of_samples() -> None:
    rng = np.random.default_rng(0)
    n = rng.integers(1, 20, 300)
    result = of(n.tolist(), rng.binomial(n, 0.4).tolist(), 2, 8, 16)
    for table in (result.dead_share, result.signal, result.pass_at_k):
        for value in table.values():
            assert value.low <= value.high
    assert result.pass_rate.identified
    check_json(result)


@settings(max_examples=15)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=30), st.randoms())
def test_order_changes_nothing_and_swapping_right_and_wrong_keeps_what_is_symmetric(c: list[int], random) -> None:
    n = [8] * len(c)
    straight, mirrored = of(n, c, 2, 8), of(n, [8 - value for value in c], 2, 8)
    shuffled = list(c)
    random.shuffle(shuffled)
    assert of(n, shuffled, 2, 8).to_dict() == straight.to_dict()
    for table, other in ((straight.dead_share, mirrored.dead_share), (straight.signal, mirrored.signal)):
        for size in table:
            assert (table[size].low, table[size].high) == pytest.approx((other[size].low, other[size].high), abs=1e-6)
            assert table[size].estimate == pytest.approx(other[size].estimate, abs=1e-12)
    assert straight.pass_rate.estimate == pytest.approx(1 - mirrored.pass_rate.estimate, abs=1e-12)
    assert (straight.never_solved, straight.always_solved) == (mirrored.always_solved, mirrored.never_solved)


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 12)), min_size=1, max_size=12))
def test_every_forecast_is_valid_json_with_ordered_limits(pairs: list[tuple[int, int]]) -> None:
    n, c = [n for n, _ in pairs], [min(n, c) for n, c in pairs]
    document = check_json(of(n, c, 2, 5, 16))
    for table in (document["dead_share"], document["pass_at_k"], document["discovery"]["groups"]):
        for value in table.values():
            assert 0 <= value["low"] <= value["high"] <= 1
            assert value["estimate"] is None or value["low"] - 1e-9 <= value["estimate"] <= value["high"] + 1e-9


def test_samples_that_are_not_independent_are_noticed() -> None:
    result = of([8] * 500, [4] * 500, 16)
    assert any("hardly independent draws" in note for note in result.notes)
    assert not any(
        "hardly" in note for note in of([8] * 500, [0, 4, 8, 4] * 125, 16).notes if "independent" not in note
    )


def test_arguments_that_make_no_sense() -> None:
    counts = rollouts.Counts.of([8], [3])
    for options, message in (
        ({"group_sizes": [1]}, "1 is not a group size"),
        ({"group_sizes": [2000]}, "2000 is not a group size"),
        ({"group_sizes": []}, "no group size is given"),
        ({"group_sizes": [2.5]}, "2.5 is not a group size"),
        ({"discovery_groups": [0]}, "0 is not a number of groups"),
        ({"level": 1.0}, "not between 0 and 1"),
        ({"level": float("nan")}, "not between 0 and 1"),
    ):
        with pytest.raises(InputError, match=message):
            forecast(counts, TRL, **options)
    with pytest.raises(InputError, match="counts: prompt '1' has 200000 samples and forecasts go up to 100000"):
        forecast(rollouts.Counts.of([8, 200_000], [3, 3]), TRL)


def test_text_says_what_is_a_bound() -> None:
    text = str(of([8] * 200, [8] * 118 + [5] * 76 + [0] * 6, 8, 16))
    rows = {line.split()[0]: line for line in text.splitlines() if line.strip()[:2] in ("8 ", "16")}
    assert "0.6200 [0.5489, 0.6873]" in text
    assert "(bounds)" in rows["16"] or "(bounds, fit" in rows["16"]
    assert "never solved: 6 of 200 (0.0300); always solved: 118 of 200 (0.5900)" in text
    assert text.isascii()


def active_kinds(page: str) -> set[str]:
    """What of a Markdown page could act: links, images and HTML."""
    from markdown_it import MarkdownIt

    tokens = [inner for token in MarkdownIt("commonmark").parse(page) for inner in [token, *(token.children or ())]]
    return {token.type for token in tokens} & {"link_open", "image", "html_block", "html_inline"}


def test_what_could_act_is_seen() -> None:
    assert active_kinds("[x](https://a.b) <b>") == {"link_open", "html_inline"}


def test_no_number_is_rounded_to_a_0_or_a_1_that_it_is_not() -> None:
    text = str(of([8] * 100_000, [8] * 99_999 + [7], 2, 8, level=0.999999999999))
    assert "bounds at 0.999999999999" in text
    assert "always solved: 99999 of 100000 (1 - 1e-05)" in text
    assert "never solved: 0 of 100000 (0.0000)" in text
    assert "pass rate: 1 - 1.2e-06 [" in text
    assert re.search(r"^ *8 +1 - 1e-05 \[0\.99", text, re.MULTILINE)


def test_a_hundred_thousand_samples_of_one_prompt_take_little_memory() -> None:
    import tracemalloc

    tracemalloc.start()
    try:
        result = of([100_000, 8], [0, 2], 2, 8, 64)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200e6
    assert result.dead_share[8].identified
    assert not result.dead_share[64].identified


def test_a_number_of_samples_of_its_own_for_each_prompt() -> None:
    """The estimate is the mean of the prompts' own, by exact fractions."""
    from fractions import Fraction
    from math import comb

    n = list(range(4, 400))
    c = [(7 * size) % (size + 1) for size in n]
    exact = [Fraction(comb(right, 4) + comb(size - right, 4), comb(size, 4)) for size, right in zip(n, c, strict=True)]
    share = of(n, c, 4).dead_share[4]
    assert share.estimate == pytest.approx(float(sum(exact) / len(exact)), abs=1e-13)
    assert share.low < share.estimate < share.high


def test_files_are_written_and_text_from_a_file_is_made_harmless(tmp_path: Path) -> None:
    source = tmp_path / "<img src=x>|[x](javascript:1)\x1b[31m\n# forged.jsonl"
    source.write_text('{"id": "a", "n": 2, "c": 1, "[y](javascript:2)\\u001b\\n<b>": 1}\n')
    questions = Questions(taus=[0, 0.5])
    result = forecast(rollouts.read(source), TRL, group_sizes=[2, 4], discovery_groups=[1], questions=questions)
    written = write_files(result, tmp_path / "out", {"command": "reweight forecast"})
    assert [path.name for path in written] == ["index.html", "report.md", "report.json", "forecast.json"]
    html, markdown, _, document = written
    assert json.loads(document.read_text()) == result.to_dict()
    page = markdown.read_text()
    assert page.replace("\n", "").isprintable()
    assert active_kinds(page) == {"image"}
    assert page.count("![") == page.count("](figures/") == 2
    assert r"\<img src=x\>\|\[x\](javascript:1)" in page
    assert str(result).replace("\n", "").isprintable()
    assert not any(text.startswith("# forged") for text in [*str(result).splitlines(), *page.splitlines()])
    assert "<img src=x>" not in html.read_text()
    for name in ("forecast", "path"):
        assert (tmp_path / "out" / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (tmp_path / "out" / "figures" / f"{name}.svg").read_bytes()
    again = write_files(result, tmp_path / "again", {"command": "reweight forecast"})
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in written]


def test_parts_are_in_the_text_and_in_the_json() -> None:
    result = of([8] * 40, [0, 3, 8, 8] * 10, questions=Questions(taus=[0, 1]))
    assert list(result.parts) == ["spread", "path", "policy_gradient", "control"]
    document = result.to_dict()
    assert document["control"]["prompts"] == [20, 20]
    assert [row["tau"] for row in document["path"]["path"]] == [0, 1]
    text = str(result)
    for part in result.parts.values():
        for table in part.tables():
            assert table.title in text
        assert all(note in text for note in part.notes)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written to"):
        write_files(of([8], [3]), tmp_path / "file", {})
