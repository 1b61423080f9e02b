"""A report for a person at a terminal.

The verdict comes first, then the smallest thing that shows the fault, the idea behind it,
the next step.

`render_report` is a pure function of the report and of what the command knows about the
session.  Nothing of a submission is ever read as markup or sent to the terminal raw.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rich.console import RenderableType
from rich.text import Text

from grader.model.numerals import duration
from grader.model.question import Question
from grader.model.report import Report
from grader.model.verdict import Verdict
from grader.reports.detail import detail_lines, raised_lines
from grader.reports.headline import check_lines, decides, pass_lines, verdict_line
from grader.reports.ideas import idea_lines
from grader.reports.inert import inert, inert_lines
from grader.reports.page import (
    INDENT,
    NARROWEST,
    Line,
    Page,
    cut,
    hanging,
    heading,
    measure,
    paragraph,
)
from grader.reports.palette import QUIET, RIGHT, STRONG
from grader.reports.question import part_lines

_PRINTED_LINES = 6
_NOT_WALLED_OFF = (
    "isolation {level}: on this machine a submission is not walled off completely; drill doctor "
    "shows what it could do"
)


def render_report(
    report: Report,
    *,
    width: int,
    repeat: str,
    footer: Sequence[str] = (),
    heading_note: str = "",
    pass_note: str = "",
    filename: str = "",
) -> RenderableType:
    """A report as a page of at most `width` columns.

    Args:
        report: what the grade found.
        width: columns of the window; prose stays within 100 of them.
        repeat: the command that repeats these numbers, e.g. "drill grade --seed 8121".
        footer: next steps, e.g. "drill hint for a nudge".
        heading_note: stands at the right of the title before the time, e.g. "attempt 3".
        pass_note: stands behind the figures of a pass, e.g. "21 minutes since start".
        filename: of the submission, for the places in a traceback; without it "line 14".
    """
    width = max(width, NARROWEST)
    question, title = inert(report.question, 80), inert(report.title, 100)
    right = ", ".join(filter(None, [inert(heading_note, 60), duration(report.seconds)]))
    parts: list[Iterable[Line]] = [heading(question, title, right, measure(width))]
    steps = list(footer)
    if report.verdict is Verdict.PASS:
        parts.append(pass_lines(report, measure(width), pass_note))
    else:
        parts += _trouble(report, width, filename)
        steps.append(f"{repeat} repeats these numbers")
    return Page.of([*parts, *_ending(report, measure(width), steps)])


def render_passed(
    report: Report, question: Question, number: int, *, width: int, filename: str
) -> RenderableType:
    """That the parts before one pass, and what the interviewer asks next; not what fails in it."""
    across = measure(max(width, NARROWEST))
    passed = report.parts_passed
    points = sum(part.points for part in report.parts)
    said = f"{inert(filename, 60)}   {inert(question.id, 80)}, part {passed} of {len(report.parts)}"
    label = ("PASS  ", f"bold {RIGHT}")
    return Page.of(
        [
            hanging((label,), f"{said}, {points} points", across),
            part_lines(question, number, across),
        ]
    )


def render_rest(shown: Report, report: Report, *, width: int) -> RenderableType | None:
    """What was found after a page on the same grade was shown; None where that is nothing."""
    known = {explanation.text for explanation in shown.explanations}
    more = replace(
        report,
        misconceptions=tuple(m for m in report.misconceptions if m not in shown.misconceptions),
        explanations=tuple(e for e in report.explanations if e.text not in known),
    )
    if not (more.misconceptions or more.explanations):
        return None
    return Page.of([idea_lines(more, measure(max(width, NARROWEST)))])


def _trouble(report: Report, width: int, filename: str) -> Iterator[Iterable[Line]]:
    """Everything a report has to say that is not a pass."""
    if report.message or report.raised:
        yield verdict_line(report, measure(width))
    if report.raised:
        yield raised_lines(report.raised, width, filename)
    yield check_lines(report.checks, measure(width))
    deciding = [c for c in report.checks if decides(c)]
    yield from (detail_lines(check, width, filename) for check in deciding[:1])
    yield idea_lines(report, measure(width))
    if report.note:
        yield paragraph(inert(report.note, 200), measure(width))
    if report.printed.strip():
        yield _printed(report.printed, width)


def _ending(report: Report, width: int, steps: Sequence[str]) -> Iterator[list[Text]]:
    """The question to think about, what to type next, and what the machine lacks."""
    ask = " ".join(report.follow_up.split())
    follow_up = hanging((("Think about: ", STRONG),), ask, width) if report.follow_up else []
    yield [*follow_up, *(paragraph("; ".join(steps), width) if steps else [])]
    if report.isolation not in {"strong", ""}:  # nothing of the file was run where it is empty
        yield paragraph(_NOT_WALLED_OFF.format(level=inert(report.isolation, 20)), width)


def _printed(printed: str, width: int) -> Iterator[Text]:
    shown, before = inert_lines(printed, _PRINTED_LINES)
    part = f" (the last {len(shown)} of {before + len(shown):,} lines)" if before else ""
    yield Text(f"your code printed{part}", QUIET)
    for line in shown:
        yield Text(" " * INDENT).append(cut(line, width - INDENT), QUIET)
