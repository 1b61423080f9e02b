"""Hand-built reports, one for every shape of a page.  No clock, no grading."""

from __future__ import annotations

from grader.model.report import Report
from grader.model.verdict import Verdict
from grader.reports.grade import Around
from tests.reports import other_ends, wrong_values

SCENARIOS: dict[str, Report] = {
    name: value
    for name, value in sorted({**vars(wrong_values), **vars(other_ends)}.items())
    if isinstance(value, Report) and name.islower() and not name.startswith("_")
}


def around(name: str) -> Around:
    """What a command adds to the page of a scenario."""
    report = SCENARIOS[name]
    time = "22 minutes (25 planned), 1 hint"
    if name == "part_1_passes":
        steps: tuple[str, ...] = ("drill grade",)
        return Around("submission.py", 6, time, steps=steps, asked=2, request=other_ends.REQUEST)
    passed = report.verdict is Verdict.PASS
    steps = ("drill solution", "drill next") if passed else ("drill case CASE", "drill hint")
    return Around("submission.py", 6, time, steps=steps)
