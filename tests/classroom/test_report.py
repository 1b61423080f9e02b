"""The report of a class from grades made by hand: in a terminal, as data, as a page."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest

from grader.classroom.report import (
    AnswerStatus,
    ClassFindings,
    StudentResult,
    StudentSummary,
    class_blocks,
    class_findings,
    class_summary,
    students_to_talk_to,
)
from grader.classroom.report_page import FINDER, class_page
from grader.commands import app
from grader.commands.class_report import report_class
from grader.model.classroom import ClassEntry
from grader.model.errors import UsageError
from grader.model.report import Explanation, Report, Verdict
from grader.reports.blocks import render_text
from tests.classroom.builders import (
    FAIL,
    HOSTILE,
    MEAN,
    PRODUCT,
    SUM,
    TERMS,
    Page,
    class_entry,
    hostile,
    idea_match,
    report,
    rule,
    write_results,
)


def findings_of(*entries: ClassEntry) -> ClassFindings:
    return class_findings(replace(TERMS, questions=(MEAN,)), entries)


def unanswered() -> Report:
    """Return a report on answers, one of them open."""
    base = report(FAIL)
    return replace(base, checks=(replace(base.checks[0], message="b has no answer yet"),))


@pytest.mark.parametrize(
    ("entry", "status"),
    [
        (class_entry("a", report()), AnswerStatus.PASSED),
        (class_entry("a", report(FAIL, idea_match("axis"))), AnswerStatus.IDEA),
        (class_entry("a", report(FAIL, idea_match("axis", exact=False))), AnswerStatus.UNEXPLAINED),
        (class_entry("a", report(FAIL, explanations=(rule(),))), AnswerStatus.EXPLAINED),
        (class_entry("a", report(FAIL)), AnswerStatus.UNEXPLAINED),
        (class_entry("a", report(Verdict.ERROR)), AnswerStatus.STOPPED),
        (class_entry("a", unanswered()), AnswerStatus.UNANSWERED),
        (class_entry("a", report(FAIL, idea_match("axis"), unchanged=True)), AnswerStatus.STARTER),
        (class_entry("a", no_answer="it is a link"), AnswerStatus.NO_ANSWER),
        (class_entry("a", report(Verdict.INVALID), fault="no memory"), AnswerStatus.NOT_GRADED),
        (class_entry("a"), AnswerStatus.NOT_GRADED),
    ],
)
def test_every_answer_has_a_status(entry: ClassEntry, status: AnswerStatus) -> None:
    findings = findings_of(entry)
    assert findings.students[0].results[0].standing is status
    assert {
        question: count for question, count in findings.questions[0].standings.items() if count
    } == {status: 1}


def test_two_ideas_that_only_fit_together_are_both_held() -> None:
    two = [idea_match("axis", exact=False), idea_match("off-by-one", exact=False)]
    pair = Explanation("pair", "both", ("small", "wide"))
    both = findings_of(class_entry("a", report(FAIL, *two, explanations=(pair,))))
    assert both.students[0].results[0].ideas == ("axis", "off-by-one")


def test_points_are_weighted_and_a_fault_of_the_grader_is_no_zero() -> None:
    entries = [
        class_entry("ada", report()), class_entry("ada", report(question="sum"), question=SUM),
        class_entry("ben", report(FAIL)),
        class_entry("ben", fault="the disk is full", question=SUM),
        class_entry("cem", report(), late=True),
    ]  # fmt: skip
    findings = class_findings(TERMS, entries)
    ada, ben, cem = findings.students
    assert findings.of == 10 + 2.5 * 4
    assert ada.points == 10 + 2.5 * 10
    assert (ben.points, ben.so_far, ben.results[1].points) == (None, 0, None)
    assert ben.results[1].note == "the disk is full"
    assert (cem.points, cem.results[0].late, cem.results[1].standing) == (
        10, True, AnswerStatus.MISSING,
    )  # fmt: skip
    # Who is not graded throughout counts in no average.
    assert class_summary(findings) == (
        "3 students, 1 passed all questions, mean 22.5 and median 22.5 of 20 points. In no "
        "average, because something is not graded yet: 1 student."
    )
    assert findings.questions[1].standings[AnswerStatus.MISSING] == 1
    tenth = replace(TERMS, questions=(replace(MEAN, weight=0.1), replace(SUM, weight=0.2, of=10)))
    whole = class_findings(tenth, entries[:2])  # weights add up without noise
    assert (whole.of, whole.students[0].points, whole.scores["100 %"]) == (3, 3, 1)


def test_shares_exclude_ungraded_files_and_the_unchanged_starter() -> None:
    findings = findings_of(
        class_entry("a", report(FAIL, idea_match("axis"))),
        class_entry("b", report(FAIL, idea_match("axis"), unchanged=True)),
        class_entry("c", report()),
        class_entry("d", report(FAIL, idea_match("axis", exact=False))),
        class_entry("e", no_answer="it is a link"),
        class_entry("f", fault="the disk is full"),
        class_entry("g", report(FAIL)),
    )
    (idea,) = findings.questions[0].ideas
    assert findings.questions[0].judged == 4
    assert (idea.students, idea.share, idea.unsure) == (["a"], 0.25, ["d"])
    assert idea.line == "You take the mean along the wrong axis."


def test_equal_answers_form_groups_the_largest_first() -> None:
    two = "a3f9" + "0" * 60
    findings = findings_of(
        class_entry("a", report(FAIL, outputs="b" * 64)),
        class_entry("b", report(FAIL, outputs=two)),
        class_entry("c", report(FAIL, outputs=two, explanations=(rule("y is twice"),))),
        class_entry("d", report(FAIL, idea_match("axis"), outputs=two)),
        class_entry("e", report(FAIL)),
        class_entry("f", report(FAIL, idea_match("axis"), unchanged=True, outputs=two)),
    )
    first, second = findings.questions[0].groups
    assert (first.handle, first.students, first.files) == ("a3f90000", ["b", "c"], 2)
    assert (second.handle, second.students) == ("bbbbbbbb", ["a"])
    assert first.sentence == "values: y is wrong, in 2 of 2 cases. The smallest is small."
    assert [student.results[0].group for student in findings.students] == [
        "bbbbbbbb", "a3f90000", "a3f90000", "", "", "",
    ]  # fmt: skip


# How it is shown.


def hostile_class() -> list[ClassEntry]:
    entries = [
        entry
        for text in HOSTILE
        for entry in (
            hostile(text),
            class_entry(f"{text}2", no_answer=text),
            class_entry(f"{text}3", fault=text),
        )
    ]
    return sorted(entries, key=lambda entry: entry.hand_in.student)


def ordinary() -> list[ClassEntry]:
    return [
        class_entry("ada", report(), name="Ada L."),
        class_entry("ben", report(FAIL, idea_match("axis")), at="2026-11-20T23:30:00+00:00"),
        class_entry("cem", report(FAIL, idea_match("off-by-one"))),
        class_entry("dov", report(FAIL, outputs="a3f9" * 16)),
        class_entry("eve", report(FAIL, outputs="a3f9" * 16)),
        class_entry("fay", report(FAIL, outputs="b3f9" * 16, explanations=(rule(),))),
        class_entry("gus", fault="the disk is full"), class_entry("hal", no_answer="it is a link"),
        class_entry("ivy", report(FAIL, idea_match("axis"), unchanged=True)),
        class_entry("jo", report(FAIL, idea_match("axis", exact=False))),
    ]  # fmt: skip


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return the results of a graded class."""
    return write_results(tmp_path / "results", TERMS, ordinary())


