"""The page of a report, as tests read it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grader.model.report import Report
from grader.reports.blocks import render_terminal, render_text
from grader.reports.grade import Around, page
from grader.reports.sheet import Line, plain


def text(lines: Iterable[Line]) -> str:
    """What lines say, each with its end, without styles."""
    return "".join(f"{plain(line).rstrip(' ')}\n" for line in lines)


def page_of(report: Report, width: int = 80, *, aloud: bool = False, **around: Any) -> str:
    """What a terminal of that width shows, without styles; or what a screen reader is given."""
    here = Around(**around)
    if aloud:
        return render_text(page(report, here), aloud=True)
    return text(render_terminal(page(report, here), width, rows=here.rows))
