r"""What counts in a class, written for other programs; every format from the same entries.

Where the grader is at fault there are no points anywhere: that is no zero.  Nothing of a student's
acts: in tables an apostrophe stands before what a spreadsheet takes for a formula (=, +, -, @, a
tab or a carriage return at the beginning of a cell, also of one that a program with another
separator begins; source: the page "CSV Injection" of OWASP), XML is escaped, and Gradescope is
given plain text.

JUnit XML has no official description.  What is written is what the schema of Jenkins
(junit-4.xsd) and github.com/testmoapp/junitxml have in common.  Gradescope: docs/specs.md of
gradescope/autograder_samples, commit af5dee4.
"""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from grader.classroom.feedback import UNSEEN, visible
from grader.classroom.results import Results
from grader.model.classroom import RESULTS_FORMAT, AssignedQuestion, Entry, HandIn, Terms
from grader.model.errors import UsageError, closest
from grader.model.report import FINE, CheckResult, Report, Verdict
from grader.reports.blocks import render_text
from grader.reports.grade import told
from grader.reports.json import to_json, withheld
from grader.reports.sheet import LINE_LIMIT, harmless, inert
from grader.reports.words import deciding

FORMATS = ("csv", "jsonl", "junit", "gradescope")
NOTHING = "nothing handed in"
Cell = str | int | float | None
Json = dict[str, object]


def export(
    results: Results, format: str, *, student: str | None = None, wide: bool = False
) -> Iterator[str]:
    """Give what counts in a class in a format, in pieces of text.

    Args:
        results: of `drill class grade`.
        format: one of FORMATS.
        student: whose alone; Gradescope's is of one student and needs it where there are several.
        wide: of csv: a row per student, rather than per student and question.

    Raises:
        UsageError: There is no such student, or it is not clear who is meant.
    """
    everybody = results.students()
    if student is None and format == "gradescope":
        if len(everybody) != 1:
            text = f"--{format} is for one student, found {len(everybody):,}"
            raise UsageError(text, hint="--student NAME says who is meant")
        student = everybody[0]
    if student is not None and student not in everybody:
        near = closest(student, everybody)
        hint = f"did you mean {near}?" if near else "drill class report lists everybody"
        raise UsageError(f"{results.folder}: no student {student}", hint=hint)
    entries = (e for e in results.entries() if student in {None, e.handed.student})
    terms = results.terms
    if format == "csv":
        yield from rows(wide_rows(entries, terms) if wide else long_rows(entries))
    elif format == "jsonl":
        yield from (f"{line(entry)}\n" for entry in entries)
    elif format == "junit":
        yield from junit(entries, terms)
    else:
        yield dumped(gradescope(terms.questions, {e.question.id: e for e in entries}))


def dumped(content: object) -> str:
    """A document of strict JSON in ASCII."""
    return f"{json.dumps(content, indent=2, allow_nan=False)}\n"


# Tables. An apostrophe is among what begins a formula, so that a student's own can be told from one
# of ours; the last four are the wide forms of East Asian keyboards.
_BEGINS = "=+\\-@\t\r'\uff1d\uff0b\uff0d\uff20"
_PLACES = re.compile(rf"(^[ \u00a0]*|[,;|\t\r\n\"][ \u00a0]*)(?=[{_BEGINS}])")
_MOST = 40 * LINE_LIMIT  # characters of a cell: half of what a spreadsheet takes


