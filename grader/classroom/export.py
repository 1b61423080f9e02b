r"""Write the grades of a class for other programs: as CSV, JSON lines, or for Gradescope.

A counting entry is the file of a student that counts for a question, with its grade.  After a fault
of the grader the points are left out in every format, because 0 would look like a mark.

No text of a student is executed.  In tables an apostrophe is put before everything that a
spreadsheet takes for a formula: =, +, -, @, a tab or a carriage return at the beginning of a cell.
A program that splits lines at another separator finds more cells; their beginnings are treated in
the same way (source: the page "CSV Injection" of OWASP).  Gradescope receives plain text
(docs/specs.md of gradescope/autograder_samples, commit af5dee4).
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace

from grader.classroom.report import class_findings
from grader.classroom.results import ClassResults
from grader.classroom.student_feedback import HIDDEN_CHECK_NOTICE, StudentView, student_view
from grader.model.classroom import (
    RESULTS_FORMAT,
    AssignedQuestion,
    ClassEntry,
    ClassSettings,
    round_points,
)
from grader.model.errors import UsageError, did_you_mean
from grader.model.report import PartResult, Verdict
from grader.reports.blocks import render_text
from grader.reports.grade_sentences import failing_required_checks
from grader.reports.json import to_json
from grader.reports.text_layout import LINE_LIMIT, escape_line, escape_text

CsvCell = str | int | float | None
JsonObject = dict[str, object]


def export(
    results: ClassResults, format: str, *, student: str | None = None, wide: bool = False
) -> Iterator[str]:
    """Give the counting entries of a class, or of one student, in pieces of text.

    The format is csv (with `wide`, a row for each student), jsonl, or gradescope, which is for one
    student. For gradescope, `student` may be None if the class has only one; otherwise it is a
    UsageError, as is an unknown student.
    """
    students = results.all_students()
    if student is None and format == "gradescope":
        if len(students) != 1:
            raise UsageError(
                f"--{format} is for one student, found {len(students):,}",
                hint="--student NAME says who is meant",
            )
        student = students[0]
    if student is not None and student not in students:
        raise UsageError(
            f"{results.folder}: no student {student}{did_you_mean(student, students)}",
            hint="drill class report lists everybody",
        )
    entries = (
        entry
        for entry in results.counting_entries()
        if student is None or entry.hand_in.student == student
    )
    settings = results.class_settings
    if format == "csv":
        yield from csv_rows(wide_rows(entries, settings) if wide else long_rows(entries))
    elif format == "jsonl":
        for entry in entries:
            yield f"{entry_line(entry)}\n"
    else:
        by_question = {entry.question.id: entry for entry in entries}
        yield to_json_text(gradescope_result(settings.questions, by_question))


def to_json_text(content: object) -> str:
    """Return plain data as indented strict JSON in ASCII."""
    return f"{json.dumps(content, indent=2, allow_nan=False)}\n"


# Tables.

# An apostrophe is in the list to tell a student's from one of ours. The last four characters are
# the wide forms of East Asian keyboards.
_FORMULA_STARTS = "=+\\-@\t\r'\uff1d\uff0b\uff0d\uff20"
_BEFORE_FORMULA = re.compile(rf"(^[ \u00a0]*|[,;|\t\r\n\"][ \u00a0]*)(?=[{_FORMULA_STARTS}])")
_MAX_CELL_LENGTH = 40 * LINE_LIMIT  # half of the limit of spreadsheets


def csv_rows(table: Iterable[Sequence[CsvCell]]) -> Iterator[str]:
    """Give each row as one line of CSV, all text in quotes, None as an empty cell."""
    echo = SimpleNamespace(write=str)  # writerow returns what this returns
    writer = csv.writer(echo, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    for row in table:
        yield writer.writerow(map(escape_formula, row))


def escape_formula(value: CsvCell) -> CsvCell:
    """Return a text as one line, with an apostrophe before everything that may be a formula."""
    if not isinstance(value, str):
        return value
    return _BEFORE_FORMULA.sub(r"\1'", escape_line(value, _MAX_CELL_LENGTH))


def long_rows(entries: Iterable[ClassEntry]) -> Iterator[Sequence[CsvCell]]:
    """Give the names of the columns, then a row for each student and question."""
    columns = (
        "student", "name", "email", "question", "points", "of", "weight", "verdict", "parts",
        "misconceptions", "late", "when", "sha256", "file", "seed", "note",
    )  # fmt: skip
    yield columns
    for entry in entries:
        report = entry.report
        row = _entry_fields(entry)
        row["when"] = row["at"]
        row["late"] = "late" if entry.late else ""
        if report is not None:
            row["parts"] = ", ".join(
                f"{part.id} {part.verdict} {part.points}/{part.of}"
                for part in report.parts
                if part.of
            )
            row["seed"] = report.seed
            if not report.unchanged:
                row["misconceptions"] = " ".join(idea.id for idea in report.misconceptions)
        yield [row.get(column, "") for column in columns]


def wide_rows(
    entries: Iterable[ClassEntry], settings: ClassSettings
) -> Iterator[Sequence[CsvCell]]:
    """Give the names of the columns, then a row for each student with columns for each question."""
    columns = [
        f"{question.id}{suffix}"
        for question in settings.questions
        for suffix in ("", " verdict", " late", " note")
    ]
    yield ("student", "name", "email", "total", "of", *columns)
    for student in class_findings(settings, entries).students:
        cells: list[CsvCell] = []
        for result in student.results:
            late = "late" if result.late else ""
            cells += [result.points, result.verdict, late, result.note]
        max_points = settings.max_points
        yield (student.id, student.name, student.email, student.points, max_points, *cells)


def entry_line(entry: ClassEntry) -> str:
    """Return an entry as one line of strict JSON in ASCII; `points` is null if it is not graded."""
    report = None if entry.report is None else to_json(entry.report)
    content = {"format": RESULTS_FORMAT, **_entry_fields(entry), "report": report}
    return json.dumps(content, allow_nan=False, separators=(",", ":"))


def _entry_fields(entry: ClassEntry) -> dict[str, CsvCell]:
    """Return the fields of an entry without its report; each is a number, a text or None."""
    question = entry.question
    hand_in = entry.hand_in
    return {
        "student": hand_in.student, "name": hand_in.name, "email": hand_in.email,
        "question": question.id, "title": question.title, "digest": question.digest,
        "points": entry.points, "of": question.of, "weight": question.weight,
        "verdict": entry.verdict, "note": entry.note, "by_hand": entry.override is not None,
        "late": entry.late, "at": hand_in.at, "file": hand_in.path, "sha256": hand_in.sha256,
    }  # fmt: skip


# Gradescope: each part is a test with a score, and its text says what fails. No hidden check is a
# test: a hidden test would hide the student's total as well.

_TEXT: JsonObject = {"output_format": "text", "visibility": "visible"}
_FRAME: JsonObject = {
    **_TEXT,
    "test_output_format": "text",
    "test_name_format": "text",
    "stdout_visibility": "hidden",
}
_NOT_YOUR_FAULT = "This is not your fault, and it is not a zero: your instructor has to look at it."


def gradescope_result(
    questions: Sequence[AssignedQuestion], entries: Mapping[str, ClassEntry]
) -> JsonObject:
    """Return the `results.json` of one student, from their counting entries by question.

    If one of them has no points yet, the whole result is "NOT GRADED".
    """
    ungraded = [entry.note for entry in entries.values() if entry.points is None]
    if ungraded:
        return ungraded_result("; ".join(dict.fromkeys(ungraded)))
    notes: list[str] = []
    if any(entry.late for entry in entries.values()):
        notes.append("It came after the deadline.")
    for entry in entries.values():
        if entry.adjustment_note or (entry.report and entry.note):
            notes.append(f"{entry.question.id}: {entry.note}.")
    result = dict(_FRAME)
    if notes:
        result["output"] = escape_text("\n".join(notes))
    if any(entry.adjustment_note for entry in entries.values()):
        # Without it, Gradescope would sum up the tests, which have the earned points.
        points = (entry.question.weighted_points(entry.points or 0) for entry in entries.values())
        result["score"] = round_points(sum(points))
    seconds = sum(entry.report.seconds for entry in entries.values() if entry.report is not None)
    result["execution_time"] = round(seconds, 3)
    result["tests"] = [
        test for question in questions for test in _tests(question, entries.get(question.id))
    ]
    return result


def ungraded_result(reason: str, instructor: str = "") -> JsonObject:
    """Return a `results.json` without a grade: the reason, and advice for the instructor.

    It has no score: even 0 would count as the student's mark.
    """
    output = f"{_NOT_YOUR_FAULT}\n\nWhy: {escape_text(reason) or 'unknown'}"
    if instructor:
        output += f"\n\nTo the instructor: {escape_text(instructor)}"
    test = {"name": "NOT GRADED", "status": "failed", "output": output, **_TEXT}
    return {**_FRAME, "output": f"NOT GRADED. {_NOT_YOUR_FAULT}", "tests": [test]}


def _tests(question: AssignedQuestion, entry: ClassEntry | None) -> Iterator[JsonObject]:
    """Give a Gradescope test for each part that counts, or a failed one if nothing was graded."""
    report = entry.report if entry is not None else None
    if report is None:
        suffix = "txt" if question.is_text else "py"
        output = f"nothing handed in: expected a file {question.id}.{suffix}"
        if entry is not None and entry.hand_in.fault:
            output = escape_line(entry.hand_in.fault) or output
        part = PartResult(question.id, Verdict.FAIL, 0, question.of)
        yield _test(question, question.id, part, output)
        return
    view = student_view(report, question.hidden)
    for number, part in enumerate(report.parts, 1):
        if number in question.parts:
            name = f"{question.id}, part {number}" if len(question.parts) > 1 else question.id
            output, ideas = _part_output(number, part, view)
            yield _test(question, name, part, output) | {"tags": ideas}


def _part_output(number: int, part: PartResult, view: StudentView) -> tuple[str, list[str]]:
    """Return the text on a part, and the ids of its ideas.

    The part with the first failing check has the feedback on the whole report; later parts only
    list their failing checks.
    """
    output = ""
    ideas: list[str] = []
    failing = failing_required_checks(view.report)
    if part.verdict is Verdict.PASS:
        output = "It passes."
    elif part.verdict is Verdict.SKIPPED:
        output = "Not asked yet: a part before it does not pass."
    elif not failing or failing[0].part == number:
        output = render_text(view.feedback_blocks())
        if not view.report.unchanged:
            ideas = [idea.id for idea in view.report.misconceptions]
    else:
        names = [check.id for check in failing if check.part == number]
        if names:
            output = f"Fails: {', '.join(names)}.\n"
    if number in view.parts_failed_by_hidden_checks:
        output += HIDDEN_CHECK_NOTICE
    return output.strip(), ideas


def _test(question: AssignedQuestion, name: str, part: PartResult, output: str) -> JsonObject:
    return {
        "name": name,
        "score": question.weighted_points(part.points),
        "max_score": question.weighted_points(part.of),
        "status": "passed" if part.verdict is Verdict.PASS else "failed",
        "output": output,
        **_TEXT,
    }