@pytest.mark.parametrize("entries", [ordinary(), hostile_class(), []])
def test_a_page_is_well_formed_and_nothing_on_it_acts(entries: list[ClassEntry]) -> None:
    content = "".join(class_page(class_findings(TERMS, entries), entries, "RESULTS"))
    page = Page.of(content)
    assert page.wrong == page.open == []
    assert page.tags.keys() & {"link", "img", "iframe", "object", "form", "base"} == set()
    assert (page.tags["script"], content.count(FINDER)) == (1, 1)
    acting = ("on", "href", "src", "style")
    assert [name for _, name, _ in page.attributes if name.startswith(acting)] == []
    assert {c for c in content if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}} <= {
        "\n"
    }
    assert PRODUCT not in page.text
    content.encode()
    students = {entry.hand_in.student for entry in entries}
    assert content.count("<details data-id=") == len(students)


def test_the_tables_say_who_passed_and_what_the_class_holds(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["class", "report", str(results)]) == 0
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert {
        "Class of 2026", "ada Ada L. 10 pass - 10 of 20", "ben 0 fail, late - 0 of 20",
        "gus not graded - 0 of 20 so far", "hal 0 no answer - 0 of 20", "axis 1 of 7, 14 %",
        "1 more: it fits a part of what is wrong",
        "a3f9a3f9 2 students: dov, eve (2 different files)",
        "1 more answer that only one student gave",
    } <= {*rows}  # fmt: skip
    text = " ".join(rows)
    assert f"drill bank new-idea mean --from {results} a3f9a3f9 --name NAME" in text
    assert "The starter holds its ideas by design" in text


