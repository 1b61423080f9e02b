"""JUnit XML of a class: as its schema has it, whatever students write."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.model.classroom import Entry
from grader.model.report import Report
from grader.model.verdict import Verdict
from grader.reports.class_junit import document
from tests.classroom.junit import faults
from tests.classroom.pupils import POOL, TERMS, WRONG, entry, everybody, report


def tree(entries: list[Entry]) -> ET.Element:
    """Parse what is written, and hold it against the schema."""
    root = ET.fromstring("".join(document(entries, TERMS)))
    assert list(faults(root)) == []
    return root


def case(root: ET.Element, suite: str, name: str) -> ET.Element:
    """One case of one suite."""
    found = root.find(f"testsuite[@name='{suite}']/testcase[@name='{name}']")
    assert found is not None
    return found


def test_a_suite_for_each_student_and_question_a_case_for_each_check() -> None:
    root = tree(everybody())
    assert [suite.get("name") for suite in root] == [
        "ada / pool", "ada / mean", "ben / pool", "cem / pool", "dov / pool", "dov / mean",
    ]  # fmt: skip
    assert root[0].get("timestamp") == "2026-11-22T13:00:00"
    assert root[0].get("time") == "0.250"
    known = {p.get("name"): p.get("value") for p in root[2].iter("property")}
    assert (known["points"], known["of"], known["verdict"]) == ("50", "100", "fail")
    assert known["misconception"] == "assign-overlap"
    assert len(case(root, "ben / pool", "forward")) == 0
    wrong = case(root, "ben / pool", "ties").find("failure")
    assert wrong is not None
    assert wrong.get("message") == "grad_x is wrong"
    # What needs another check was not tried; a goal beyond what is asked fails no build.
    assert case(root, "ben / pool", "manners")[0].tag == "skipped"
    assert case(root, "ben / pool", "manners")[0].text == "ties did not pass"
    assert case(root, "ben / pool", "speed")[0].tag == "skipped"


def test_no_program_and_no_grade_are_errors_of_different_types() -> None:
    root = tree(everybody())
    theirs, ours = (case(root, f"{who} / pool", "program")[0] for who in ("cem", "dov"))
    assert (theirs.tag, theirs.get("type"), theirs.get("message")) == (
        "error", "no-program", "a link",
    )  # fmt: skip
    assert (ours.tag, ours.get("type")) == ("error", "not-graded")
    assert "not the student's fault" in (ours.get("message") or "")


@pytest.mark.parametrize(
    ("verdict", "tag"),
    [(Verdict.ERROR, "error"), (Verdict.LIMIT, "error"), (Verdict.POLICY, "failure")],
)
def test_what_is_of_no_check_is_a_case_too(verdict: Verdict, tag: str) -> None:
    found: Report = replace(report(), verdict=verdict, checks=(), message="it does not parse")
    root = tree([entry("eve", POOL, found)])
    (said,) = case(root, "eve / pool", "program")
    assert (said.tag, said.get("message")) == (tag, "it does not parse")


@pytest.mark.parametrize("verdict", [Verdict.ERROR, Verdict.LIMIT])
def test_what_raised_or_was_stopped_is_an_error(verdict: Verdict) -> None:
    found = report(passes=False, checks=[replace(WRONG, verdict=verdict)])
    assert case(tree([entry("eve", POOL, found)]), "eve / pool", "ties")[0].tag == "error"


NAMES = st.text(min_size=1, max_size=20) | st.sampled_from(
    ["]]>", "<failure/>", "&amp;", '" onload="', "\x00\x1b[2J", "\ud800", "\ufffe", "a\r\nb", "-->"]
)


@given(NAMES, NAMES)
def test_whatever_a_student_writes_it_is_read(name: str, message: str) -> None:
    checks = [replace(WRONG, message=message, mismatch=None)]
    fault = entry(name, POOL, fault=message)
    found = tree([entry(name, POOL, report(passes=False, checks=checks)), fault])
    assert len(found) == 2
    assert all(char >= " " or char in "\n\t" for text in found.itertext() for char in text)