def rows(table: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Each row as one line of CSV, all text in quotes, None as an empty cell."""
    for row in table:
        text = io.StringIO()
        writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(["" if c is None else no_formula(c) for c in row])
        yield text.getvalue()


def no_formula(value: Cell) -> Cell:
    """A cell in which nothing is a formula, wherever a program begins one."""
    return _PLACES.sub(r"\1'", inert(value, _MOST)) if isinstance(value, str) else value


def long_rows(entries: Iterable[Entry]) -> Iterator[Sequence[Cell]]:
    """One row per student and question, the names of the columns first."""
    yield (
        "student", "name", "email", "question", "points", "of", "weight", "verdict", "parts",
        "misconceptions", "late", "when", "sha256", "file", "note",
    )  # fmt: skip
    for entry in entries:
        handed, report, question = entry.handed, entry.report, entry.question
        parts = [part for part in report.parts if part.of] if report else []
        yield (
            handed.student, handed.name, handed.email, question.id, entry.points, question.of,
            question.weight, entry.verdict,
            ", ".join(f"{part.id} {part.verdict} {part.points}/{part.of}" for part in parts),
            " ".join(idea.id for idea in report.misconceptions) if report else "",
            "late" if entry.late else "", handed.at, handed.sha256, handed.path, entry.note,
        )  # fmt: skip


def wide_rows(entries: Iterable[Entry], terms: Terms) -> Iterator[Sequence[Cell]]:
    """One row per student, with columns for each question and each part that counts."""
    columns: list[Cell] = ["student", "name", "email", "total", "of"]
    for question in terms.questions:
        columns += [question.id, f"{question.id} verdict", f"{question.id} late"]
        columns += [f"{question.id} part {number}" for number in question.parts]
    yield columns
    for _, group in groupby(entries, key=lambda entry: entry.handed.student):
        found = {entry.question.id: entry for entry in group}
        who = _named(found)
        total: float | None = 0.0
        cells: list[Cell] = []
        for question in terms.questions:
            entry = found.get(question.id)
            if entry is None:
                cells += [None, NOTHING, "", *(None for _ in question.parts)]
                continue
            earned = None if entry.points is None else question.weighted(entry.points)
            total = None if total is None or earned is None else total + earned
            cells += [entry.points, entry.verdict, "late" if entry.late else ""]
            cells += [_part_points(entry, number) for number in question.parts]
        whole = None if total is None else _whole(total)
        yield [who.student, who.name, who.email, whole, _whole(terms.of), *cells]


def _named(found: Mapping[str, Entry]) -> HandIn:
    named = [e.handed for e in found.values() if e.handed.name or e.handed.email]
    return (named or [next(iter(found.values())).handed])[0]


def _whole(value: float) -> float:
    value = round(value, 6)
    return int(value) if value == int(value) else value


def _part_points(entry: Entry, number: int) -> int | None:
    if entry.report is None:
        return 0 if entry.handed.fault else None
    parts = entry.report.parts
    return parts[number - 1].points if number <= len(parts) else 0


def line(entry: Entry) -> str:
    """An entry as one line of strict JSON in ASCII; `points` is null where nothing is graded."""
    question, handed, report = entry.question, entry.handed, entry.report
    content = {
        "format": RESULTS_FORMAT,
        "student": handed.student, "name": handed.name, "email": handed.email,
        "question": question.id, "title": question.title, "digest": question.digest,
        "points": entry.points, "of": question.of, "weight": question.weight,
        "verdict": entry.verdict, "note": entry.note,
        "late": entry.late, "at": handed.at, "file": handed.path, "sha256": handed.sha256,
        "report": None if report is None else to_json(report),
    }  # fmt: skip
    return json.dumps(content, allow_nan=False, separators=(",", ":"))


# JUnit XML: what ran and is wrong is a `failure`; what raised, was stopped or could not be read is
# an `error`, as is a grade that could not finish, with the type `not-graded`; what needs another
# check that did not pass is `skipped`, which holds text and has no attributes.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, 2.2
_ERRORS = {Verdict.ERROR, Verdict.LIMIT}
_LONGEST = 2000  # characters of a message


def junit(entries: Iterable[Entry], terms: Terms) -> Iterator[str]:
    """The whole document, piece by piece: a class is never in memory as a tree."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    root = ET.tostring(ET.Element("testsuites", name=_xml(terms.title or "drill")), "unicode")
    yield root.replace(" />", ">\n")
    for entry in entries:
        suite = _suite(entry)
        ET.indent(suite)
        yield f"{ET.tostring(suite, 'unicode')}\n"
    yield "</testsuites>\n"


def _suite(entry: Entry) -> ET.Element:
    handed, report = entry.handed, entry.report
    cases = list(_cases(entry))
    counts = {
        name: str(sum(case.find(tag) is not None for case in cases))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    name = _xml(f"{handed.student} / {entry.question.id}")
    suite = ET.Element("testsuite", {"name": name, "tests": str(len(cases)), **counts})
    if report is not None:
        suite.set("time", f"{report.seconds:.3f}")
    if entry.graded_at:
        suite.set("timestamp", entry.graded_at[:19])
    known = ET.SubElement(suite, "properties")
    values = [
        ("points", "" if entry.points is None else str(entry.points)),
        ("of", str(entry.question.of)), ("verdict", entry.verdict),
        ("late", str(entry.late).lower()), ("sha256", handed.sha256),
        *(("misconception", idea.id) for idea in (report.misconceptions if report else ())),
    ]  # fmt: skip
    for key, value in values:
        ET.SubElement(known, "property", name=key, value=_xml(value))
    suite.extend(cases)
    return suite


def _cases(entry: Entry) -> Iterator[ET.Element]:
    """A case for every check; one called `program` where what is wrong is of no check."""
    report = None if entry.report is None else withheld(entry.report)
    if entry.handed.fault:
        yield _case(entry, "program", "error", "no-program", entry.note)
        return
    if report is None:
        said = f"not graded, which is not the student's fault: {entry.note}"
        yield _case(entry, "program", "error", "not-graded", said)
        return
    decided = False
    for check in report.checks:
        tag, message = _outcome(check)
        decided = decided or tag in {"failure", "error"}
        yield _case(entry, check.id, tag, str(check.verdict), message)
    if not decided and report.verdict not in FINE:
        tag = "error" if report.verdict in _ERRORS else "failure"
        yield _case(entry, "program", tag, str(report.verdict), report.message)
    elif not report.checks:
        yield _case(entry, "program", "", "", "")


def _outcome(check: CheckResult) -> tuple[str, str]:
    """The tag of a check, nothing where it passes, and what is said of it."""
    if check.verdict is Verdict.SKIPPED:
        blocked = f"{check.blocked_by} did not pass" if check.blocked_by else check.message
        return "skipped", blocked
    if check.verdict in FINE:
        return "", check.message
    if check.stretch:  # it is reported and decides nothing, so it must not fail a build
        return "skipped", f"a goal beyond what is asked, missed: {check.message}"
    return "error" if check.verdict in _ERRORS else "failure", check.message


def _case(entry: Entry, name: str, tag: str, kind: str, message: str) -> ET.Element:
    classname = _xml(f"{entry.question.id}.{entry.handed.student}")
    case = ET.Element("testcase", name=_xml(name), classname=classname)
    if tag == "skipped":
        ET.SubElement(case, tag).text = _xml(message)
    elif tag:
        text = _ILLEGAL.sub("", harmless(message[: 4 * _LONGEST]))
        ET.SubElement(case, tag, type=kind, message=_xml(message)).text = text
    return case


def _xml(text: str) -> str:
    return _ILLEGAL.sub("", inert(text, _LONGEST))


# Gradescope: a test with a score per part; what fails is said in its text.  Nothing hidden becomes
# a test: one that is hidden would hide the student's total as well.
_TEXT: Json = {"output_format": "text", "visibility": "visible"}
_NOT_YOURS = "This is not your fault, and it is not a zero: your instructor has to look at it."


def gradescope(asked: Sequence[AssignedQuestion], entries: Mapping[str, Entry]) -> Json:
    """The result of one student: what counts of each question that was asked, by its id."""
    if faults := [e.note for e in entries.values() if e.points is None]:
        return not_graded("; ".join(dict.fromkeys(faults)))
    several = len(asked) > 1
    tests = [
        test
        for number, question in enumerate(asked, 1)
        for test in _tests(question, entries.get(question.id), str(number) if several else "")
    ]
    seconds = [e.report.seconds for e in entries.values() if e.report is not None]
    late = any(entry.late for entry in entries.values())
    return {
        **_frame("It came after the deadline." if late else ""),
        "execution_time": round(sum(seconds), 3),
        "tests": tests,
    }


def not_graded(reason: str, instructor: str = "") -> Json:
    """The result where a grade could not finish: why, and what the instructor has to do.

    There is no score anywhere: any number would be the student's zero.
    """
    said = f"{_NOT_YOURS}\n\nWhy: {harmless(reason) or 'unknown'}"
    if instructor:
        said += f"\n\nTo the instructor: {harmless(instructor)}"
    test = {"name": "NOT GRADED", "status": "failed", "output": said, **_TEXT}
    return {**_frame(f"NOT GRADED. {_NOT_YOURS}"), "tests": [test]}


def _frame(output: str) -> Json:
    formats = {"test_output_format": "text", "test_name_format": "text"}
    frame: Json = {**_TEXT, **formats, "stdout_visibility": "hidden"}
    return frame | ({"output": output} if output else {})


def _tests(question: AssignedQuestion, entry: Entry | None, place: str) -> Iterator[Json]:
    report = entry.report if entry is not None else None
    if report is None:
        reason = inert(entry.handed.fault) if entry is not None else ""
        said = reason or f"{NOTHING}: expected a file {question.id}.py"
        yield _test(question.id, place or "1", 0, question, question.of, said, passes=False)
        return
    for number in question.parts:
        if number > len(report.parts):
            continue
        part = report.parts[number - 1]
        several = len(question.parts) > 1
        name = f"{question.id}, part {number}" if several else question.id
        at = ".".join(filter(None, [place, str(number) if several or not place else ""]))
        said, ideas = _part(report, number, question.hidden)
        passes = part.verdict is Verdict.PASS
        test = _test(name, at, part.points, question, part.of, said, passes=passes)
        yield test | {"tags": ideas}


def _part(report: Report, number: int, hidden: Sequence[str]) -> tuple[str, list[str]]:
    """What is said to a student of one part, and the names of ideas that it holds."""
    shown = visible(report, hidden)
    verdict = report.parts[number - 1].verdict
    if verdict is Verdict.PASS:
        return "It passes.", []
    if verdict is Verdict.SKIPPED:
        return "Not asked yet: a part before it does not pass.", []
    failing = deciding(shown.report)
    first = not failing or failing[0].part == number
    complete = not (shown.left_out or shown.unseen)
    said = render_text(told(shown.report, complete=complete)) if first else ""
    ideas = [idea.id for idea in shown.report.misconceptions] if first else []
    if names := [check.id for check in failing if check.part == number and not first]:
        said += f"Fails: {', '.join(names)}.\n"
    if number in shown.unseen:
        said += UNSEEN
    return said.strip(), [] if report.unchanged else ideas


def _test(
    name: str, number: str, points: int, question: AssignedQuestion, of: int, said: str,
    *, passes: bool,
) -> Json:  # fmt: skip
    return {
        "name": name,
        "number": number,
        "score": question.weighted(points),
        "max_score": question.weighted(of),
        "status": "passed" if passes else "failed",
        "output": said,
        **_TEXT,
    }
