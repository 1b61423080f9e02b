"""The page of a report, as tests read it."""

from __future__ import annotations

from typing import Any

from grader.model.report import Report
from grader.reports import sheet
from grader.reports.blocks import render_text
from grader.reports.grade import Around, lines, page


def page_of(report: Report, width: int = 80, *, aloud: bool = False, **around: Any) -> str:
    """What a terminal of that width shows, without styles; or what a screen reader is given."""
    here = Around(**around)
    if aloud:
        return render_text(page(report, here), aloud=True)
    return sheet.text(lines(report, here, width))
