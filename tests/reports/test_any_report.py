"""Whatever a report holds, there is a page for it, within the window and inert."""

from __future__ import annotations

import unicodedata

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from grader.model.report import Report
from grader.reports.terminal import render_report
from tests.reports.conftest import shown
from tests.reports.strategies import TEXTS, reports


@given(reports(st.floats()), st.integers(40, 200), TEXTS)
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_report_has_a_page(report: Report, width: int, note: str) -> None:
    page = render_report(
        report, width=width, repeat="drill grade", heading_note=note, pass_note=note, filename=note
    )
    for line in shown(page, width).split("\n"):
        assert cell_len(line) <= width
        assert not any(unicodedata.category(c) in {"Cc", "Cf", "Cs"} for c in line)
