"""Text from a submission cannot act on a terminal, and lines are broken between words."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.reports.text_layout import escape_line, escape_text, last_lines_escaped, wrap_words

ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
TEXTS = st.text(st.characters(codec=None), max_size=200)


@given(TEXTS)
def test_nothing_that_acts_survives(text: str) -> None:
    line, lines = escape_line(text), escape_text(text)
    assert not any(unicodedata.category(c) in ACTING for c in line)
    assert not any(unicodedata.category(c) in ACTING for c in lines if c not in "\n\t")
    assert lines.count("\n") == text.count("\n")
    assert escape_line(escape_line(text, 10_000), 10_000) == escape_line(text, 10_000)
    assert escape_text(lines) == lines
    line.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "a\x1b[31m\tb\nc\r\x9b\u202e\U000e0001",
            "a\\x1b[31m    b\\nc\\r\\x9b\\u202e\\U000e0001",
        ),
        ("z" + "\u0301" * 4, "z\u0301\u0301\\u0301\\u0301"),  # marks that pile up
        ("x" * 1500, "x" * 400 + " ... (1,100 more characters)"),
        *((other, other) for other in ("Gr\u00fc\u00dfe", "\u4e2d\u6587", "\u0939\u093f\u0928")),
    ],
)
def test_escapes_are_readable_and_other_scripts_are_left_alone(text: str, shown: str) -> None:
    assert escape_line(text) == shown


def test_the_last_lines_are_kept() -> None:
    assert last_lines_escaped("a\r\nb\nc\n\n", 2) == (["b", "c"], 1)


def test_code_in_a_text_stays_on_one_line() -> None:
    text = "Words before it, then `drill grade --file PATH` and `a b`"
    assert wrap_words(text, 40) == ["Words before it, then", "`drill grade --file PATH` and `a b`"]
    assert wrap_words("x" * 50 + " y", 20) == ["x" * 50, "y"]
