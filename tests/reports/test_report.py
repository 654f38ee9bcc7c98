"""The report: what it writes, that it is the same each time, and that hostile text stays text."""

from __future__ import annotations

import base64
import json
import math
import re
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

from reweight.errors import InputError
from reweight.reports import Badge, Code, Figure, Formula, Report, Section, Table, Text, verdict_badge
from reweight.reports.cells import Cell, cell_json, cell_text

HOSTILE = (
    '</td></style><script>alert("x")</script><img src=http://evil.example/x onerror=alert(1)>&amp;`|*[a](javascript:b)'
)
VOID = {"meta", "img", "br", "hr", "link"}


class Page(HTMLParser):
    """The elements, attributes and text of a page, as a browser would see them; refuses tags left open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}


def picture() -> Canvas:
    figure = Canvas(figsize=(2, 1.5))
    axes = figure.add_subplot()
    axes.plot([0, 1], [1, 0])
    axes.fill_between([0, 1], [0, 1], hatch="//")
    axes.set_clip_path(axes.patch)
    return figure


def sample(text: str = "C58") -> Report:
    rows: list[list[Cell]] = [[text, 8, 2.6134, verdict_badge("PROVED (all G)")], [text, 16, None, Badge(text, "bad")]]
    return Report(
        text,
        [
            Section(text, [Text(text), Table([text, "G", "gap", "verdict"], rows, text), Code(text)]),
            Section(text, [Section(text, [Figure(picture(), "gap", text, text), Formula(text)])]),
        ],
        subtitle=text,
        facts={text: text, "version": "0.1"},
    )


def test_writes_three_files_and_the_pictures(tmp_path: Path) -> None:
    written = sample().write(tmp_path / "report")
    assert {key: path.relative_to(tmp_path).as_posix() for key, path in written.items()} == {
        "html": "report/index.html",
        "markdown": "report/report.md",
        "json": "report/report.json",
        "gap.png": "report/figures/gap.png",
        "gap.svg": "report/figures/gap.svg",
    }
    assert all(path.stat().st_size > 100 for path in written.values())
    assert not list(tmp_path.rglob("*.tmp"))


def test_same_report_same_bytes(tmp_path: Path) -> None:
    first, second = sample().write(tmp_path / "a"), sample().write(tmp_path / "b")
    for key in first:
        assert first[key].read_bytes() == second[key].read_bytes(), key
    assert b"<dc:date>" not in first["gap.svg"].read_bytes()


def test_page_loads_nothing_and_holds_its_pictures(tmp_path: Path) -> None:
    written = sample().write(tmp_path)
    page = Page(written["html"].read_text())
    assert page.tags.isdisjoint({"script", "link", "iframe", "object", "base", "form"})
    policies = [attributes["content"] for tag, attributes in page.elements if "http-equiv" in attributes]
    assert policies == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]
    (image,) = [attributes for tag, attributes in page.elements if tag == "img"]
    head, _, body = str(image["src"]).partition("base64,")
    assert head == "data:image/svg+xml;"
    assert base64.b64decode(body) == written["gap.svg"].read_bytes()
    assert "url(" not in written["html"].read_text()
    assert "@import" not in written["html"].read_text()


def test_contents_lead_to_every_section(tmp_path: Path) -> None:
    page = Page(sample("Claim C58").write(tmp_path)["html"].read_text())
    targets = [str(attributes["href"]).removeprefix("#") for tag, attributes in page.elements if tag == "a"]
    sections = [attributes["id"] for tag, attributes in page.elements if tag == "section"]
    assert targets == sections == ["claim-c58", "claim-c58-2", "claim-c58-3"]


def test_hostile_text_adds_no_element_to_the_page(tmp_path: Path) -> None:
    calm, hostile = (Page(sample(text).write(tmp_path)["html"].read_text()) for text in ("C58", HOSTILE))
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in calm.elements]
    assert [set(attributes) for _, attributes in hostile.elements] == [
        set(attributes) for _, attributes in calm.elements
    ]
    assert not any(str(value).startswith("javascript:") for _, found in hostile.elements for value in found.values())
    assert "".join(hostile.words).count(HOSTILE) >= 10  # and it is shown as it was typed


def test_markdown_in_text_is_emphasis_code_and_lists_only(tmp_path: Path) -> None:
    text = (
        "**bold** and *soft* and `a < b`\n\n- one\n- two\n\n<b>x</b> ![i](http://e.example/i.png) [l](http://e.example)"
    )
    page = Page(Report("T", [Section("S", [Text(text)])]).write(tmp_path)["html"].read_text())
    assert {"strong", "em", "code", "li"} <= page.tags
    assert page.tags.isdisjoint({"b", "img"})
    assert [attributes["href"] for tag, attributes in page.elements if tag == "a"] == ["#s"]
    assert "<b>x</b> ![i](http://e.example/i.png) [l](http://e.example)" in "".join(page.words)


def test_hostile_text_stays_text_in_markdown(tmp_path: Path) -> None:
    from markdown_it import MarkdownIt

    def structure(text: str) -> list[str]:
        source = sample(text).write(tmp_path)["markdown"].read_text()
        tokens = MarkdownIt("commonmark").enable("table").parse(source)
        return [token.type for top in tokens for token in [top, *(top.children or [])] if token.type != "text"]

    hostile = HOSTILE.replace("`", "").replace("*", "")  # in Text these two have the meaning they are given
    kinds = structure(hostile)
    assert kinds == structure("C58")
    assert kinds.count("image") == 1
    assert not any(kind.startswith(("html", "link")) for kind in kinds)
    assert "```" in sample("```\n# not a heading").write(tmp_path)["markdown"].read_text()
    assert structure("x ``` y") == structure("C58")


def test_lines_that_would_start_a_list_do_not(tmp_path: Path) -> None:
    source = Report("1. one", [Section("- two", [])], subtitle="# three").write(tmp_path)["markdown"].read_text()
    assert source == "# 1\\. one\n\n\\# three\n\n## \\- two\n"


def test_json_holds_the_numbers_at_full_precision(tmp_path: Path) -> None:
    third = 1 / 3
    rows: list[list[Cell]] = [[third, Fraction(1, 3), np.float64(math.nan), math.inf, np.int64(7), None]]
    report = Report(
        "T", [Section("S", [Table("abcdef", rows, "c"), Section("U", [Formula("p*")])])], facts={"x": third}
    )
    loaded: dict[str, Any] = json.loads(report.write(tmp_path)["json"].read_text())
    assert loaded == report.to_dict()
    assert loaded["facts"] == {"x": third}
    table, inner = loaded["sections"][0]["blocks"]
    assert table["rows"] == [[third, "1/3", None, "inf", 7, None]]
    assert inner == {"kind": "section", "heading": "U", "blocks": [{"kind": "formula", "text": "p*"}]}


@pytest.mark.parametrize(
    ("cell", "text", "value"),
    [
        (None, "–", None),
        (math.nan, "–", None),
        (True, "yes", True),
        (np.bool_(False), "no", False),
        (-0.000123456, "−0.0001235", -0.000123456),
        (-math.inf, "−∞", "-inf"),
        (12345678, "12345678", 12345678),
        (Fraction(-2, 6), "-1/3", "-1/3"),
        (Badge("TESTED"), "TESTED", "TESTED"),
    ],
)
def test_cells(cell: Cell, text: str, value: object) -> None:
    assert cell_text(cell) == text
    assert cell_json(cell) == value


def test_numbers_are_set_flush_right_and_text_is_not() -> None:
    rows: list[list[Cell]] = [["C58", 1, None, True], ["C59", 0.5, 2.0, False]]
    assert Table(["id", "a", "b", "c"], rows).numeric_columns() == [False, True, True, False]


def test_a_name_that_is_not_utf8_is_shown_escaped(tmp_path: Path) -> None:
    written = Report("T", [Section("S", [Code("runs/\udcff.jsonl")])]).write(tmp_path)
    assert "runs/\\udcff.jsonl" in written["html"].read_text(encoding="utf-8")
    assert "runs/\\udcff.jsonl" in written["markdown"].read_text(encoding="utf-8")


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 2 of the table 'gaps' has 1 cells where its heading has 2"):
        Table(["G", "gap"], [[2, 1], [3]], "gaps")
    with pytest.raises(InputError, match="cannot name a file"):
        Figure(picture(), "../up", "", "")
    with pytest.raises(InputError, match="two figures of the report are called 'gap'"):
        Report("T", [Section("S", [Figure(picture(), "gap", "", ""), Figure(picture(), "gap", "", "")])])
    with pytest.raises(InputError, match="empty heading"):
        Section(" ", [])
    with pytest.raises(InputError, match="tone of a badge"):
        Badge("x", "loud")  # type: ignore[arg-type]
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(InputError, match=re.escape(str(tmp_path / "taken"))):
        Report("T", []).write(tmp_path / "taken")


def test_verdicts_have_the_tone_of_their_first_word() -> None:
    tones = [
        verdict_badge(word).tone for word in ("PROVED (G <= 12)", "VERIFIED", "TESTED", "REFUTED (N = 3)", "", "?")
    ]
    assert tones == ["good", "good", "fair", "note", "plain", "plain"]
    assert verdict_badge("PROVED", as_declared=False).tone == "bad"
