"""Text from a submission cannot act on a terminal."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from grader.reports.sheet import harmless, inert, inert_lines


@given(st.text(st.characters(codec=None), max_size=200))
def test_nothing_that_acts_survives(text: str) -> None:
    acting = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert not any(unicodedata.category(c) in acting for c in inert(text))


@given(st.text(st.characters(codec=None), max_size=200))
def test_it_is_the_same_twice_and_can_be_encoded(text: str) -> None:
    assert inert(inert(text, 10_000), 10_000) == inert(text, 10_000)
    inert(text).encode("utf-8")


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
