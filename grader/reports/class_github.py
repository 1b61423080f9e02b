"""What the reporter of GitHub Classroom reads: the step output `result`, base64 of JSON.

Source: src/main.js of classroom-resources/autograding-command-grader, commit 7712c71, and
src/main.js, src/console-results.js, src/notify-classroom.js of
classroom-resources/autograding-grading-reporter, commit 43c2d9f.  It adds the scores of all tests,
passes over a result whose `max_score` is 0, and prints messages.  What is printed in a workflow
may be a command to it (`::notice title=Autograding report::` sets the points), so no text of a
student's may begin one.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence

from grader.model.classroom import Entry, Posed
from grader.model.verdict import Verdict
from grader.reports.class_rows import NOT_GRADED, NOTHING, note, weighted
from grader.reports.class_shown import part_lines
from grader.reports.inert import inert

Json = dict[str, object]
_LONGEST = 1500  # characters of a message


def result(asked: Sequence[Posed], entries: Mapping[str, Entry]) -> Json:
    """The result of one student; with a maximum of 0, which counts for nothing, if not graded."""
    faults = [entry for entry in entries.values() if entry.points is None]
    if faults:
        return not_graded("; ".join(dict.fromkeys(note(entry) for entry in faults)))
    tests = [test for posed in asked for test in _tests(posed, entries.get(posed.id))]
    passes = all(test["status"] == "pass" for test in tests)
    most = round(sum(weighted(posed.of, posed) for posed in asked), 6)
    return {"version": 1, "status": "pass" if passes else "fail", "max_score": most, "tests": tests}


def not_graded(reason: str) -> Json:
    """The result where a grade came to no end."""
    said = f"not graded, which is not your fault: {reason}"
    return {
        "version": 1, "status": "error", "max_score": 0,
        "tests": [_test(NOT_GRADED, "error", 0, said, 0.0)],
    }  # fmt: skip


def encoded(result: Json) -> str:
    """A result as the value of a step's output."""
    return base64.b64encode(json.dumps(result, allow_nan=False).encode()).decode("ascii")


def log(result: Json) -> list[str]:
    """What a workflow's log may show of a result, a line each."""
    tests = result["tests"]
    listed = tests if isinstance(tests, list) else []
    lines = [f"{one['status']}  {one['name']}  {one['score']} points" for one in listed]
    said = [str(one["message"]) for one in listed]
    return [line for pair in zip(lines, said, strict=True) for line in pair if line]


def tame(text: str) -> str:
    """One line that is no command of a workflow, wherever on a line it is printed."""
    said = inert(text, _LONGEST)
    while "::" in said or "##[" in said:
        said = said.replace("::", ": :").replace("##[", "# #[")
    return said


def _tests(posed: Posed, entry: Entry | None) -> Iterator[Json]:
    report = entry.report if entry is not None else None
    if report is None:
        said = (entry.handed.fault if entry is not None else "") or f"{NOTHING}: {posed.id}.py"
        yield _test(posed.id, "fail", 0, said, 0.0)
        return
    for number in posed.parts:
        if number > len(report.parts):
            continue
        part = report.parts[number - 1]
        name = f"{posed.id}, part {number}" if len(posed.parts) > 1 else posed.id
        passes = part.verdict is Verdict.PASS
        said = "" if passes else " ".join(map(str.strip, part_lines(report, number, posed.hidden)))
        score = weighted(part.points, posed)
        seconds = report.seconds if number == posed.parts[0] else 0.0
        yield _test(name, "pass" if passes else "fail", score, said, seconds)


def _test(name: str, status: str, score: float, message: str, seconds: float) -> Json:
    return {
        "name": tame(name), "status": status, "score": score, "message": tame(message),
        "test_code": "", "filename": "", "line_no": 0, "duration": round(1000 * seconds),
    }  # fmt: skip
