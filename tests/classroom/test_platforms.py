"""What Gradescope is given, as its documents say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from grader.model.classroom import Entry, Posed
from grader.model.report import CheckResult, Frame, Raised
from grader.model.verdict import Verdict
from grader.reports import class_gradescope
from tests.classroom.pupils import FAULT, MEAN, POOL, WRONG, entry, everybody, report

TOP = {
    "score", "execution_time", "output", "output_format", "test_output_format", "test_name_format",
    "visibility", "stdout_visibility", "extra_data", "tests", "leaderboard",
}  # fmt: skip
TEST = {
    "score", "max_score", "status", "name", "name_format", "number", "output", "output_format",
    "tags", "visibility", "extra_data",
}  # fmt: skip
VISIBILITY = {"visible", "hidden", "after_due_date", "after_published"}
FORMATS = {"text", "html", "simple_format", "md", "ansi"}


def assert_gradescope(found: dict[str, Any]) -> None:
    """Check a result against docs/specs.md of gradescope/autograder_samples."""
    assert found.keys() <= TOP
    assert "tests" in found or "score" in found
    for one in [found, *found["tests"]]:
        assert one.get("visibility", "visible") in VISIBILITY
        assert one.get("output_format", "text") in FORMATS
        assert isinstance(one.get("output", ""), str)
    for test in found["tests"]:
        assert test.keys() <= TEST
        assert test["status"] in {"passed", "failed"}
        assert isinstance(test.get("number", ""), str)
        assert ("score" in test) == ("max_score" in test)
        assert all(isinstance(tag, str) for tag in test.get("tags", []))
    json.dumps(found, allow_nan=False)


def of(student: str) -> dict[str, Entry]:
    """What counts of a student."""
    return {one.posed.id: one for one in everybody() if one.handed.student == student}


def gradescope(entries: dict[str, Entry], asked: Sequence[Posed] = (POOL, MEAN)) -> dict[str, Any]:
    """The result of a student on Gradescope, which is valid."""
    found = class_gradescope.results(asked, entries)
    assert_gradescope(found)
    return found


def test_a_test_for_each_part_with_its_points() -> None:
    tests = gradescope(of("ada"))["tests"]
    shown = [(t["name"], t["number"], t["score"], t["max_score"], t["status"]) for t in tests]
    assert shown == [
        ("pool, part 1", "1.1", 50, 50, "passed"), ("pool, part 2", "1.2", 50, 50, "passed"),
        ("mean", "2", 5, 5, "passed"),
    ]  # fmt: skip
    assert gradescope(of("ada"))["output"] == "It came after the deadline."


def test_a_part_says_what_is_wrong_and_why() -> None:
    first, second, mean = gradescope(of("ben"))["tests"]
    assert first["status"] == "passed"
    assert (second["score"], second["status"]) == (0, "failed")
    assert "ties: grad_x is wrong in case tied." in second["output"]
    assert "grad_x[0, 1] is 4.000, expected 10.00" in second["output"]
    assert "assign-overlap" in second["output"]
    assert "You overwrite instead of adding." in second["output"]
    assert "Not tried: manners." in second["output"]
    assert second["tags"] == ["assign-overlap"]
    assert (mean["score"], mean["output"]) == (0, "nothing handed in: expected a file mean.py")


def test_a_file_without_a_program_earns_nothing_and_says_why() -> None:
    test = gradescope(of("cem"))["tests"][0]
    assert (test["score"], test["max_score"], test["output"]) == (0, 100, "a link")


def test_a_fault_of_the_grader_is_no_score_anywhere() -> None:
    found = gradescope(of("dov"))
    assert "score" not in found
    assert not any("score" in test or "max_score" in test for test in found["tests"])
    assert found["tests"][0]["name"] == "NOT GRADED"
    assert FAULT in found["tests"][0]["output"]
    assert "not your fault" in found["tests"][0]["output"]


@pytest.mark.parametrize(
    "hidden",
    ["ties", "tied"],
    ids=["check", "case"],
)
def test_nothing_hidden_is_said(hidden: str) -> None:
    posed = replace(POOL, hidden=(hidden,))
    entries = {"pool": replace(of("ben")["pool"], posed=posed)}
    made = gradescope(entries, [posed])
    said = " ".join(str(value) for test in made["tests"] for value in test.values())
    assert "hidden" in said
    for word in (hidden, "grad_x", "4.000", "10.00", "overlap", "overwrite", "0.4 times"):
        assert word not in said, word
    # A hidden test on Gradescope would hide the student's total as well.
    assert all(t["visibility"] == "visible" for t in gradescope(entries, [posed])["tests"])
    assert gradescope(entries, [posed])["tests"][1]["score"] == 0


def test_the_starter_is_not_explained() -> None:
    untouched = replace(report(passes=False), unchanged=True)
    test = gradescope({"pool": entry("ben", POOL, untouched)}, [POOL])["tests"][1]
    assert "This is the starter, unchanged" in test["output"]
    assert "overlap" not in json.dumps(test)


def raising(message: str) -> CheckResult:
    """A check on which a submission raises what it likes, on a line that reads as it likes."""
    raised = Raised("ValueError", message, (Frame(3, "backward", f"raise ValueError # {message}"),))
    return replace(WRONG, verdict=Verdict.ERROR, message=f"raised ValueError: {message}",
                   mismatch=None, raised=raised)  # fmt: skip


def test_where_something_raised_is_said() -> None:
    found = report(passes=False, checks=[raising("no")])
    made = gradescope({"pool": entry("eve", POOL, found)}, [POOL])
    assert "line 3  raise ValueError # no" in made["tests"][1]["output"]
    parse = Raised("SyntaxError", "invalid syntax", (Frame(7, "", "def f(:"),), column=7)
    lost = replace(found, verdict=Verdict.ERROR, checks=(), message="not Python", raised=parse)
    made = gradescope({"pool": entry("eve", POOL, lost)}, [POOL])
    assert "def f(:" in made["tests"][1]["output"]


def test_no_students_text_is_markup_or_acts_on_a_terminal() -> None:
    evil = "<script>alert(1)</script> **x** \x1b[2J\u202e"
    found = report(passes=False, checks=[raising(evil)])
    made = gradescope({"pool": entry("eve", POOL, found)}, [POOL])
    assert all(test["output_format"] == "text" for test in made["tests"])
    assert (made["output_format"], made["test_name_format"]) == ("text", "text")
    said = made["tests"][1]["output"]
    assert "<script>" in said  # text is shown as it is
    assert "\x1b" not in said
    assert "\u202e" not in said
