"""Text from outside cannot act on a terminal, forge a line, break an encoding or fill a screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reweight.terminal import line, listed, quoted

HARMFUL = [
    "\x1b[31m",
    "\x1b]0;title\x07",
    "a\nb",
    "a\r",
    "\x9b2J",
    "\u202eabc",
    "\u2066",
    "\u200b",
    "\u2028",
    "\ud800",
    "\x7f",
]


@pytest.mark.parametrize("text", HARMFUL)
def test_what_a_terminal_acts_on_or_hides_is_shown_as_its_escape(text: str) -> None:
    assert line(text).isprintable()
    assert line(text) == text.encode("unicode_escape").decode()


@pytest.mark.parametrize("text", ["", "runs/a b.jsonl", "é中🎉 β", r"C:\new"])
def test_plain_text_of_any_script_stays(text: str) -> None:
    assert line(text) == text


@given(st.text(st.characters(), max_size=50), st.integers(10, 60))
def test_any_text_becomes_one_line_within_its_length(text: str, most: int) -> None:
    for shown in (line(text, most), quoted(text, most)):
        assert shown.isprintable()
        assert len(shown) <= most
        shown.encode("utf-8")


def test_a_long_text_keeps_both_ends() -> None:
    shown = line("folder/" + "a" * 10**7 + "/file.jsonl", 40)
    assert shown.startswith("folder/a")
    assert shown.endswith("a/file.jsonl")


LONG = ["x" * 10**6, b"x" * 10**6, [1] * 10**5, 10**5000, [10**5000], -(10**400), {"a": "b" * 1000}]


@pytest.mark.parametrize("value", LONG, ids=range(len(LONG)))
def test_a_long_value_is_cut(value: object) -> None:
    assert len(quoted(value)) <= 80


def test_quoted_is_python_where_it_is_short() -> None:
    for value in ("a\n", None, 1.5, [1, "b"], True, "\ud800"):
        assert quoted(value) == repr(value)


def test_of_many_names_the_first_are_shown() -> None:
    assert listed([]) == ""
    assert listed(["b", "a\n"]) == r"b, a\n"
    assert listed(range(20_000), most=2) == "0, 1 and 19998 more"
    assert len(listed(["x" * 10**6] * 50)) < 1200