def test_the_findings_as_json(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["class", "report", str(results), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["format"] == 1
    assert report_class(results).mean == content["mean"]
    ideas = {question["id"]: question["students"] for question in content["questions"][0]["ideas"]}
    assert ideas == {"axis": ["ben"], "off-by-one": ["cem"]}
    assert [student["points"] for student in content["students"][:2]] == [10, 0]


def test_every_student_opens_on_the_page(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = results.parent / "class.html"
    assert app.run(["class", "report", str(results), "--html", str(page)]) == 0
    assert "10 students, 0 passed all questions" in capsys.readouterr().out
    assert page.read_text("utf-8").count("<details ") == 10
    with pytest.raises(UsageError, match="nowhere"):
        report_class(results, html=results.parent / "nowhere" / "class.html")
    overrides = results / "overrides.csv"
    assert app.run(["class", "report", str(results), "--html", str(overrides)]) == 2
    assert "--html: expected a name that ends in .html" in capsys.readouterr().err
    assert not overrides.exists()


def test_names_are_only_text_in_all_outputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [name for name in HOSTILE if "\ud800" not in name]  # no name of a file has these
    wrong = report(FAIL, idea_match("axis"), outputs="c" * 64)
    entries = [
        class_entry(name, wrong, name=name, sha256=f"{n:064x}") for n, name in enumerate(names)
    ]
    results, page = write_results(tmp_path / "results", TERMS, entries), tmp_path / "class.html"
    for arguments in ([], ["--json"], ["--html", str(page)]):
        assert app.run(["class", "report", str(results), *arguments]) == 0
        assert not {"\x1b", "\u202e"} & {*capsys.readouterr().out}
    assert Page.of(page.read_bytes().decode()).tags["script"] == 1


# Finding students, and whom to talk to.


def words_of(page: str) -> dict[str, list[str]]:
    """Return the search words of each student."""
    read = Page.of(page).attributes
    ids = [value for tag, name, value in read if (tag, name) == ("details", "data-id")]
    words = [value for tag, name, value in read if (tag, name) == ("details", "data-words")]
    return dict(zip(ids, (text.split() for text in words), strict=True))


def test_a_student_is_found_by_name_verdict_idea_and_lateness() -> None:
    entry = class_entry("s1", report(FAIL, idea_match("axis")), name="Ada Love", late=True)
    entries = [entry, class_entry("s2", report(Verdict.PASS))]
    content = "".join(class_page(class_findings(TERMS, entries), entries, "RESULTS"))
    words = words_of(content)
    question = entry.question.id
    assert {"s1", "(Ada", "Love)"} <= {*words["s1"]}
    assert {f"{question}:{word}" for word in ("fail", "axis", "late")} <= {*words["s1"]}
    assert f"{question}:pass" in words["s2"]
    # Only this script may run, and without it nothing is missing.
    digest = b64encode(hashlib.sha256(FINDER.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'\"" in content
    assert '<p id="find" hidden>' in content


def summary_of(name: str, *standings: AnswerStatus, points: float | None = 10) -> StudentSummary:
    results = tuple(
        StudentResult(f"q{number}", standing, 0) for number, standing in enumerate(standings, 1)
    )
    return StudentSummary(name, results, points, points or 0)


@pytest.mark.parametrize(
    ("student", "expected"),
    [
        (summary_of("a", AnswerStatus.PASSED, AnswerStatus.PASSED), ""),
        (summary_of("a", AnswerStatus.PASSED, AnswerStatus.IDEA), ""),
        (summary_of("a", AnswerStatus.IDEA), ""),  # one question, of which the page says the idea
        (summary_of("a", AnswerStatus.IDEA, AnswerStatus.STOPPED, points=9),
         "passed none of 2 questions"),
        (summary_of("a", AnswerStatus.STARTER, AnswerStatus.NO_ANSWER, points=9),
         "passed none of 2 questions; what was handed in holds no answer (q2); the starter was "
         "handed in as it was (q1)"),
        (summary_of("a", AnswerStatus.UNANSWERED, AnswerStatus.PASSED), ""),
        # in parts, as others
        (summary_of("a", AnswerStatus.IDEA, AnswerStatus.STOPPED, points=10), ""),
        (summary_of("a", AnswerStatus.NOT_GRADED, AnswerStatus.IDEA, points=None), ""),  # our fault
        (summary_of("a", AnswerStatus.MISSING, AnswerStatus.PASSED), ""),
        (summary_of("a", AnswerStatus.NO_ANSWER), "what was handed in holds no answer"),
        (summary_of("a", AnswerStatus.PASSED, AnswerStatus.STARTER),
         "the starter was handed in as it was (q2)"),
        (summary_of("a", AnswerStatus.UNEXPLAINED, AnswerStatus.PASSED),
         "wrong in a way that no listed idea explains (q1)"),
        (summary_of("a", AnswerStatus.PASSED, points=4), ""),  # only late
        (summary_of("a", AnswerStatus.IDEA, points=4), "4 points, less than half of the median"),
        (summary_of("a", AnswerStatus.PASSED, points=5), ""),
        (summary_of("a", AnswerStatus.NO_ANSWER, points=1),
         "1 points, less than half of the median; what was handed in holds no answer"),
    ],
)  # fmt: skip
def test_reasons_to_talk_to_a_student(student: StudentSummary, expected: str) -> None:
    findings = replace(class_findings(TERMS, []), students=(student,), median=10.0)
    assert [reason for _, reason in students_to_talk_to(findings)] == [expected] * bool(expected)


def test_a_line_that_was_not_read_is_a_reason_to_talk() -> None:
    lost = class_entry("ada", report(FAIL, unread=("line 3 could not be read: x",)))
    ((student, reason),) = students_to_talk_to(findings_of(lost))
    assert student.results[0].unread
    assert reason.startswith("lines of the answers could not be read")


def test_a_file_that_did_not_load_is_a_reason_to_talk() -> None:
    ruined = report(FAIL, checks=(), message="the file is not UTF-8 text: 0xff")
    ((student, reason),) = students_to_talk_to(findings_of(class_entry("ada", ruined)))
    assert student.results[0].cause == "the file is not UTF-8 text"
    assert reason.startswith("a file did not load")


def test_files_that_are_no_answer_are_all_listed() -> None:
    aside = tuple((f"ada/{n}\x1b.py", "a link") for n in range(40))
    text = render_text(tuple(class_blocks(replace(class_findings(TERMS, []), aside=aside), "R")))
    assert text.count("a link") == 40
    assert "ada/39\\x1b.py: a link" in text


def test_students_come_in_the_order_of_their_names_whatever_their_case() -> None:
    names = [
        student.id
        for student in findings_of(*(class_entry(name, report()) for name in "bBaZ")).students
    ]
    assert names == ["a", "B", "b", "Z"]


def test_at_most_ten_are_listed_the_most_urgent_first() -> None:
    many = [summary_of(f"s{n:02}", AnswerStatus.STARTER, points=20 - n) for n in range(20)]
    lost = summary_of("lost", AnswerStatus.IDEA, AnswerStatus.IDEA, points=9)
    findings = replace(class_findings(TERMS, []), students=(*many, lost), median=10.0)
    listed = [student.id for student, _ in students_to_talk_to(findings)]
    assert listed[0] == "lost"
    assert listed[1:4] == ["s19", "s18", "s17"]
    assert len(listed) == 10
    text = render_text(tuple(class_blocks(findings, "RESULTS")))
    assert "Students to talk to" in text
    assert "Students to talk to" not in render_text(
        tuple(class_blocks(class_findings(TERMS, []), "R"))
    )
