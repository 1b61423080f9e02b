"""Files of answers, and what is said of those that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.forms.answers import read, template
from grader.forms.base import Unreadable
from grader.model.spec import Answer

NAMES = ["kv_total", "g[1]", "dp[i,j]"]
WHOLE = b"kv_total = 3 GB # of cache\ng [ 1 ] =2/3\n\n# nothing\ndp[i, j]= ?\n"


def test_every_answer_has_its_place() -> None:
    found = read(WHOLE, NAMES)
    assert {name: (one.value, one.line, one.column) for name, one in found.items()} == {
        "kv_total": ("3 GB", 1, 12),
        "g[1]": ("2/3", 2, 10),
    }


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (b"kv_total = 1\n", 0, "g[1] has no answer yet; write g[1] = ..."),
        (b"kv_totl = 1", 1, "kv_totl is not asked for; did you mean 'kv_total'?"),
        (WHOLE + b"kv_total = 4", 6, "kv_total stands in line 1 already; keep one"),
        (b"\n\nkv_total: 3", 3, "expected NAME = VALUE, found no ="),
        (b"kv_total = \xff", 0, "byte 0xff at offset 11 is not UTF-8; save the file as UTF-8"),
        (b"#" * 70_000, 0, "the file has 70,000 bytes, at most 65,536 are read"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(text: bytes, line: int, said: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read(text, NAMES)
    assert refused.value.sentence.startswith(said)
    assert refused.value.line == line


def test_the_file_to_begin_with_asks_for_everything() -> None:
    text = template({"kv_total": Answer(ask="cache,\n  of all", unit="B")}, {"kv_total": "in B"})
    assert text.decode().endswith("\n# cache, of all (in B)\nkv_total = ?\n")
    assert read(text, ["kv_total"]) == {}


@given(st.binary(max_size=200))
def test_any_bytes_are_answers_or_a_sentence(text: bytes) -> None:
    try:
        sentence = f"{read(text, [])} is empty"
    except Unreadable as refused:
        sentence = refused.sentence
    assert sentence
