"""What Gradescope reads as the result of a submission: `results.json`.

Source: docs/specs.md of gradescope/autograder_samples, commit af5dee4.  A test with a score per
part; what fails is said in its text.  Nothing hidden becomes a test: one that is hidden would hide
the student's total as well.  That a hidden check does not pass is said in the text of its part.
All text is plain, so that nothing of a student's is taken for HTML or Markdown.

Where the grader is at fault there is no score anywhere: any number would be the student's zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from grader.model.classroom import Entry, Posed
from grader.model.report import Report
from grader.model.verdict import Verdict
from grader.reports.class_rows import NOT_GRADED, NOTHING, note, weighted
from grader.reports.class_shown import may_see, part_lines
from grader.reports.inert import harmless, inert

Json = dict[str, object]
TEXT, VISIBLE = "text", "visible"
NOT_YOURS = "This is not your fault, and it is not a zero: your instructor has to look at it."


def results(asked: Sequence[Posed], entries: Mapping[str, Entry]) -> Json:
    """The result of one student: what counts of each question that was asked, by its id."""
    faults = [e for e in entries.values() if e.points is None]
    if faults:
        return not_graded("; ".join(dict.fromkeys(note(entry) for entry in faults)))
    tests = [
        test
        for number, posed in enumerate(asked, 1)
        for test in _tests(posed, entries.get(posed.id), str(number) if len(asked) > 1 else "")
    ]
    seconds = [e.report.seconds for e in entries.values() if e.report is not None]
    late = any(entry.late for entry in entries.values())
    return {
        **_frame("It came after the deadline." if late else ""),
        "execution_time": round(sum(seconds), 3),
        "tests": tests,
    }


def not_graded(reason: str, instructor: str = "") -> Json:
    """The result where a grade came to no end: why, and what the instructor has to do."""
    said = f"{NOT_YOURS}\n\nWhy: {harmless(reason) or 'unknown'}"
    if instructor:
        said += f"\n\nTo the instructor: {harmless(instructor)}"
    test = {"name": NOT_GRADED.upper(), "status": "failed", "output": said,
            "output_format": TEXT, "visibility": VISIBLE}  # fmt: skip
    return {**_frame(f"{NOT_GRADED.upper()}. {NOT_YOURS}"), "tests": [test]}


def _frame(output: str) -> Json:
    frame: Json = {
        "output_format": TEXT, "test_output_format": TEXT, "test_name_format": TEXT,
        "visibility": VISIBLE, "stdout_visibility": "hidden",
    }  # fmt: skip
    return frame | ({"output": output} if output else {})


def _tests(posed: Posed, entry: Entry | None, question: str) -> Iterator[Json]:
    report = entry.report if entry is not None else None
    if report is None:
        reason = entry.handed.fault if entry is not None else ""
        said = inert(reason) or f"{NOTHING}: expected a file {posed.id}.py"
        yield _test(posed.id, question or "1", 0, posed, posed.of, said, passes=False)
        return
    for number in posed.parts:
        if number > len(report.parts):
            continue
        part = report.parts[number - 1]
        several = len(posed.parts) > 1
        name = f"{posed.id}, part {number}" if several else posed.id
        place = ".".join(filter(None, [question, str(number) if several or not question else ""]))
        said = "\n".join(part_lines(report, number, posed.hidden))
        passes = part.verdict is Verdict.PASS
        test = _test(name, place, part.points, posed, part.of, said, passes=passes)
        yield test | {"tags": _tags(report, posed)}


def _tags(report: Report, posed: Posed) -> list[str]:
    """Names of ideas, by which an instructor can search, where they stand in the text as well."""
    seen = may_see(report, posed.hidden)
    return [] if report.unchanged else [idea.id for idea in seen.misconceptions]


def _test(
    name: str, number: str, points: int, posed: Posed, of: int, said: str, *, passes: bool
) -> Json:
    return {
        "name": name,
        "number": number,
        "score": weighted(points, posed),
        "max_score": weighted(of, posed),
        "status": "passed" if passes else "failed",
        "output": said,
        "output_format": TEXT,
        "visibility": VISIBLE,
    }
