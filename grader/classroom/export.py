r"""What counts in a class, written for other programs; every format from the same entries.

Where the grader is at fault there are no points anywhere: that is no zero.  Nothing of a student's
acts: in tables an apostrophe stands before what a spreadsheet takes for a formula (=, +, -, @, a
tab or a carriage return at the beginning of a cell, also of one that a program with another
separator begins; source: the page "CSV Injection" of OWASP), and Gradescope is given plain text
(docs/specs.md of gradescope/autograder_samples, commit af5dee4).
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import SimpleNamespace

from grader.classroom.report import class_findings
from grader.classroom.results import ClassResults
from grader.classroom.student_feedback import HIDDEN_CHECK_NOTICE, student_view
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
from grader.reports.json import to_json
from grader.reports.sentences import failing_required_checks
from grader.reports.text_layout import LINE_LIMIT, escape_line, escape_text

CsvCell = str | int | float | None
JsonObject = dict[str, object]


def export(
    results: ClassResults, format: str, *, student: str | None = None, wide: bool = False
) -> Iterator[str]:
    """Give what counts in a class, or of one student of it, in pieces of text.

    The format is csv (`wide`: a row per student, not per student and question), jsonl, or
    gradescope, which is of one student.
    """
    everybody = results.all_students()
    if student is None and format == "gradescope":
        if len(everybody) != 1:
            raise UsageError(
                f"--{format} is for one student, found {len(everybody):,}",
                hint="--student NAME says who is meant",
            )
        student = everybody[0]
    if student is not None and student not in everybody:
        raise UsageError(
            f"{results.folder}: no student {student}{did_you_mean(student, everybody)}",
            hint="drill class report lists everybody",
        )
    entries = (e for e in results.counting_entries() if student in {None, e.hand_in.student})
    if format == "csv":
        yield from csv_rows(
            wide_rows(entries, results.class_settings) if wide else long_rows(entries)
        )
    elif format == "jsonl":
        yield from (f"{entry_line(entry)}\n" for entry in entries)
    else:
        yield to_json_text(
            gradescope_result(results.class_settings.questions, {e.question.id: e for e in entries})
        )


def to_json_text(content: object) -> str:
    """A document of strict JSON in ASCII."""
    return f"{json.dumps(content, indent=2, allow_nan=False)}\n"


# Tables. An apostrophe is among what begins a formula, so that a student's own can be told from one
# of ours; the last four are the wide forms of East Asian keyboards.
_BEGINS = "=+\\-@\t\r'\uff1d\uff0b\uff0d\uff20"
_PLACES = re.compile(rf"(^[ \u00a0]*|[,;|\t\r\n\"][ \u00a0]*)(?=[{_BEGINS}])")
_MOST = 40 * LINE_LIMIT  # characters of a cell: half of what a spreadsheet takes


def csv_rows(table: Iterable[Sequence[CsvCell]]) -> Iterator[str]:
    """Each row as one line of CSV, all text in quotes, None as an empty cell."""
    echo = SimpleNamespace(write=str)  # writerow returns what this does
    writer = csv.writer(echo, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    for row in table:
        yield writer.writerow(map(escape_formula, row))


def escape_formula(value: CsvCell) -> CsvCell:
    """A cell in which nothing is a formula, wherever a program begins one."""
    return _PLACES.sub(r"\1'", escape_line(value, _MOST)) if isinstance(value, str) else value


def long_rows(entries: Iterable[ClassEntry]) -> Iterator[Sequence[CsvCell]]:
    """One row per student and question, the names of the columns first."""
    yield (
        "student", "name", "email", "question", "points", "of", "weight", "verdict", "parts",
        "misconceptions", "late", "when", "sha256", "file", "seed", "note",
    )  # fmt: skip
    for entry in entries:
        handed = entry.hand_in
        report = entry.report
        question = entry.question
        parts = [part for part in report.parts if part.of] if report else []
        ideas = report.misconceptions if report and not report.unchanged else ()
        yield (
            handed.student, handed.name, handed.email, question.id, entry.points, question.of,
            question.weight, entry.verdict,
            ", ".join(f"{part.id} {part.verdict} {part.points}/{part.of}" for part in parts),
            " ".join(idea.id for idea in ideas),
            "late" if entry.late else "", handed.at, handed.sha256, handed.path,
            report.seed if report else "", entry.note,
        )  # fmt: skip


def wide_rows(entries: Iterable[ClassEntry], terms: ClassSettings) -> Iterator[Sequence[CsvCell]]:
    """One row per student, with columns for each question."""
    more = ("", " verdict", " late", " note")
    names = [f"{q.id}{name}" for q in terms.questions for name in more]
    yield ("student", "name", "email", "total", "of", *names)
    for one in class_findings(terms, entries).students:
        cells = [(r.points, r.verdict, "late" if r.late else "", r.note) for r in one.results]
        yield (one.id, one.name, one.email, one.points, terms.max_points, *chain(*cells))


def entry_line(entry: ClassEntry) -> str:
    """An entry as one line of strict JSON in ASCII; `points` is null where nothing is graded."""
    question = entry.question
    handed = entry.hand_in
    report = entry.report
    content = {
        "format": RESULTS_FORMAT,
        "student": handed.student, "name": handed.name, "email": handed.email,
        "question": question.id, "title": question.title, "digest": question.digest,
        "points": entry.points, "of": question.of, "weight": question.weight,
        "verdict": entry.verdict, "note": entry.note, "by_hand": entry.override is not None,
        "late": entry.late, "at": handed.at, "file": handed.path, "sha256": handed.sha256,
        "report": None if report is None else to_json(report),
    }  # fmt: skip
    return json.dumps(content, allow_nan=False, separators=(",", ":"))


# Gradescope: a test with a score per part; what fails is said in its text.  Nothing hidden becomes
# a test: one that is hidden would hide the student's total as well.
_TEXT: JsonObject = {"output_format": "text", "visibility": "visible"}
_FRAME: JsonObject = {
    **_TEXT,
    "test_output_format": "text",
    "test_name_format": "text",
    "stdout_visibility": "hidden",
}
_NOT_YOURS = "This is not your fault, and it is not a zero: your instructor has to look at it."


def gradescope_result(
    asked: Sequence[AssignedQuestion], entries: Mapping[str, ClassEntry]
) -> JsonObject:
    """The result of one student: what counts of each question that was asked, by its id."""
    if faults := [e.note for e in entries.values() if e.points is None]:
        return ungraded_result("; ".join(dict.fromkeys(faults)))
    seconds = sum(e.report.seconds for e in entries.values() if e.report is not None)
    notable = (e for e in entries.values() if e.adjustment_note or (e.report and e.note))
    said = [f"{entry.question.id}: {entry.note}." for entry in notable]
    total = round_points(sum(e.question.weighted_points(e.points or 0) for e in entries.values()))
    if any(entry.late for entry in entries.values()):
        said.insert(0, "It came after the deadline.")
    return {
        **_FRAME,
        **({"output": escape_text("\n".join(said))} if said else {}),
        # In the place of the sum of the tests, which say what was earned.
        **({"score": total} if any(e.adjustment_note for e in entries.values()) else {}),
        "execution_time": round(seconds, 3),
        "tests": [test for one in asked for test in _tests(one, entries.get(one.id))],
    }


def ungraded_result(reason: str, instructor: str = "") -> JsonObject:
    """The result where a grade could not finish: why, and what the instructor has to do.

    There is no score anywhere: any number would be the student's zero.
    """
    said = f"{_NOT_YOURS}\n\nWhy: {escape_text(reason) or 'unknown'}"
    if instructor:
        said += f"\n\nTo the instructor: {escape_text(instructor)}"
    test = {"name": "NOT GRADED", "status": "failed", "output": said, **_TEXT}
    return {**_FRAME, "output": f"NOT GRADED. {_NOT_YOURS}", "tests": [test]}


def _tests(question: AssignedQuestion, entry: ClassEntry | None) -> Iterator[JsonObject]:
    """A test for each part that counts, or one where nothing was graded."""
    report = entry.report if entry is not None else None
    if report is None:
        reason = escape_line(entry.hand_in.fault) if entry is not None else ""
        ends = "txt" if question.is_text else "py"
        said = reason or f"nothing handed in: expected a file {question.id}.{ends}"
        part = PartResult(question.id, Verdict.FAIL, 0, question.of)
        yield _test(question, question.id, part, said)
        return
    shown = student_view(report, question.hidden)
    failing = failing_required_checks(shown.report)
    for number in question.parts:
        if number > len(report.parts):
            continue
        part = report.parts[number - 1]
        ideas = list[str]()
        said = ""
        if part.verdict is Verdict.PASS:
            said = "It passes."
        elif part.verdict is Verdict.SKIPPED:
            said = "Not asked yet: a part before it does not pass."
        elif not failing or failing[0].part == number:
            said = render_text(shown.feedback_blocks())
            ideas = [] if report.unchanged else [i.id for i in shown.report.misconceptions]
        elif names := [check.id for check in failing if check.part == number]:
            said = f"Fails: {', '.join(names)}.\n"
        said += HIDDEN_CHECK_NOTICE if number in shown.parts_failed_by_hidden_checks else ""
        name = f"{question.id}, part {number}" if len(question.parts) > 1 else question.id
        yield _test(question, name, part, said.strip()) | {"tags": ideas}


def _test(question: AssignedQuestion, name: str, part: PartResult, said: str) -> JsonObject:
    return {
        "name": name,
        "score": question.weighted_points(part.points),
        "max_score": question.weighted_points(part.of),
        "status": "passed" if part.verdict is Verdict.PASS else "failed",
        "output": said,
        **_TEXT,
    }
