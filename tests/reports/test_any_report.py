"""Whatever a report holds, there is a page for it, within the window and inert."""

from __future__ import annotations

import unicodedata

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.model.report import Report
from grader.reports import sheet
from grader.reports.blocks import render_html, render_markdown, render_text
from grader.reports.grade import ROWS, Around, lines, page
from tests.reports.strategies import TEXTS, reports

ACTING = {"Cc", "Cf", "Cs"}


@given(reports(st.floats()), st.integers(60, 200), TEXTS)
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_report_has_a_page(report: Report, width: int, note: str) -> None:
    around = Around(note, 3, note, steps=("drill hint",))
    shown = lines(report, around, width)
    assert sum(max(1, -(-sheet.cells(sheet.plain(line)) // width)) for line in shown) <= ROWS
    blocks = page(report, around)
    for text in (
        sheet.text(shown), render_text(blocks), render_html(blocks), render_markdown(blocks),
    ):  # fmt: skip
        assert not any(unicodedata.category(c) in ACTING for c in text if c != "\n")
