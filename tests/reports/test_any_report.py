"""Whatever a report holds, there is a page for it, within the window and inert."""

from __future__ import annotations

import unicodedata

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.model.report import Report
from grader.reports.around import Around
from grader.reports.inert import inert
from grader.reports.sheet import cells
from grader.reports.terminal import LINES, render_report
from tests.reports.strategies import TEXTS, reports


@given(reports(st.floats()), st.integers(60, 200), TEXTS, st.booleans())
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_report_has_a_page(report: Report, width: int, note: str, plain: bool) -> None:
    around = Around(note, 3, note, steps=("drill hint",), plain=plain)
    text = render_report(report, width=width, around=around).plain
    assert not any(unicodedata.category(c) in {"Cc", "Cf", "Cs"} for c in text if c != "\n")
    if not plain:
        # A command is never broken.
        lines = [line for line in text.splitlines() if "drill " not in line]
        assert text.count("\n") <= LINES
        assert all(cells(line) <= max(width, 6 + cells(inert(note))) for line in lines)
