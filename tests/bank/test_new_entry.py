"""A misconception is added to a spec by lines of its own: no other line is touched."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from grader.bank import document
from grader.model.errors import UsageError
from grader.scaffold.idea import only_added, shortened, with_idea

WITHOUT = "title: A\nchecks: [x]  # all of them\n"
HEAD = """\
title: A
misconceptions:
  # the first
  one:
    killed_by: x
    feedback: >-
      No.

      Never.
"""
PLACES = {
    "at the end": (HEAD, ""),
    "without a last line break": (HEAD[:-1], ""),
    "before another key": (HEAD, "\n# what helps\nhints:\n  - Look.\n"),
    "after a comment of its own": (HEAD + "  # more to come\n", "hints: [Look.]\n"),
    "before a comment at the margin": (HEAD, "# the end\n"),
}


def added(text: str, *checks: str) -> str:
    raw = text.encode()
    return with_idea(document.parse(raw, Path("a.yaml")), raw, "two", checks or ("x",)).decode()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_entry_comes_after_the_last_one(place: str, end: str) -> None:
    before, after = (text.replace("\n", end) for text in PLACES[place])
    found = added(before + after)
    assert found.startswith(before)
    assert found.endswith(after)
    assert only_added((before + after).encode(), found.encode())
    assert ("\r" in found) == (end == "\r\n")
    assert "\n" not in found.replace(end, "")
    old, new = (yaml.safe_load(text) for text in (before + after, found))
    entry = new["misconceptions"].pop("two")
    assert entry["killed_by"] == "x"
    assert entry["feedback"].startswith("TODO ")
    assert new == old


def test_it_stands_as_far_in_as_the_others() -> None:
    found = added("misconceptions:\n    one: {killed_by: x, feedback: No.}\n", "x", "y")
    assert "\n    two:\n      killed_by: [x, y]\n" in found
    assert list(yaml.safe_load(found)["misconceptions"]) == ["one", "two"]


def test_a_spec_without_any_gets_the_key() -> None:
    found = yaml.safe_load(added(WITHOUT))
    assert found["misconceptions"]["two"]["killed_by"] == "x"


@pytest.mark.parametrize("text", ["misconceptions: {}\n", "misconceptions: {a: {b: c}}\n"])
def test_what_stands_on_the_line_of_the_key_is_left_to_a_person(text: str) -> None:
    with pytest.raises(UsageError, match="a line for each key"):
        added(text)


def test_a_program_is_shortened_to_what_the_reference_has_not() -> None:
    reference = "import numpy as np\n\n\ndef f(x):\n    return x\n\n\ndef g(x):\n    return f(x)\n"
    program = "# mine\nimport numpy as np\n@cache\ndef f(x):\n    # so\n    return 2 * x\n"
    program += "def g(x):\n\n    return f(x)\n"
    short, whole = shortened(program, reference)
    assert short == "@cache\ndef f(x):\n    return 2 * x\n"
    assert whole.count("def ") == 2
    assert "#" not in whole


def test_a_line_that_went_or_changed_is_no_addition() -> None:
    assert only_added(b"a\nb\n", b"a\nc\nb\n")
    assert not only_added(b"a\nb\n", b"a\nc\n")
