"""What is said to a student of each part of a question, where another program shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.model.report import Raised, Report
from grader.model.verdict import Verdict
from grader.reports import words
from grader.reports.blocks import render_text
from grader.reports.figures import trace
from grader.reports.hiding import seen
from grader.reports.inert import inert
from grader.reports.withheld import withheld

HIDDEN_FAILS = "A hidden check does not pass."
_LONGEST = 1500  # characters of a line


def may_see(report: Report, hidden: Sequence[str]) -> Report:
    """A report as its student may read it."""
    return seen(withheld(report), hidden).report


def part_lines(report: Report, number: int, hidden: Sequence[str]) -> Iterator[str]:
    """What is said of one part: what fails first and why, what else fails, what is not tried."""
    shown = seen(withheld(report), hidden)
    part = report.parts[number - 1]
    if part.verdict is Verdict.PASS:
        yield "It passes."
    elif not report.checks:
        yield _line(words.about_the_file(shown.report) or f"the verdict is {report.verdict}")
        yield from _trace(shown.report.raised)
    elif part.verdict is Verdict.SKIPPED:
        yield "Not asked yet: a part before it does not pass."
    else:
        yield from _failing(shown.report, number)
        if number in shown.unseen:
            yield HIDDEN_FAILS


def _failing(report: Report, number: int) -> Iterator[str]:
    failing = [check for check in words.deciding(report) if check.part == number]
    first = next(iter(failing), None)
    if words.keeps_back(report):
        yield words.STARTER
        if first is not None:
            yield _line(f"{first.id}: {words.symptom(first)}")
    elif first is not None:
        sentence = words.finding(first)
        yield _line(f"{first.id}: {sentence}")
        if (
            first.mismatch
            and not first.estimate
            and (said := words.entry(first.mismatch, sentence))
        ):
            yield _line(f"{said}.")
        yield from _trace(first.raised)
        for idea in words.ideas(report):
            yield _line(f"{idea.lead} {idea.text} {' '.join(idea.feedback.split())}".strip())
    if len(failing) > 1:
        yield f"Also fails: {', '.join(check.id for check in failing[1:])}."
    idle = [c.id for c in report.checks if c.part == number and c.verdict is Verdict.SKIPPED]
    if idle:
        yield f"Not tried: {', '.join(idle)}."


def _trace(raised: Raised | None) -> Iterator[str]:
    """The submission's own lines on the way to an exception, if there is one."""
    if raised is not None:
        yield from render_text(trace(raised, "")).splitlines()


def _line(text: str) -> str:
    return inert(text, _LONGEST)
