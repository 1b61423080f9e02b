"""A report for a person at a terminal.

The verdict comes first, then the smallest thing that shows the fault, the idea behind it,
the next step.

`render_report` is a pure function of the report and of what the command knows about the
session.  Nothing of a submission is ever read as markup or sent to the terminal raw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.text import Text

from grader.model.numerals import duration
from grader.model.report import Report
from grader.model.verdict import Verdict
from grader.reports.detail import detail_lines
from grader.reports.headline import check_lines, pass_lines, verdict_line
from grader.reports.ideas import idea_lines
from grader.reports.inert import inert, inert_lines
from grader.reports.page import NARROWEST, Line, Page, cut, hanging, measure, paragraph
from grader.reports.palette import QUIET, STRONG, decides
from grader.reports.raising import raised_lines

_INDENT = 4
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
    lines: list[Line] = [*_header(report, width, heading_note), Text()]
    passed = report.verdict is Verdict.PASS
    if passed:
        lines += pass_lines(report, measure(width), pass_note)
    else:
        lines += _trouble(report, width, filename)
    for section in _endings(report, measure(width), footer, "" if passed else repeat):
        lines += [Text(), *section]
    return Page(lines)


def _header(report: Report, width: int, note: str) -> list[Text]:
    """The question at the left, attempt and time at the right; two lines where one is short."""
    across = measure(width)
    name, title = inert(report.question, 80), inert(report.title, 100)
    right = ", ".join(filter(None, [inert(note, 60), duration(report.seconds)]))
    line = Text.assemble((name, STRONG), "  ", title)
    gap = across - line.cell_len - cell_len(right)
    if gap >= 2:
        return [line.append(" " * gap).append(right, QUIET)]
    first = line if line.cell_len <= across else hanging(((name, STRONG), ("  ", "")), title, width)
    below = Text(" " * max(0, across - cell_len(right))).append(right, QUIET)
    return [*(first if isinstance(first, list) else [first]), below]


def _trouble(report: Report, width: int, filename: str) -> list[Line]:
    """Everything a report has to say that is not a pass."""
    from grader.kinds.registry import get_or_plain

    lines: list[Line] = []
    if report.message or report.raised:
        lines += verdict_line(report, measure(width))
        if report.raised:
            lines += [Text(), *raised_lines(report.raised, width, filename), Text()]
    lines += check_lines(report.checks, measure(width))
    first = next((c for c in report.checks if decides(c)), None)
    if first is not None:
        lines += [Text(), *detail_lines(first, width, filename)]
    if report.misconceptions:
        failing = {case for c in report.checks if decides(c) for case in c.failing}
        measured = {c.id for c in report.checks if not get_or_plain(c.kind).judges_values}
        ideas = idea_lines(report.misconceptions, len(failing), measure(width), measured)
        lines += [Text(), *ideas]
    if report.note:
        lines += [Text(), *paragraph(inert(report.note, 200), measure(width))]
    if report.printed.strip():
        lines += [Text(), *_printed(report.printed, width)]
    return lines


def _printed(printed: str, width: int) -> list[Text]:
    shown, before = inert_lines(printed, _PRINTED_LINES)
    title = "your code printed"
    if before:
        title += f" (the last {len(shown)} of {before + len(shown):,} lines)"
    body = [Text(" " * _INDENT).append(cut(s, width - _INDENT), QUIET) for s in shown]
    return [Text(title, QUIET), *body]


def _endings(
    report: Report, width: int, footer: Sequence[str], repeat: str
) -> Iterator[list[Text]]:
    """The question to think about, and what to type next."""
    steps = [*footer, f"{repeat} repeats these numbers"] if repeat else list(footer)
    ending: list[Text] = []
    if report.follow_up:
        ask = " ".join(report.follow_up.split())
        ending += hanging((("Think about: ", STRONG),), ask, width)
    if steps:
        ending += paragraph("; ".join(steps), width)
    if ending:
        yield ending
    if report.isolation not in {"strong", ""}:  # nothing of the file was run where it is empty
        yield paragraph(_NOT_WALLED_OFF.format(level=inert(report.isolation, 20)), width)
