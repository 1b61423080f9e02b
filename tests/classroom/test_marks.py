"""Penalties for late work and points by hand, in marks and in all outputs."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.export import export
from grader.classroom.overrides import OVERRIDES
from grader.classroom.report import class_blocks, class_findings
from grader.classroom.report_page import class_page
from grader.classroom.results import ClassResults
from grader.classroom.student_feedback import feedback
from grader.commands import app
from grader.model.classroom import ClassEntry, ClassSettings, LatePolicy
from grader.model.errors import UsageError
from grader.model.report import PartResult, Report, Verdict
from grader.reports.blocks import render_text
from tests.classroom.builders import SUM, TERMS, class_entry, report, write_results

# The deadline is 2026-11-20T23:59:00+01:00, which is 22:59 UTC.
LATE = replace(TERMS, late=LatePolicy(10, 3, {"ann": 2, "bo": "2026-11-27T12:00:00+02:00"}))


def report_of_points(points: int) -> Report:
    """Return a report with some points of ten."""
    verdict = Verdict.PASS if points == 10 else Verdict.FAIL
    return replace(report(verdict), parts=(PartResult("1", verdict, points, 10),))


def graded_class(
    folder: Path, terms: ClassSettings, *entries: ClassEntry, overrides: str | bytes | None = None
) -> Path:
    """Write results with grades and points by hand, and return their folder."""
    write_results(folder, terms, entries)
    if overrides is not None:
        content = overrides if isinstance(overrides, bytes) else overrides.encode()
        (folder / OVERRIDES).write_bytes(content)
    return folder


def counting_entries(folder: Path) -> list[ClassEntry]:
    """Return the entries that count."""
    with ClassResults(folder) as results:
        return list(results.counting_entries())


def test_a_student_without_a_file_can_have_points_by_hand(tmp_path: Path) -> None:
    overrides = "student,question,points,note\nzoe,mean,7,Nothing handed in: by e-mail\n"
    graded_class(tmp_path, TERMS, class_entry("ann", report_of_points(10)), overrides=overrides)
    marks = {
        entry.hand_in.student: (entry.points, entry.verdict) for entry in counting_entries(tmp_path)
    }
    assert marks == {"ann": (10, "pass"), "zoe": (7, "by hand")}
    with ClassResults(tmp_path) as results:
        (line,) = map(json.loads, export(results, "jsonl", student="zoe"))
        assert (line["by_hand"], line["note"]) == (
            True, "points by hand: Nothing handed in: by e-mail"
        )  # fmt: skip
        (_, row) = export(results, "csv", student="zoe", wide=True)
        assert "points by hand: Nothing handed in: by e-mail" in row


@pytest.mark.parametrize(
    ("student", "at", "points", "late"),
    [
        ("cy", "2026-11-20T22:59:00+00:00", 10, False),
        ("cy", "2026-11-20T22:59:01+00:00", 9, True),
        ("cy", "2026-11-20T23:59:00.000001+01:00", 9, True),
        ("cy", "2026-11-21T22:59:00+00:00", 9, True),
        ("cy", "2026-11-21T22:59:01+00:00", 8, True),
        ("cy", "2026-11-23T22:59:00+00:00", 7, True),
        ("cy", "2026-11-23T22:59:01+00:00", 0, True),
        ("cy", "2026-12-31T22:59:01+00:00", 0, True),
        ("cy", "", 10, False),
        ("ann", "2026-11-22T22:59:00+00:00", 10, False),
        ("ann", "2026-11-22T22:59:01+00:00", 9, True),
        ("bo", "2026-11-27T10:00:00+00:00", 10, False),
        ("bo", "2026-11-27T10:00:01+00:00", 9, True),
    ],
)
def test_each_started_day_costs_the_penalty(
    tmp_path: Path, student: str, at: str, points: int, late: bool
) -> None:
    (entry,) = counting_entries(
        graded_class(tmp_path, LATE, class_entry(student, report_of_points(10), at=at))
    )
    assert (entry.points, entry.late, entry.earned_points) == (points, late, 10)
    (same,) = counting_entries(
        graded_class(
            tmp_path / "no policy", TERMS, class_entry(student, report_of_points(10), at=at)
        )
    )
    assert same.points == 10


def test_without_a_deadline_no_penalty_is_shown_or_taken(tmp_path: Path) -> None:
    folder = graded_class(
        tmp_path, replace(LATE, deadline=""), class_entry("cy", report_of_points(10))
    )
    with ClassResults(folder) as results:
        findings = class_findings(results.class_settings, results.counting_entries())
        page = "".join(class_page(findings, results.counting_entries(), str(folder)))
    for text in (render_text(tuple(class_blocks(findings, str(folder)))), page):
        assert "file of a student for a question counts. Seed 7" in text
        assert "loses" not in text
    assert findings.students[0].points == 10


def test_points_after_a_penalty_are_rounded_up_and_explained(tmp_path: Path) -> None:
    (entry,) = counting_entries(
        graded_class(
            tmp_path, LATE, class_entry("cy", report_of_points(5), at="2026-11-22T00:00:00+00:00")
        )
    )
    assert (entry.points, entry.note) == (4, "2 days late: 20 % less of 5 points")
    terms = replace(LATE, late=LatePolicy(10, 3))
    folder = graded_class(
        tmp_path / "none",
        terms,
        class_entry("cy", report_of_points(9), at="2026-11-30T00:00:00+00:00"),
    )
    assert counting_entries(folder)[0].note == "10 days late: nothing is left of 9 points"


def test_the_last_file_counts_or_the_best_after_its_penalty(tmp_path: Path) -> None:
    files = [
        class_entry("cy", report_of_points(8), at="2026-11-20T12:00:00+00:00"),
        class_entry(
            "cy", report_of_points(9), at="2026-11-22T12:00:00+00:00"
        ),  # worth 7.2, so 8: the later of equals
        class_entry(
            "cy", report_of_points(10), at="2026-11-30T12:00:00+00:00"
        ),  # too late to count
    ]
    for number, file in enumerate(files):
        files[number] = replace(file, hand_in=replace(file.hand_in, path=f"cy/{number}.py"))
    for counts in ("last", "best"):
        (entry,) = counting_entries(
            graded_class(tmp_path / counts, replace(LATE, counts=counts), *files)
        )
        assert (entry.hand_in.path, entry.points) == ("cy/1.py", 8)
    harsh = replace(LATE, late=LatePolicy(50, 3), counts="best")
    (entry,) = counting_entries(graded_class(tmp_path / "harsh", harsh, *files))
    assert (entry.hand_in.path, entry.points) == ("cy/0.py", 8)


def test_an_extension_overrides_the_late_mark_of_a_platform(tmp_path: Path) -> None:
    times = {"ann": "2026-11-20T23:30:00+00:00", "cy": "2026-11-20T23:30:00+00:00", "di": ""}
    marked = [class_entry(name, report_of_points(10), at=time) for name, time in times.items()]
    marked = [replace(entry, hand_in=replace(entry.hand_in, late=True)) for entry in marked]
    entries = {
        entry.hand_in.student: entry
        for entry in counting_entries(graded_class(tmp_path, LATE, *marked))
    }
    assert {name: (entry.points, entry.late) for name, entry in entries.items()} == {
        "ann": (10, False), "cy": (9, True), "di": (10, True),
    }  # fmt: skip


GIVEN = "student,question,points,note\nann,mean,7,said it well\ncy,sum,3,on paper\n"


def test_points_by_hand_are_in_all_outputs(tmp_path: Path) -> None:
    late = class_entry(
        "cy", report_of_points(10), at="2026-11-22T00:00:00+00:00", name="Cy Twombly"
    )
    folder = graded_class(
        tmp_path, LATE, class_entry("ann", report_of_points(5)), late, overrides=GIVEN
    )
    with ClassResults(folder) as results:
        entries = list(results.counting_entries())
        findings = class_findings(results.class_settings, entries)
        rows = list(csv.DictReader(export(results, "csv")))
        wide_rows = list(csv.DictReader(export(results, "csv", wide=True)))
        lines = [json.loads(line) for line in "".join(export(results, "jsonl")).splitlines()]
        tests: Any = json.loads("".join(export(results, "gradescope", student="cy")))
        page = "".join(class_page(findings, entries, str(folder)))
    assert [(entry.hand_in.student, entry.question.id, entry.points) for entry in entries] == [
        ("ann", "mean", 7), ("cy", "mean", 8), ("cy", "sum", 3),
    ]  # fmt: skip
    report_text = render_text(tuple(class_blocks(findings, str(folder))))
    assert "7 fail, by hand" in report_text
    assert "3 by hand" in report_text
    assert "8 pass, late" in report_text
    assert "loses 10 % for each day begun" in report_text
    assert [student.points for student in findings.students] == [7, 8 + 3 * SUM.weight]
    assert [row["points"] for row in rows] == ["7", "8", "3"]
    assert rows[0]["note"] == "points by hand: said it well"
    assert [row["total"] for row in wide_rows] == ["7", "15.5"]
    assert [line["points"] for line in lines] == [7, 8, 3]
    assert lines[2]["note"] == "points by hand: on paper"
    assert tests["score"] == 15.5
    assert "2 days late: 20 % less of 10 points" in tests["output"]
    assert "points by hand: on paper" in page
    feedback_text = render_text(feedback(LATE, entries[1:]))
    assert "By hand: 3 of 4 points, which count 2.5 times: on paper" in feedback_text
    assert "2 days late: 20 % less of 10 points." in feedback_text
    assert "15.5 of 20 points" in feedback_text
    assert "not graded" not in feedback_text.lower()


def test_points_by_hand_outlive_a_grade_and_may_replace_a_missing_one(tmp_path: Path) -> None:
    waiting, unread = (
        class_entry("ann", None, fault="too busy"),
        class_entry("cy", None, no_answer="it is damaged"),
    )
    overrides = "note,points,Question,student\n,10,mean,ann\n,4,mean,cy\n"
    folder = graded_class(
        tmp_path, TERMS, waiting, unread, overrides="\ufeff" + overrides.replace("\n", "\r\n")
    )
    assert [entry.points for entry in counting_entries(folder)] == [10, 4]
    write_results(folder, TERMS, [replace(waiting, report=report_of_points(3), fault=""), unread])
    assert [entry.points for entry in counting_entries(folder)] == [10, 4]
    assert counting_entries(folder)[0].note == "points by hand"
    (folder / OVERRIDES).unlink()
    assert [entry.points for entry in counting_entries(folder)] == [3, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: expected student, question, points, note, found nothing"),
        ("student,points\n", ":1: expected student, question, points, note, found student, points"),
        ("ann,mean,7\n", ":1: expected student, question, points, note, found ann, mean, 7"),
        (
            GIVEN + "anne,mean,7,\n",
            ":4: no student 'anne' handed anything in, and the note does not begin with "
            "'nothing handed in'; did you mean 'ann'?",
        ),
        (GIVEN + "cy,men,7,\n", ":4: no question 'men' is asked; did you mean 'mean'?"),
        (GIVEN + "cy,mean,11,\n", ":4: expected whole points from 0 to 10, found '11'"),
        (GIVEN + "cy,mean,-1,\n", ":4: expected whole points from 0 to 10, found '-1'"),
        (GIVEN + "cy,mean,7.5,\n", ":4: expected whole points from 0 to 10, found '7.5'"),
        (
            GIVEN + f"cy,mean,{'9' * 5000},\n",
            f":4: expected whole points from 0 to 10, found '{'9' * 20}'",
        ),
        (GIVEN + "cy,mean,\u0663,\n", ":4: expected whole points from 0 to 10, found '\u0663'"),
        (GIVEN + "\n\nann,mean,7,\n", ":6: expected one line for ann and mean, found another"),
        (GIVEN + "cy,mean\n", ":4: expected 4 cells, found 2"),
        (GIVEN + 'cy,mean,7,"a\n', ":4: expected CSV: unexpected end of data"),
        (
            (GIVEN + "cy,mean,7,caf\xe9\n").encode("latin-1"),
            ":4: expected UTF-8, found the byte 0xe9",
        ),
        (GIVEN.replace(",", ";"), None),
    ],
)
def test_the_error_names_the_wrong_line(
    tmp_path: Path, text: str | bytes, message: str | None
) -> None:
    folder = graded_class(
        tmp_path,
        TERMS,
        class_entry("ann", report_of_points(5)),
        class_entry("cy", report_of_points(5)),
        overrides=text,
    )
    if message is None:
        assert [entry.points for entry in counting_entries(folder)] == [7, 5, 3]
    else:
        with pytest.raises(UsageError) as raised:
            counting_entries(folder)
        assert raised.value.message == f"{folder / OVERRIDES}{message}"


def test_every_fault_of_the_file_is_listed_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "student,question,points,note\nann,mean,5,\nan,mean,5,\nann,men,5,\nann,mean,50,\nann,mean\n"
        'ann,mean,6,\nann,mean,"5"x,\nann,men,5,\n'
    )
    folder = graded_class(tmp_path, TERMS, class_entry("ann", report_of_points(5)), overrides=text)
    assert app.run(["class", "report", str(folder), "--json"]) == 2
    problems = json.loads(capsys.readouterr().out)["error"]["problems"]
    starts = (
        "3: no student 'an' ", "4: no question 'men' ", "5: expected whole points from 0 to ",
        "6: expected 4 cells, found 2", "7: expected one line for ann and mean", "8: expected CSV",
    )  # fmt: skip
    for problem, start in zip(problems, starts, strict=True):
        assert problem.startswith(f"{folder / OVERRIDES}:{start}")
