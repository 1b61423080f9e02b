"""The page of a pass: points and costs, or what the interviewer asks next."""

from __future__ import annotations

from collections.abc import Iterator

from grader.model.numerals import quantity
from grader.model.report import Report
from grader.reports import words
from grader.reports.around import Around, Request
from grader.reports.inert import inert
from grader.reports.page import flowing, hanging, paragraph
from grader.reports.text import Text

_UNDER = 6  # cells before what belongs to the first line
_QUESTION = 1000  # characters of one that is asked


def pass_sections(report: Report, around: Around, width: int, clauses: int) -> Iterator[list[Text]]:
    """The lines below the first one, in sections.

    Args:
        report: of a pass, or of one whose last part that was asked before passes.
        around: with the request of the next part, if there is one.
        width: cells of a line.
        clauses: how many of that part's are shown.
    """
    request = around.request
    yield [
        line
        for said in words.earned(report, around.time)
        for line in paragraph(said, width, indent=_UNDER)
    ]
    if request is not None:
        yield list(_asked(request, width, clauses))
    elif report.follow_up:
        ask = " ".join(report.follow_up.split())
        yield flowing("One more, without code:", inert(ask, _QUESTION), width)


def _asked(request: Request, width: int, clauses: int) -> Iterator[Text]:
    yield from paragraph(request.headline, width)
    yield from paragraph(" ".join(request.prompt.split()), width, indent=4)
    last = request.first + len(request.clauses) - 1
    for number, clause in list(enumerate(request.clauses, request.first))[:clauses]:
        lead = ((f"{number:{len(str(last))}} ", ""),)
        yield from hanging(lead, " ".join(clause.split()), width, indent=2)
    if (more := len(request.clauses) - clauses) > 0:
        yield Text(f"  {quantity(more, 'more clause')} in QUESTION.md")
    yield from paragraph(request.in_force, width)
