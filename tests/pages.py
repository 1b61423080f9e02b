"""Pages as tests read them, and reports read back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import TypeAdapter

from grader.model.report import Report
from grader.reports.blocks import render_terminal, render_text
from grader.reports.grade import GradeContext, grade_page
from grader.reports.text_layout import Line, without_styles

_REPORT = TypeAdapter(Report)


def from_json(data: object) -> Report:
    """The report that `grader.reports.json.to_json` wrote."""
    return _REPORT.validate_python(data)


def text(lines: Iterable[Line]) -> str:
    """What lines say, each with its end, without styles."""
    return "".join(f"{without_styles(line).rstrip(' ')}\n" for line in lines)


def styled(lines: Iterable[Line]) -> str:
    """The same with styles."""
    whole = ([(line, "")] if isinstance(line, str) else line for line in lines)
    shown = (
        "".join(f"\x1b[{style}m{part}\x1b[0m" if style else part for part, style in line)
        for line in whole
    )
    return "".join(f"{line.rstrip(' ')}\n" for line in shown)


def page_of(
    report: Report, width: int = 80, *, aloud: bool = False, color: bool = False, **around: Any
) -> str:
    """What a terminal of that width shows; or what a screen reader is given."""
    here = GradeContext(**around)
    if aloud:
        return render_text(grade_page(report, here), aloud=True)
    lines = render_terminal(grade_page(report, here), width, rows=here.rows)
    return styled(lines) if color else text(lines)
